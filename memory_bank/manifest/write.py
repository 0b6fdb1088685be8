"""Put what was read from notes into the manifest's tables; only the indexer calls this."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import count
from typing import TYPE_CHECKING

from memory_bank.errors import IndexDamaged
from memory_bank.manifest.database import DONE, GONE, MEAN_WORDS, PENDING, UNINDEXED, meta
from memory_bank.manifest.rows import NoteRows, Row, entries
from memory_bank.notes.scan import Stamp
from memory_bank.retrievers.base import Entry
from memory_bank.sqlite import Connection, chunked

if TYPE_CHECKING:
    from memory_bank.repo.git import Committed

_MOVED = "moved"
"""Key of how many passages came or went since their mean length was counted."""
HEAD = "head"
"""Key of the commit as of which commits are recorded."""

BY_FILE, BY_NOTE, BY_GIT = range(3)
UNANSWERED = " unanswered"
"""Stands behind that commit where git could not say what was committed."""
_SOON = 2.0
"""Seconds after its own creation date in which a file that is new is being written, not changed."""
_UPDATED = f"""
UPDATE notes SET updated = max(
    coalesce(said, created),
    coalesce((SELECT last FROM commits WHERE path = notes.path AND last > first), 0),
    CASE
        WHEN EXISTS (SELECT 1 FROM commits WHERE path = notes.path AND blob = notes.blob) THEN 0
        WHEN EXISTS (SELECT 1 FROM commits WHERE path = notes.path AND blob <> x'') THEN modified
        WHEN said IS NULL AND modified > created + {_SOON} AND EXISTS
            (SELECT 1 FROM meta WHERE key = '{HEAD}' AND value NOT LIKE '%{UNANSWERED}')
            THEN modified
        ELSE 0
    END
)
"""
"""When a note was updated is the latest of what it says, else its creation; of the commit that
changed it last; and of its file's time, while the file is not what HEAD has: a checkout or a copy
sets that time too."""

_OF_NOTES = ("tags", "fields", "names", "sections", "passages", "blocks", "links", "faults")
_SAID = (
    "note_id = ?, title = ?, type = ?, status = ?, created = ?, dated = ?, said = ?, modified = ?,"
    " blob = ?, content_hash = ?, source_type = ?, meta = ?"
)
_LINKS = (
    "links (note, line, kind, type, target, name, second_name, ghost, heading, block, text,"
    " before, after) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_ROWS: tuple[tuple[str, Callable[[NoteRows], Iterable[Row]]], ...] = (
    ("tags VALUES (?, ?)", lambda note: ((tag,) for tag in note.tags)),
    ("fields VALUES (?, ?, ?)", lambda note: note.fields),
    ("names (note, name, rank) VALUES (?, ?, ?)", lambda note: note.names),
    ("blocks VALUES (?, ?, ?)", lambda note: note.blocks),
    ("faults VALUES (?, ?, ?)", lambda note: note.faults),
    ("sections VALUES (?, ?, ?, ?, ?)", lambda note: note.sections),
    (_LINKS, lambda note: note.links),
)
"""Tables and what stands in them of a note, behind its number; what is said twice stands once."""


def put(base: Connection, notes: Sequence[NoteRows]) -> tuple[list[int], list[Entry]]:
    """Write notes as pending; return their numbers and the entries to index.

    Rows that they had before are replaced; their numbers stay.
    """
    numbers = _upsert(base, PENDING, [(note.path, note.stamp, note.etag) for note in notes])
    known = list(zip(numbers, notes, strict=True))
    base.executemany(
        f"UPDATE notes SET reason = '', {_SAID} WHERE id = ?",
        ((*note.said, number) for number, note in known),
    )
    base.executemany(f"{_UPDATED} WHERE id = ?", ((number,) for number in numbers))
    for table, rows in _ROWS:
        base.executemany(
            f"INSERT OR IGNORE INTO {table}",
            ((number, *row) for number, note in known for row in rows(note)),
        )
    return numbers, _put_passages(base, known)


def put_unindexed(base: Connection, files: Mapping[str, tuple[Stamp, str, str]]) -> list[int]:
    """Record files that can't be indexed, by path: stamp, etag and reason; return their numbers."""
    found = files.items()
    numbers = _upsert(base, UNINDEXED, [(path, stamp, etag) for path, (stamp, etag, _) in found])
    nothing = ("", "", "", "", 0, BY_NOTE, None, 0, b"", b"", "", "{}")
    base.executemany(
        f"UPDATE notes SET reason = ?, updated = 0, {_SAID} WHERE id = ?",
        ((file[2], *nothing, number) for number, file in zip(numbers, files.values(), strict=True)),
    )
    return numbers


def restamp(base: Connection, rows: Iterable[tuple[Stamp, float, str]]) -> None:
    """Record new stamps, and mtimes in seconds, of files whose bytes are the same.

    A note that has its date from its file has the new one.
    """
    known = list(rows)
    base.executemany(
        "UPDATE notes SET size = ?1, mtime_ns = ?2, ctime_ns = ?3, inode = ?4, modified = ?5,"
        f" created = CASE dated WHEN {BY_FILE} THEN ?5 ELSE created END WHERE path = ?6",
        ((*stamp, mtime, path) for stamp, mtime, path in known),
    )
    base.executemany(f"{_UPDATED} WHERE path = ?", ((path,) for _, _, path in known))


def put_commits(base: Connection, head: str, commits: Mapping[str, Committed]) -> bool:
    """Record what git says of paths, as of a commit, and date notes by it.

    Notes dated by a commit that is no more are marked to be read again; True if there are any.
    """
    base.execute("DELETE FROM commits")
    base.executemany(
        "INSERT INTO commits VALUES (?, ?, ?, ?)",
        ((path, *found) for path, found in commits.items()),
    )
    put_meta(base, HEAD, head)
    base.executemany(
        f"UPDATE notes SET created = ?, dated = {BY_GIT} WHERE path = ? AND dated <> {BY_NOTE}",
        ((found.first, path) for path, found in commits.items()),
    )
    base.execute(f"{_UPDATED} WHERE state <> {UNINDEXED}")
    lost = base.execute(
        f"UPDATE notes SET etag = x'', mtime_ns = 0 WHERE dated = {BY_GIT}"
        " AND path NOT IN (SELECT path FROM commits)"
    )
    return lost.rowcount > 0


def mark_gone(base: Connection, numbers: Sequence[int]) -> None:
    """Mark notes whose files are gone; `finish` removes them once no retriever has them."""
    base.executemany("UPDATE notes SET state = ? WHERE id = ?", ((GONE, n) for n in numbers))
    _clear(base, numbers)


def finish(base: Connection, numbers: Iterable[int]) -> None:
    """Record that every retriever has what the manifest says of these notes."""
    rows = [(number,) for number in numbers]
    base.executemany(f"DELETE FROM notes WHERE id = ? AND state = {GONE}", rows)
    base.executemany(f"UPDATE notes SET state = {DONE} WHERE id = ? AND state = {PENDING}", rows)


def put_refused(base: Connection, refused: Mapping[str, str]) -> None:
    """Record the files that a scan could not take for notes."""
    base.execute("DELETE FROM refused")
    base.executemany("INSERT INTO refused VALUES (?, ?)", refused.items())


def measure(base: Connection, moved: int) -> None:
    """Record the mean length of a passage, anew when a tenth of the passages came or went.

    `moved` are those that did so now. To count all at each change would take longer the more there
    are.
    """
    moved += int(meta(base, _MOVED) or 0)
    if moved > int((meta(base, MEAN_WORDS) or "0 0").split()[0]) / 10:
        total, mean = base.execute("SELECT count(*), avg(words) FROM passages").fetchone()
        put_meta(base, MEAN_WORDS, f"{total} {mean or 0:.1f}")
        moved = 0
    put_meta(base, _MOVED, str(moved))


def put_meta(base: Connection, key: str, value: str) -> None:
    """Record a fact about the whole index."""
    base.execute(
        "INSERT INTO meta VALUES (?1, ?2) ON CONFLICT DO UPDATE SET value = ?2", (key, value)
    )


def entries_again(base: Connection, number: int, note: NoteRows) -> list[Entry]:
    """Return the entries of a note whose rows are written, for a retriever that lost them.

    Raises IndexDamaged when the rows are not those of the note.
    """
    sql = "SELECT row FROM passages WHERE note = ? ORDER BY row"
    rows = [row for (row,) in base.execute(sql, (number,))]
    if len(rows) != len(note.passages):
        raise IndexDamaged(f"rows of {note.path} are missing", "they are made again")
    return list(entries(note, number, rows))


def _upsert(base: Connection, state: int, files: Sequence[tuple[str, Stamp, str]]) -> list[int]:
    """Write what is known of files, and drop what was known of their content."""
    paths = [path for path, _, _ in files]
    number = dict(chunked(base, "SELECT path, id FROM notes WHERE path IN ({})", paths))
    _clear(base, list(number.values()))
    free = _free(base, "notes")
    number.update((path, next(free)) for path in paths if path not in number)
    base.executemany(
        "INSERT INTO notes (id, path, state, size, mtime_ns, ctime_ns, inode, etag)"
        " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT (id) DO UPDATE SET state = ?3,"
        " size = ?4, mtime_ns = ?5, ctime_ns = ?6, inode = ?7, etag = ?8",
        ((number[path], path, state, *stamp, bytes.fromhex(etag)) for path, stamp, etag in files),
    )
    return [number[path] for path in paths]


def _clear(base: Connection, numbers: Sequence[int]) -> None:
    for table in _OF_NOTES if numbers else ():
        base.executemany(f"DELETE FROM {table} WHERE note = ?", ((number,) for number in numbers))


def _put_passages(base: Connection, notes: Sequence[tuple[int, NoteRows]]) -> list[Entry]:
    free = _free(base, "passages")
    found = [entry for number, note in notes for entry in entries(note, number, free)]
    base.executemany(
        "INSERT INTO passages (row, note, section, line, end_line, words, signs)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            (entry.row, entry.note, *passage)
            for entry, passage in zip(
                found, (row for _, note in notes for row in note.passages), strict=True
            )
        ),
    )
    return found


def _free(base: Connection, table: str) -> count[int]:
    """Return the numbers that no row of a table ever had."""
    row = base.execute("SELECT seq FROM sqlite_sequence WHERE name = ?", (table,)).fetchone()
    return count(row[0] + 1 if row else 1)
