"""Find the notes that were moved or renamed between two revisions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

from memory_bank.notes.identity import content_hash
from memory_bank.notes.note import Note
from memory_bank.review.likeness import Words, pairs, words_of

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
    return found | pairs(_words(removed), _words(added), ALIKE)


def _words(side: Mapping[str, Note]) -> dict[str, Words]:
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
