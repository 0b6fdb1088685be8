"""Compare the notes of two revisions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from memory_bank.errors import UnreadableNote
from memory_bank.notes import frontmatter, note_parser
from memory_bank.notes.note import Note
from memory_bank.review import front_matter_diff, link_diff, section_diff
from memory_bank.review.note_change import ChangeKind, NoteChange, SectionChange
from memory_bank.review.renamed_notes import renamed
from memory_bank.tokens import estimate

MAX_BYTES = 1_000_000
"""Size of a file beyond which its text is not compared."""
MAX_TOTAL = 4_000_000
"""Size of all files together beyond which the texts of further ones are not compared."""
_BYTES_PER_TOKEN = 4
"""A count of the tokens of all texts, however large, would take a minute."""
_WORD = re.compile(r"\d+(?:[.,]\d+)+|\w+")


class Unread(NamedTuple):
    """A file that was not read."""

    size: int
    """In bytes."""
    reason: str


Side = Mapping[str, bytes | Unread]
"""The files of one revision that differ from the other one, by path."""


class _Read(NamedTuple):
    notes: dict[str, Note]
    problems: dict[str, str]
    """Files that were not read, and why."""
    tokens: dict[str, int]
    """The tokens of each text; of one that is not compared, by its size only."""


def compare(before: Side, after: Side, file_of: Callable[[str], str]) -> tuple[NoteChange, ...]:
    """Return how each file changed, by path; `file_of` returns a note's path below the work tree.

    At most 1 MB of a file and 4 MB of all, the smallest first, are compared; of others, the change
    is only named.
    """
    old, new = _read(before), _read(after)
    renames = renamed(old.notes, new.notes)
    sources = {now: was for was, now in renames.items()}
    made = []
    for path in sorted({*before, *after} - set(renames)):
        was = sources.get(path, path)
        problem = new.problems.get(path) or old.problems.get(was)
        left, right = old.notes.get(was), new.notes.get(path)
        kind: ChangeKind = "renamed" if was != path else "changed"
        if path not in after:
            kind = "removed"
        elif was not in before:
            kind = "added"
        former, old_file = (was, file_of(was)) if was != path else (None, None)
        title = _title(right or left, path)
        change = NoteChange(
            path,
            former,
            kind,
            file_of(path),
            title,
            old_file=old_file,
            tokens_before=old.tokens.get(was, 0),
            tokens_after=new.tokens.get(path, 0),
        )
        if problem:
            checked = not isinstance(after.get(path, before.get(was)), Unread)
            made.append(change._replace(remark=problem, compared=False, checked=checked))
        else:
            made.append(_compared(change, left, right))
    return tuple(made)


def _read(side: Side) -> _Read:
    """Parse the files within the limits, the smallest first."""
    found = _Read({}, {}, {})
    total = 0
    for path, data in side.items():
        if isinstance(data, Unread):
            found.tokens[path] = data.size // _BYTES_PER_TOKEN
            found.problems[path] = data.reason
    read = {path: data for path, data in side.items() if isinstance(data, bytes)}
    for path, data in sorted(read.items(), key=lambda item: (len(item[1]), item[0])):
        total += len(data)
        found.tokens[path] = len(data) // _BYTES_PER_TOKEN
        if len(data) > MAX_BYTES:
            found.problems[path] = f"{len(data):,} bytes, more than {MAX_BYTES:,}: not compared"
        elif total > MAX_TOTAL:
            found.problems[path] = f"changes of more than {MAX_TOTAL:,} bytes: not compared"
        else:
            try:
                found.notes[path] = note = note_parser.parse(path, data)
                found.tokens[path] = estimate(note.text)
            except UnreadableNote as error:
                found.tokens[path] = 0  # nobody loads it
                found.problems[path] = f"not compared: {error.message}"
    return found


def _title(note: Note | None, path: str) -> str:
    return note.title if note else path


def _compared(change: NoteChange, old: Note | None, new: Note | None) -> NoteChange:
    sections = section_diff.changes(
        old.body.sections if old else (), new.body.sections if new else ()
    )
    keys = front_matter_diff.changes(_keys(old), _keys(new))
    links = [note.body.links if note else () for note in (old, new)]
    gained, lost = link_diff.gained(*links), link_diff.gained(*links[::-1])
    return change._replace(
        sections=sections,
        front_matter=keys,
        gained=gained,
        lost=lost,
        words_added=_words(sections, "insert"),
        words_removed=_words(sections, "delete"),
        remark="; ".join(_remarks(change, sections or keys, old, new)) or None,
    )


def _keys(note: Note | None) -> dict[str, object]:
    return frontmatter.metadata(frontmatter.split(note.text))[0] if note else {}


def _words(sections: tuple[SectionChange, ...], kind: str) -> int:
    return sum(
        len(_WORD.findall(span.text))
        for section in sections
        for span in section.spans
        if span.kind == kind
    )


def _remarks(
    change: NoteChange, shown: object, old: Note | None, new: Note | None
) -> Iterator[str]:
    """Yield what the lists of changes do not say."""
    if change.kind == "changed" and not shown:
        yield "only white space or the layout of front matter changed"
    for note in (new or old,):
        yield from (fault.reason for fault in note.faults[:1]) if note else ()
