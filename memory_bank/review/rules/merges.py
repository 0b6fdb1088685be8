"""What a merge left in a note: conflict markers, and both versions of one thing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from memory_bank.bank.findings import Finding
from memory_bank.base.settings import Settings
from memory_bank.notes.characters import BREAK
from memory_bank.notes.merging import conflicts
from memory_bank.notes.merging.conflicts import UNRESOLVED
from memory_bank.notes.merging.line_merge import blocks, code, heading, is_row, says_something
from memory_bank.notes.parsing import NoteText
from memory_bank.review.rules.base import note_rule, problem

_ONCE = re.compile(r"(id|title|type|status|created_at|source_type|source_agent)[ \t]*[:=]")

_FENCE = re.compile(r"(?:---|\+\+\+)[ \t]*")

_ID = re.compile(r"id(?::| =)")

_KEY = re.compile(r"[A-Za-z_][\w-]*[ \t]*[:=](?:[ \t]|$)|- |[ \t]+\S|#")
"""A line of front matter: a key, an item of a list, what belongs to a key, or a comment."""

_SHORTEST = 40
"""A shorter text may be there twice on purpose."""

_NEAR = 4
"""A version of a line is at most so many lines below it: both sides changed as many lines."""

_FEWEST_WORDS = 6

_ALIKE = 0.6

_FIX_BAD_UNION_MERGE = "keep the right one, and remove `merge=union` for notes from .gitattributes"

_REMOVE = "remove one of them"


@note_rule("warning", "a merge kept two versions of a key or line, or a text twice")
def bad_union_merge(note: NoteText, _: Settings) -> Iterator[Finding]:
    """Yield keys given twice, a second front matter, repeated texts, and versions of a line."""
    if conflicts.find(note.text):
        return  # the rule merge-conflict reports it, and each side may say the same
    yield from _keys(note)
    first = len(BREAK.split(note.text[: note.body_start]))
    lines = BREAK.sub("\n", note.parts.body).split("\n")
    inside, _open = code(lines)
    yield from _second_head(note, lines, inside, first)
    yield from _repeated(note, lines, inside, first)


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


def _repeated(
    note: NoteText, lines: list[str], inside: list[bool], first: int
) -> Iterator[Finding]:
    """Yield texts that are there twice where a merge puts two versions: no heading between them.

    Rows are compared within one list or table, below the same item: separate lists often have the
    same steps, and separate tables the same columns.
    """
    texts: dict[str, int] = {}
    levels: list[tuple[int, dict[str, int]]] = []
    """Rows of the open list or table by indentation, the least first."""
    in_list = False
    for start, end in blocks(lines):
        text = "\n".join(line.strip() for line in lines[start:end])
        line = first + start
        if heading(lines[start]):
            texts, in_list = {}, False
            continue
        if is_row(lines[start]):
            indent = len(lines[start]) - len(lines[start].lstrip())
            while levels and (levels[-1][0] > indent or not in_list):
                levels.pop()
            if not levels or levels[-1][0] < indent:
                levels.append((indent, {}))
            before = levels[-1][1].setdefault(text, line)
        else:
            yield from _versions(note, lines, inside, range(start, end), first)
            before = texts.setdefault(text, line)
        in_list = is_row(lines[start])
        plain = not inside[start] and says_something(lines[start])
        if before < line and plain and len(text) >= _SHORTEST:
            yield problem(note.path, line, f"this text is also on line {before}", _REMOVE)


def _versions(
    note: NoteText, lines: list[str], inside: list[bool], block: range, first: int
) -> Iterator[Finding]:
    """Yield lines of a paragraph that are other versions of a line shortly above them."""
    for number in block:
        line = lines[number]
        if len(line) < _SHORTEST or inside[number] or not line[0].isalnum():
            continue
        words = line.split()
        for index in range(max(block.start, number - _NEAR), number):
            if words != (above := lines[index].split()) and _alike(above, words):
                message = f"this line looks like another version of line {first + index}"
                yield problem(note.path, first + number, message, _REMOVE)
                break


def _alike(entries: list[str], other_entries: list[str]) -> bool:
    """Tell whether two lines begin and end with the same words, for the most part."""
    fewer, more = sorted((len(entries), len(other_entries)))
    if fewer < _FEWEST_WORDS or entries[0] != other_entries[0]:
        return False
    start = end = 0
    while start < fewer and entries[start] == other_entries[start]:
        start += 1
    while end < fewer - start and entries[-1 - end] == other_entries[-1 - end]:
        end += 1
    return start + end >= _ALIKE * more


_FIX_MERGE_CONFLICT = "keep the right lines and remove the lines of <<<<<<<, ======= and >>>>>>>"


@note_rule("error", "a merge conflict was not resolved", private=True)
def merge_conflict(note: NoteText, _: Settings) -> Iterator[Finding]:
    """Yield each conflict."""
    lines = {found_merge_conflict.line for found_merge_conflict in conflicts.find(note.text)}
    if conflicts.OPENING in note.head:
        lines |= {fault.line for fault in note.faults if fault.reason == UNRESOLVED}
    for line in sorted(lines):
        yield problem(note.path, line, UNRESOLVED, _FIX_MERGE_CONFLICT)
