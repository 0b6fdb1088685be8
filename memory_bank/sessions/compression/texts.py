"""Texts of observations: visible, bounded, and each thing once."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from memory_bank.sessions.records import TITLE_LIMIT, Observation

_UNSEEN = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f]"
)

_ESCAPES = re.compile(r"\x1b(?:\[[0-9;?]{0,20}[A-Za-z]|\][^\x07\x1b]{0,200}(?:\x07|\x1b\\)|[@-_])")

NARRATIVE = 4000
"""Characters of the text of an observation; the middle of a longer one is cut out."""

_FACTS, _FACT, _CONCEPTS, _SHARE_OF_END = 14, 240, 6, 0.35


class Compressed(NamedTuple):
    """What a batch of events became."""

    observations: tuple[Observation, ...]
    """In the order of their events, without ids, session and project."""
    mode_used: str
    """`local`, `command`, `client` or `none`."""
    fallback_reason: str = ""
    """Why it isn't the mode that was set; empty if it is."""


def visible(text: str) -> str:
    """Return a text without terminal escapes and unseen characters."""
    if text.isprintable():
        return text
    return _UNSEEN.sub("", _ESCAPES.sub("", text).replace("\r\n", "\n").replace("\r", "\n"))


def cut(text: str, most: int) -> str:
    """Return a text as one line of at most so many characters, cut at a word."""
    line = " ".join(visible(text[: 8 * most + 200]).split())
    if len(line) <= most:
        return line
    head = line[: most - 1]
    word = head.rfind(" ")
    return (head[:word] if word > most // 2 else head).rstrip(" ,;:(") + "…"


def ends(text: str, most: int) -> str:
    """Return the start and the end of a long text, cut at lines or words."""
    text = visible(text).strip()
    if len(text) <= most:
        return text
    last = int(most * _SHARE_OF_END)
    head, tail = text[: most - last - 5], text[-last:]
    head = re.sub(r"\s\S*\Z", "", head).rstrip()
    tail = re.sub(r"\A\S*\s+", "", tail)
    return f"{head}\n\n…\n\n{tail}"


def bounded(
    one: Observation,
    *,
    facts: Iterable[str] = (),
    concepts: Iterable[str] = (),
    files_read: Iterable[str] = (),
    files_modified: Iterable[str] = (),
    narrative: int = NARRATIVE,
) -> Observation:
    """Return an observation whose texts and lists are visible and bounded."""
    modified = tuple(dict.fromkeys(map(_path, files_modified)))
    told = dict.fromkeys(filter(None, (cut(fact, _FACT) for fact in facts)))
    words = dict.fromkeys(filter(None, (cut(word, 40).casefold() for word in concepts)))
    return replace(
        one,
        title=cut(one.title, TITLE_LIMIT - 1),
        subtitle=cut(one.subtitle, 160),
        facts=tuple(told)[:_FACTS],
        narrative=ends(one.narrative, narrative),
        concepts=tuple(words)[:_CONCEPTS],
        files_read=tuple(p for p in dict.fromkeys(map(_path, files_read)) if p not in modified),
        files_modified=modified,
    )


def unnamed(obs_type: str, title: str, created_at: datetime, **texts: object) -> Observation:
    """Return an observation that has no id, session and project yet."""
    return Observation("", "", "", obs_type, title, created_at, **texts)  # type: ignore[arg-type]


def _path(path: str) -> str:
    return " ".join(visible(path).split("\n"))[:1000]
