"""Replace a note's whole text, front matter included, as an editor does."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import NamedTuple

from memory_bank.actions.edit import Written, newline_of, write
from memory_bank.bank import Bank
from memory_bank.errors import BadInput
from memory_bank.hints import Hint
from memory_bank.notes import frontmatter, note_parser
from memory_bank.review import note_diff
from memory_bank.review.note_change import NoteChange

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


class Difference(NamedTuple):
    """How a text differs from what its note says now."""

    text: str
    """What the note says."""
    etag: str
    change: NoteChange | None
    """What writing the text would change; None for no words."""


def rewrite(bank: Bank, name: str, text: str, *, if_match: str | None = None) -> Written:
    r"""Replace a note's whole text by one with `\n` as line ends; the file's own line ends stay.

    Raises NoteNotFound, Conflict if the note's etag is not `if_match`, BadInput for an empty text,
    or if its front matter can't be read though it could before; and what `edit.write` raises.
    """
    if not text.strip():
        raise BadInput("a note must not be empty", Hint.DELETE_INSTEAD)

    def replaced(old: str) -> str:
        _check_front_matter(text, old)
        return with_line_ends(text, old)

    return write(bank, name, replaced, if_match=if_match, given=text)


def difference(bank: Bank, name: str, text: str) -> Difference:
    """Return what a note says now, and what a text would change; raise NoteNotFound."""
    path = bank.find(name, exactly=True)
    note = bank.store.read(path)
    before, after = note_parser.encoded(note.text), note_parser.encoded(text)
    made = note_diff.compare({path: before}, {path: after}, lambda one: one)
    return Difference(note.text, note.etag, made[0] if made else None)


def with_line_ends(text: str, old: str) -> str:
    r"""Return a text of `\n` with the line ends of the old one, line by line if it has several."""
    lines, before = _LINE.findall(text), _LINE.findall(old)
    newline = newline_of(old)
    ends = [_end(line) for line in before]
    if not set(ends) - {newline, ""}:
        return text.replace("\n", newline)
    found = [newline] * len(lines)
    bare = [line.rstrip("\r\n") for line in lines], [line.rstrip("\r\n") for line in before]
    for one in SequenceMatcher(None, *bare, autojunk=False).get_matching_blocks():
        for step in range(one.size):
            found[one.a + step] = ends[one.b + step] or newline
    return "".join(
        bare[0][at] + (found[at] if line.endswith("\n") else "") for at, line in enumerate(lines)
    )


def _end(line: str) -> str:
    return line[len(line.rstrip("\r\n")) :]


def _check_front_matter(text: str, old: str) -> None:
    """Refuse front matter that can't be read, unless the note had such before."""
    faults = frontmatter.metadata(frontmatter.split(text))[1]
    if faults and not frontmatter.metadata(frontmatter.split(old))[1]:
        where = f"line {faults[0].line}: " if faults[0].line else ""
        raise BadInput(f"{where}{faults[0].reason}", "repair the front matter")
