"""Notes that have the same content."""

from collections.abc import Iterator, Sequence

from memory_bank import note_rows
from memory_bank.lint.base import Context, Place
from memory_bank.manifest import documents
from memory_bank.note_rows import NoteRow
from memory_bank.notes.identity import content_hash
from memory_bank.notes.schema import folder_of
from memory_bank.notes.source import CONTENT
from memory_bank.repo import git
from memory_bank.session_notes import SESSION

SUMMARY = "two notes that are not archived have the same content"
SEVERITY = "warning"
FIXES = True


def check(bank: Context) -> Iterator[Place]:
    """Yield each note with the content of an older one; private and tracked notes are separate."""
    groups = [
        [note for note in group if note.content_hash != content_hash("")] for group in _groups(bank)
    ]
    shared = _shared(bank, [note.path for group in groups for note in group])
    for group in groups:
        for side in (True, False):
            alike = [note.path for note in group if (note.path in shared) == side]
            for path in alike[1:]:
                fix = f"merge it into {alike[0]}, which is older"
                place = Place(path, 1, f"has the same content as {alike[0]}", fix)
                yield place._replace(merge_into=alike[0])


def _groups(bank: Context) -> Iterator[Sequence[NoteRow]]:
    """Yield the groups of the bank's own notes with the same content, the oldest first."""
    for group in documents.sharing(bank.manifest, CONTENT):
        yield [note_rows.note_of(row) for row in group if not bank.is_included(row.key)]


def _shared(bank: Context, paths: Sequence[str]) -> set[str]:
    """Return the notes that git tracks or would track."""
    sessions = f"{folder_of(SESSION)}/"
    by_file = {
        bank.layout.origin.root / path: path for path in paths if not path.startswith(sessions)
    }
    if bank.tree is None:
        return set(by_file.values())
    return {by_file[file] for file in git.trackable(bank.tree, list(by_file)) if file in by_file}
