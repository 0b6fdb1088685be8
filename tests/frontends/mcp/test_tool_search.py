"""Programs that show an agent only names of tools let it search names and descriptions."""

from __future__ import annotations

import math
import re
from collections import Counter
from functools import cache

import pytest

from memory_bank.frontends.mcp.toolbox import DEFAULT, Toolbox

K1, B = 1.2, 0.75


def words(text: str) -> list[str]:
    return re.findall(r"[a-z]+", text.lower().replace("_", " "))


@cache
def described(toolsets: tuple[str, ...]) -> dict[str, list[str]]:
    """Return the words of the tools' names and descriptions."""
    tools = Toolbox(toolsets).listed()
    return {tool.name: words(f"{tool.name} {tool.description}") for tool in tools}


def found(question: str, *toolsets: str) -> list[str]:
    """Return the names of the best tools by BM25 over names and descriptions."""
    tools = described(toolsets)
    mean = sum(map(len, tools.values())) / len(tools)
    having = Counter(word for text in tools.values() for word in set(text))
    scores: dict[str, float] = dict.fromkeys(tools, 0.0)
    for word in words(question):
        rarity = math.log(1 + (len(tools) - having[word] + 0.5) / (having[word] + 0.5))
        for name, text in tools.items():
            times = text.count(word)
            scores[name] += (
                rarity * times * (K1 + 1) / (times + K1 * (1 - B + B * len(text) / mean))
            )
    ranked = sorted(tools, key=lambda name: -scores[name])
    return [name for name in ranked if scores[name] > 0]


QUESTIONS = {
    "past decisions": {"recall", "decisions"},
    "save what I learned": {"remember"},
    "why": {"recall"},
    "what did the last session do": {"search", "inject_context"},
    "search memory": {"recall", "search_memories", "search"},
    "remember": {"remember"},
    "notes about a file": {"search_linked_memories", "changes_for_file"},
    "edit a note": {"edit_memory"},
    "read a note": {"read_memory"},
    "project knowledge before a change": {"recall", "search_linked_memories"},
    "list recent notes": {"recent_memories"},
    "delete a note": {"delete_memory"},
    "what calls this symbol": {"symbol"},
    "tests of a symbol": {"explain_symbol"},
    "what may a change of this file affect": {"blast_radius"},
}


@pytest.mark.parametrize(("question", "right"), QUESTIONS.items(), ids=QUESTIONS)
def test_the_right_tool_is_among_the_first_two(question: str, right: set[str]) -> None:
    assert right.intersection(found(question, *DEFAULT)[:2]), found(question, *DEFAULT)[:4]
