"""The tables of patterns and words by which sessions are understood, each row with an example."""

from __future__ import annotations

import re
import tomllib
from collections.abc import KeysView, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

TABLES: Mapping[str, re.RegexFlag] = {"rules.toml": re.IGNORECASE, "programs.toml": re.MULTILINE}
"""Files with tables: sentences of people, and what programs say. The flags of their patterns."""


@lru_cache
def table(file: str) -> Mapping[str, Any]:
    """Return all tables of a file."""
    return tomllib.loads(Path(__file__).with_name(file).read_text("utf-8"))


@lru_cache
def rows(kind: str) -> tuple[tuple[Mapping[str, Any], re.Pattern[str]], ...]:
    """Return the rows of a kind, each with its pattern."""
    file = next(one for one in TABLES if kind in table(one))
    return tuple((row, _compiled(row["pattern"], file)) for row in table(file)[kind])


@lru_cache
def rule(kind: str) -> re.Pattern[str]:
    """Return all patterns of a kind as one."""
    file = next(one for one in TABLES if kind in table(one))
    return _compiled("|".join(f"(?:{row['pattern']})" for row in table(file)[kind]), file)


def pattern(text: str) -> re.Pattern[str]:
    """Return a pattern of sentences with the words that it names as `{word}`."""
    return _compiled(text, "rules.toml")


def _compiled(text: str, file: str) -> re.Pattern[str]:
    for name, found in table(file)["words"].items():
        text = text.replace(f"{{{name}}}", found)
    return re.compile(text, TABLES[file])


@lru_cache
def words(group: str, name: str) -> KeysView[str]:
    """Return the words of a list, such as the readers among the programs, in order."""
    found = next(one[group][name] for one in map(table, TABLES) if name in one.get(group, ()))
    return dict.fromkeys(found.split()).keys()


@lru_cache
def lists(group: str) -> Mapping[str, str]:
    """Return the name of the list in which each word of a group is."""
    found = table("programs.toml")[group]
    return {word: name for name, listed in found.items() for word in listed.split()}
