"""The records of compression: what a batch of events becomes before it is stored."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from memory_bank.sessions.model import TITLE_LIMIT

_UNSEEN = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f]"
)
_ESCAPES = re.compile(r"\x1b(?:\[[0-9;?]{0,20}[A-Za-z]|\][^\x07\x1b]{0,200}(?:\x07|\x1b\\)|[@-_])")
_MOST_NARRATIVE, _MOST_FACTS, _MOST_FACT, _MOST_CONCEPTS = 1200, 12, 240, 6


@dataclass(frozen=True, slots=True)
class Draft:
    """An observation that has no id, session and project yet."""

    obs_type: str
    title: str
    """Fewer than 100 characters, one line."""
    created_at: datetime
    """When the last of its events happened."""
    subtitle: str = ""
    facts: tuple[str, ...] = ()
    """One line each."""
    narrative: str = ""
    concepts: tuple[str, ...] = ()
    files_read: tuple[str, ...] = ()
    """Paths below the project; others are absolute."""
    files_modified: tuple[str, ...] = ()
    prompt_number: int = 0
    discovery_tokens: int = 0
    """Estimated tokens of its events."""
    event_ids: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Compressed:
    """What a batch of events became."""

    drafts: tuple[Draft, ...]
    """In the order of their events."""
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


def draft(
    obs_type: str,
    title: str,
    created_at: datetime,
    *,
    subtitle: str = "",
    facts: Iterable[str] = (),
    narrative: str = "",
    concepts: Iterable[str] = (),
    files_read: Iterable[str] = (),
    files_modified: Iterable[str] = (),
    prompt_number: int = 0,
    discovery_tokens: int = 0,
    event_ids: Iterable[int] = (),
    most_narrative: int = _MOST_NARRATIVE,
) -> Draft:
    """Make a draft whose texts are visible, bounded and named once."""
    modified = tuple(dict.fromkeys(map(_path, files_modified)))
    read = tuple(path for path in dict.fromkeys(map(_path, files_read)) if path not in modified)
    told = dict.fromkeys(filter(None, (cut(fact, _MOST_FACT) for fact in facts)))
    words = dict.fromkeys(filter(None, (cut(word, 40).casefold() for word in concepts)))
    text = visible(narrative).strip()
    if len(text) > most_narrative:
        text = text[: most_narrative - 1].rstrip() + "…"
    return Draft(
        obs_type=obs_type,
        title=cut(title, TITLE_LIMIT - 1),
        created_at=created_at,
        subtitle=cut(subtitle, 160),
        facts=tuple(told)[:_MOST_FACTS],
        narrative=text,
        concepts=tuple(words)[:_MOST_CONCEPTS],
        files_read=read,
        files_modified=modified,
        prompt_number=prompt_number,
        discovery_tokens=discovery_tokens,
        event_ids=tuple(event_ids),
    )


def _path(path: str) -> str:
    return " ".join(visible(path).split("\n"))[:1000]
