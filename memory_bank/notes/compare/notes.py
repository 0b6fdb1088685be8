"""Compare the notes of two revisions, also those that were moved."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from memory_bank.base.errors import UnreadableNote
from memory_bank.base.tokens import estimate
from memory_bank.notes import front_matter, parsing
from memory_bank.notes.compare import keys_and_links
from memory_bank.notes.compare.note_change import ChangeKind, NoteChange, SectionChange
from memory_bank.notes.compare.sections import changes
from memory_bank.notes.compare.words import Words, pairs, words_of
from memory_bank.notes.identity import content_hash
from memory_bank.notes.note import Note

ALIKE = 0.5
"""Share of words in common from which a new note is a removed one, as in git."""


def renamed(before: Mapping[str, Note], after: Mapping[str, Note]) -> dict[str, str]:
    """Map paths of removed notes to those of added ones that are the same note.

    The same note has the same id, else the same text, else at least half the words in common. git
    is not asked, so that the answer is the same for commits, what is staged, and the work tree.
    """
    removed = {path: note for path, note in before.items() if path not in after}
    added = {path: note for path, note in after.items() if path not in before}
    found: dict[str, str] = {}
    for value in (_id, _text):
        found |= _equal(removed, added, value)
        removed = {path: note for path, note in removed.items() if path not in found}
        added = {path: note for path, note in added.items() if path not in set(found.values())}
    return found | pairs(_words_by_path(removed), _words_by_path(added), ALIKE)


def _words_by_path(side: Mapping[str, Note]) -> dict[str, Words]:
    return {path: words_of(note.text[note.body_start :]) for path, note in side.items()}


def _equal(
    removed: Mapping[str, Note], added: Mapping[str, Note], value: Callable[[Note], str]
) -> dict[str, str]:
    """Pair the notes with a value that no other note on their side has; an empty one is none."""
    olds, news = (
        {value(note): path for path, note in side.items() if counts[value(note)] == 1}
        for side, counts in (
            (side, Counter(map(value, side.values()))) for side in (removed, added)
        )
    )
    return {path: news[one] for one, path in olds.items() if one and one in news}


def _id(note: Note) -> str:
    return note.meta.id


def _text(note: Note) -> str:
    return note.content_hash if note.content_hash != content_hash("") else ""


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
                found.notes[path] = note = parsing.parse(path, data)
                found.tokens[path] = estimate(note.text)
            except UnreadableNote as error:
                found.tokens[path] = 0  # nobody loads it
                found.problems[path] = f"not compared: {error.message}"
    return found


def _title(note: Note | None, path: str) -> str:
    return note.title if note else path


def _compared(change: NoteChange, old: Note | None, new: Note | None) -> NoteChange:
    sections = changes(old.body.sections if old else (), new.body.sections if new else ())
    keys = keys_and_links.changes(_keys(old), _keys(new))
    links = [note.body.links if note else () for note in (old, new)]
    gained, lost = keys_and_links.gained(*links), keys_and_links.gained(*links[::-1])
    return change._replace(
        sections=sections,
        front_matter=keys,
        gained=gained,
        lost=lost,
        words_added=_number_of_words(sections, "insert"),
        words_removed=_number_of_words(sections, "delete"),
        remark="; ".join(_remarks(change, sections or keys, old, new)) or None,
    )


def _keys(note: Note | None) -> dict[str, object]:
    return front_matter.metadata(front_matter.split(note.text))[0] if note else {}


def _number_of_words(sections: tuple[SectionChange, ...], kind: str) -> int:
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
