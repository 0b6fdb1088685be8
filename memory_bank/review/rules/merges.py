"""What a merge left in a note: conflict markers, and what is there twice."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from memory_bank.bank.findings import Finding
from memory_bank.base import lazy_pattern
from memory_bank.base.settings import Settings
from memory_bank.notes.characters import BREAK
from memory_bank.notes.merging import conflicts
from memory_bank.notes.merging.body import is_row, mark_code, parse_heading
from memory_bank.notes.merging.conflicts import UNRESOLVED
from memory_bank.notes.parsing import NoteText
from memory_bank.review.rules.base import note_rule, problem

_ONCE = lazy_pattern(r"(id|title|type|status|created_at|source_type|source_agent)[ \t]*[:=]")

_FENCE = lazy_pattern(r"(?:---|\+\+\+)[ \t]*")

_ID = lazy_pattern(r"id(?::| =)")

_KEY = lazy_pattern(r"[A-Za-z_][\w-]*[ \t]*[:=](?:[ \t]|$)|- |[ \t]+\S|#")
"""A line of front matter: a key, an item of a list, what belongs to a key, or a comment."""

_SHORTEST = 40
"""A shorter text may be there twice on purpose."""

_FIX_BAD_UNION_MERGE = "keep the right one, and remove `merge=union` for notes from .gitattributes"

_REMOVE = "remove one of them"


@note_rule("warning", "a merge kept two versions of a key, or a text twice")
def bad_union_merge(note: NoteText, _: Settings) -> Iterator[Finding]:
    """Yield keys given twice, a second front matter, and repeated texts."""
    if conflicts.find(note.text):
        return  # the rule merge-conflict reports it, and each side may say the same
    yield from _keys(note)
    first = len(BREAK.split(note.text[: note.body_start]))
    lines = BREAK.sub("\n", note.parts.body).split("\n")
    inside = mark_code(lines)
    yield from _second_head(note, lines, inside, first)
    yield from _yield_repeated(note, lines, inside, first)


def _keys(note: NoteText) -> Iterator[Finding]:
    matches: dict[str, int] = {}
    for number, line in enumerate(BREAK.split(note.head), 2):
        match = _ONCE.match(line)
        if match and match[1] in matches:
            message = f"the key {match[1]!r} is also on line {matches[match[1]]}"
            yield problem(note.path, number, message, _FIX_BAD_UNION_MERGE)
        elif match:
            matches[match[1]] = number


def _second_head(
    note: NoteText, lines: list[str], inside: list[bool], first: int
) -> Iterator[Finding]:
    """Yield front matter with an id in the body: of two notes that were put together."""
    fences = [
        number
        for number, line in enumerate(lines)
        if line[:3] in {"---", "+++"} and _FENCE.fullmatch(line) and not inside[number]
    ]
    for start, end in pairwise(fences):
        keys = lines[start + 1 : end]
        if any(map(_ID.match, keys)) and all(map(_KEY.match, keys)):
            yield problem(
                note.path, first + start, "a second front matter in the text", _FIX_BAD_UNION_MERGE
            )


def _yield_repeated(
    note: NoteText, lines: list[str], inside: list[bool], first: int
) -> Iterator[Finding]:
    """Yield paragraphs that are there twice below one heading."""
    places: dict[str, int] = {}
    start = 0
    for number, line in enumerate([*lines, ""]):
        if line.strip() and not (parse_heading(line) or inside[number]):
            continue
        text = "\n".join(map(str.strip, lines[start:number]))
        before = places.setdefault(text, first + start)
        if (
            before < first + start
            and len(text) >= _SHORTEST
            and not any(map(is_row, text.split("\n")))
        ):
            yield problem(note.path, first + start, f"this text is also on line {before}", _REMOVE)
        if parse_heading(line) and not inside[number]:
            places = {}
        start = number + 1


_NAMED_ONCE = lazy_pattern(
    r"(?:^|(?<=\s))(?P<block>\^[\w-]+)[ \t]*\r?$|^[ \t>]*(?P<footnote>\[\^[^\[\]\s]+\]):",
    re.MULTILINE,
)
"""A block id, or the start of a footnote's text."""


@note_rule("warning", "a note has a block id or footnote twice")
def same_anchor(note: NoteText, _: Settings) -> Iterator[Finding]:
    """Yield each block id and footnote after the first of its name."""
    lines: dict[str, int] = {}
    for match in _NAMED_ONCE.finditer(note.text, note.body_start):
        kind = match.lastgroup or ""
        if note.in_code(match.start(kind)):
            continue
        line, _column = note.place(match.start(kind))
        before = lines.setdefault(match[kind].casefold(), line)
        if before < line:
            name = {"block": "the block id", "footnote": "the footnote"}[kind]
            message = f"{name} {match[kind]} is also on line {before}"
            yield problem(note.path, line, message, "give one of them another name")


_FIX_MERGE_CONFLICT = "keep the right lines and remove the lines of <<<<<<<, ======= and >>>>>>>"


@note_rule("error", "a merge conflict was not resolved", private=True)
def merge_conflict(note: NoteText, _: Settings) -> Iterator[Finding]:
    """Yield each conflict."""
    lines = {conflict.line for conflict in conflicts.find(note.text)}
    if conflicts.OPENING in note.head:
        lines |= {fault.line for fault in note.faults if fault.reason == UNRESOLVED}
    for line in sorted(lines):
        yield problem(note.path, line, UNRESOLVED, _FIX_MERGE_CONFLICT)
