"""Texts of observations: visible, bounded, and each thing once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from memory_bank.base import NamedTuple, lazy_pattern
from memory_bank.sessions.records import TITLE_LIMIT, Observation

_UNSEEN = lazy_pattern(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f]"
)

_ESCAPES = lazy_pattern(
    r"\x1b(?:\[[0-9;?]{0,20}[A-Za-z]|\][^\x07\x1b]{0,200}(?:\x07|\x1b\\)|[@-_])"
)

NARRATIVE = 4000
"""Characters of the text of an observation; the middle of a longer one is cut out."""

# Of an observation: its useful lines measured best so (tests/benchmarks/compression.py).
_FACTS, _FACT, _CONCEPTS, _SHARE_OF_END = 14, 240, 6, 0.35

COMMAND = 160
"""Characters shown of a command, and of a subtitle."""

PART = 100
"""Characters shown of what a call was about, or answered, beside other words on its line."""

_CONCEPT = 40
"""Characters of a concept."""


class Compressed(NamedTuple):
    """What a batch of events became."""

    observations: tuple[Observation, ...]
    """In the order of their events, without ids, session and project."""
    mode_used: str
    """`local`, `command`, `client` or `none`."""
    fallback_reason: str = ""
    """Why it isn't the mode that was set; empty if it is."""


def make_visible(text: str) -> str:
    """Return a text without terminal escapes and unseen characters."""
    if text.isprintable():
        return text
    return _UNSEEN.sub("", _ESCAPES.sub("", text).replace("\r\n", "\n").replace("\r", "\n"))


def cut(text: str, most: int) -> str:
    """Return a text as one line of at most so many characters, cut at a word."""
    line = " ".join(make_visible(text[: 8 * most + 200]).split())
    if len(line) <= most:
        return line
    head = line[: most - 1]
    word = head.rfind(" ")
    return (head[:word] if word > most // 2 else head).rstrip(" ,;:(") + "…"


def cut_middle(text: str, most: int) -> str:
    """Return the start and the end of a long text, cut at lines or words."""
    text = make_visible(text).strip()
    if len(text) <= most:
        return text
    last = int(most * _SHARE_OF_END)
    head, tail = text[: most - last - 5], text[-last:]
    head = re.sub(r"\s\S*\Z", "", head).rstrip()
    tail = re.sub(r"\A\S*\s+", "", tail)
    return f"{head}\n\n…\n\n{tail}"


def bound_observation(
    obs_type: str,
    title: str,
    created_at: datetime,
    *,
    lists: Mapping[str, Iterable[str]],
    narrative: str = "",
    most: int = NARRATIVE,
    **texts: Any,  # noqa: ANN401  (of an observation)
) -> Observation:
    """Return an observation whose texts and lists are visible and bounded, without ids."""
    modified = tuple(dict.fromkeys(map(_path, lists["files_modified"])))
    facts = dict.fromkeys(cut(fact, _FACT) for fact in lists.get("facts", ()))
    concepts = dict.fromkeys(cut(word, _CONCEPT).casefold() for word in lists.get("concepts", ()))
    read = dict.fromkeys(map(_path, lists["files_read"]))
    observation_record = Observation(
        "", "", "", obs_type, cut(title, TITLE_LIMIT - 1), created_at, **texts
    )
    return observation_record._replace(
        subtitle=cut(observation_record.subtitle, COMMAND),
        facts=tuple(filter(None, facts))[:_FACTS],
        narrative=cut_middle(narrative, most),
        concepts=tuple(filter(None, concepts))[:_CONCEPTS],
        files_read=tuple(path for path in read if path not in modified),
        files_modified=modified,
    )


def _path(path: str) -> str:
    return " ".join(make_visible(path).split("\n"))[:1000]
