"""Put what was read from notes into the manifest's tables; only the indexer calls this."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

from memory_bank.errors import IndexDamaged
from memory_bank.manifest.database import DONE, GONE, PENDING, UNINDEXED, meta
from memory_bank.manifest.targets import names_of, target_of
from memory_bank.notes.note import Note, Passage
from memory_bank.notes.scan import Stamp
from memory_bank.retrievers.base import Entry
from memory_bank.sqlite import Connection

SEPARATOR = "\x1f"
"""Between the headings of a path in one column."""


MEAN_WORDS = "mean_words"
_SIGN = re.compile(r"[(){}\[\]=<>;_*/\\|&+#@$%^~`]")

BY_FILE, BY_NOTE, BY_GIT = range(3)
HEAD = "head"
"""Key of the commit as of which first commits are recorded."""
_REDATED = "updated = CASE updated WHEN created THEN ?1 ELSE updated END, created = ?1"
"""A note that does not say when it was updated has the date of its creation there."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A note as the indexer read it: with its passages by section, and its dates."""

    note: Note
    stamp: Stamp
    passages: tuple[tuple[Passage, ...], ...]
    created: float
    """Seconds since the epoch."""
    updated: float
    dated: int
    """Who said when it was created: BY_NOTE, BY_GIT (its first commit) or BY_FILE (mtime)."""


def put(base: Connection, reading: Reading, project_prefix: str) -> tuple[int, list[Entry]]:
    """Write a note's rows as pending and return its number with the entries to index.

    Rows that it had before are replaced; its number stays.
    """
    note = reading.note
    number = _put_note(base, reading)
    _clear(base, number)
    base.executemany("INSERT INTO tags VALUES (?, ?)", ((number, tag) for tag in note.meta.tags))
    base.executemany(
        "INSERT OR IGNORE INTO fields VALUES (?, ?, ?)", _fields(number, note.meta.extra)
    )
    base.executemany(
        "INSERT OR IGNORE INTO names VALUES (?, ?, ?)",
        ((name, rank, number) for name, rank in names_of(note) if name),
    )
    base.executemany(
        "INSERT OR IGNORE INTO blocks VALUES (?, ?, ?)",
        ((number, block.casefold(), line) for block, line in note.body.blocks.items()),
    )
    base.executemany(
        "INSERT INTO faults VALUES (?, ?, ?)",
        ((number, fault.line, fault.reason) for fault in note.faults),
    )
    _put_links(base, number, note, project_prefix)
    return number, list(_put_passages(base, number, reading))


def put_unindexed(base: Connection, path: str, stamp: Stamp, etag: str, reason: str) -> int:
    """Record a file that can't be indexed, with the reason; return its number."""
    number = _upsert(base, path, UNINDEXED, stamp, etag)
    _clear(base, number)
    base.execute(
        "UPDATE notes SET reason = ?, note_id = '', title = '', type = '', status = '',"
        f" created = 0, updated = 0, dated = {BY_NOTE}, content_hash = '', source_type = '',"
        " meta = '{}' WHERE id = ?",
        (reason, number),
    )
    return number


def restamp(base: Connection, rows: Iterable[tuple[Stamp, float, str]]) -> None:
    """Record new stamps, and mtimes in seconds, of files whose bytes are the same.

    A note that has its date from its file has the new one.
    """
    known = list(rows)
    base.executemany(
        "UPDATE notes SET size = ?, mtime_ns = ?, ctime_ns = ?, inode = ? WHERE path = ?",
        ((*stamp, path) for stamp, _, path in known),
    )
    base.executemany(
        f"UPDATE notes SET {_REDATED} WHERE path = ?2 AND dated = {BY_FILE}",
        ((mtime, path) for _, mtime, path in known),
    )


def put_commits(base: Connection, head: str, first: Mapping[str, float]) -> bool:
    """Record when paths were first committed, as of a commit, and date notes by it.

    Notes dated by a commit that is no more are marked to be read again; True if there are any.
    """
    base.execute("DELETE FROM commits")
    base.executemany("INSERT INTO commits VALUES (?, ?)", first.items())
    put_meta(base, HEAD, head)
    base.executemany(
        f"UPDATE notes SET {_REDATED}, dated = {BY_GIT} WHERE path = ?2 AND dated <> {BY_NOTE}",
        ((when, path) for path, when in first.items()),
    )
    lost = base.execute(
        f"UPDATE notes SET etag = '', mtime_ns = 0 WHERE dated = {BY_GIT}"
        " AND path NOT IN (SELECT path FROM commits)"
    )
    return lost.rowcount > 0


def mark_gone(base: Connection, numbers: Sequence[int]) -> None:
    """Mark notes whose files are gone; `finish` removes them once no retriever has them."""
    base.executemany("UPDATE notes SET state = ? WHERE id = ?", ((GONE, n) for n in numbers))
    for number in numbers:
        _clear(base, number)


def finish(base: Connection, numbers: Iterable[int]) -> None:
    """Record that every retriever has what the manifest says of these notes."""
    rows = [(number,) for number in numbers]
    base.executemany(f"DELETE FROM notes WHERE id = ? AND state = {GONE}", rows)
    base.executemany(f"UPDATE notes SET state = {DONE} WHERE id = ? AND state = {PENDING}", rows)


def put_refused(base: Connection, refused: Mapping[str, str]) -> None:
    """Record the files that a scan could not take for notes."""
    base.execute("DELETE FROM refused")
    base.executemany("INSERT INTO refused VALUES (?, ?)", refused.items())


def measure(base: Connection) -> None:
    """Record the mean length of a passage, anew when a tenth of the passages came or went."""
    (count,) = base.execute("SELECT count(*) FROM passages").fetchone()
    counted = int((meta(base, MEAN_WORDS) or "0 0").split()[0])
    if abs(count - counted) > counted / 10:
        (mean,) = base.execute("SELECT avg(words) FROM passages").fetchone()
        put_meta(base, MEAN_WORDS, f"{count} {mean or 0:.1f}")


def put_meta(base: Connection, key: str, value: str) -> None:
    """Record a fact about the whole index."""
    base.execute(
        "INSERT INTO meta VALUES (?1, ?2) ON CONFLICT DO UPDATE SET value = ?2", (key, value)
    )


def _put_note(base: Connection, reading: Reading) -> int:
    note, meta = reading.note, reading.note.meta
    number = _upsert(base, note.path, PENDING, reading.stamp, note.etag)
    rest = {
        "source_agent": meta.source_agent,
        "aliases": meta.aliases,
        "file_refs": meta.file_refs,
        "symbol_refs": meta.symbol_refs,
        "entity_refs": [asdict(entity) for entity in meta.entity_refs],
        "extra": meta.extra,
    }
    said = json.dumps({k: v for k, v in rest.items() if v}, ensure_ascii=False, default=str)
    base.execute(
        "UPDATE notes SET reason = '', note_id = ?, title = ?, type = ?, status = ?, created = ?,"
        " updated = ?, dated = ?, content_hash = ?, source_type = ?, meta = ? WHERE id = ?",
        (
            meta.id, note.title, meta.type, meta.status, reading.created, reading.updated,
            reading.dated, note.content_hash, meta.source_type, said, number,
        ),
    )  # fmt: skip
    return number


def _upsert(base: Connection, path: str, state: int, stamp: Stamp, etag: str) -> int:
    row = base.execute(
        "INSERT INTO notes (path, state, size, mtime_ns, ctime_ns, inode, etag)"
        " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (path) DO UPDATE SET state = ?2,"
        " size = ?3, mtime_ns = ?4, ctime_ns = ?5, inode = ?6, etag = ?7 RETURNING id",
        (path, state, *stamp, etag),
    ).fetchone()
    return int(row[0])


def _clear(base: Connection, number: int) -> None:
    for table in ("tags", "fields", "names", "sections", "passages", "blocks", "links", "faults"):
        base.execute(f"DELETE FROM {table} WHERE note = ?", (number,))


def _put_links(base: Connection, number: int, note: Note, project_prefix: str) -> None:
    base.executemany(
        "INSERT INTO links (note, line, kind, type, target, key, second_key, ghost, heading, block,"
        " text, before, after) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            (
                number, link.line, link.kind, link.type, link.target, target.first, target.second,
                target.ghost, link.heading, link.block, link.text, link.before, link.after,
            )
            for link in note.body.links
            for target in (target_of(link, note.path, project_prefix),)
        ),
    )  # fmt: skip


def _put_passages(base: Connection, number: int, reading: Reading) -> Iterator[Entry]:
    base.executemany(
        "INSERT INTO sections VALUES (?, ?, ?, ?, ?)",
        (
            (number, ordinal, section.line, section.end_line, SEPARATOR.join(section.headings))
            for ordinal, section in enumerate(reading.note.body.sections)
        ),
    )
    for place in _places(reading):
        passage = place.passage
        row = base.execute(
            "INSERT INTO passages (note, section, line, end_line, words, signs)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            (
                number,
                place.section,
                passage.line,
                passage.end_line,
                _count(passage.text),
                _signs(passage.text),
            ),
        ).lastrowid
        yield _entry(row or 0, number, reading.note, place)


def entries_again(base: Connection, number: int, reading: Reading) -> list[Entry]:
    """Return the entries of a note whose rows are written, for a retriever that lost them.

    Raises IndexDamaged when the rows are not those of the note.
    """
    sql = "SELECT row FROM passages WHERE note = ? ORDER BY row"
    rows, places = base.execute(sql, (number,)).fetchall(), _places(reading)
    if len(rows) != len(places):
        raise IndexDamaged(f"rows of {reading.note.path} are missing", "they are made again")
    return [
        _entry(row, number, reading.note, place) for (row,), place in zip(rows, places, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class _Place:
    section: int
    headings: tuple[str, ...]
    passage: Passage
    first: bool


def _places(reading: Reading) -> list[_Place]:
    """List a note's passages with their sections; an empty note has one, to be found by title."""
    places = [
        (ordinal, section.headings, passage)
        for ordinal, section in enumerate(reading.note.body.sections)
        for passage in reading.passages[ordinal]
    ] or [(-1, (), Passage(1, 1, ""))]
    return [_Place(*place, first=number == 0) for number, place in enumerate(places)]


def _entry(row: int, number: int, note: Note, place: _Place) -> Entry:
    return Entry(
        row=row,
        note=number,
        title=note.title,
        headings=place.headings,
        tags=note.meta.tags,
        text=place.passage.text,
        words=_count(place.passage.text),
        about=_about(note) if place.first else "",
    )


def _count(text: str) -> int:
    """Count a text's words, about."""
    return text.count(" ") + text.count("\n") + 1


def _signs(text: str) -> float:
    """Return which share of a text's characters are those of code rather than of prose."""
    dense = "".join(text.split())
    return len(_SIGN.findall(dense)) / max(len(dense), 1)


def _about(note: Note) -> str:
    """Gather what front matter says beyond title and tags, and the note's path: found by words."""
    meta = note.meta
    words = [note.name, meta.type, *meta.aliases, *meta.file_refs, *meta.symbol_refs]
    words += [f"{entity.kind} {entity.id}" for entity in meta.entity_refs]
    words += [f"{key} {value}" for _, key, value in _fields(0, meta.extra)]
    return "\n".join(word for word in words if word)


def _fields(number: int, extra: Mapping[str, object]) -> Iterator[tuple[int, str, str]]:
    for key, value in extra.items():
        for item in value if isinstance(value, list | tuple) else (value,):
            if isinstance(item, datetime):
                yield number, key.casefold(), item.isoformat()
            elif item is not None and not isinstance(item, Mapping):
                yield number, key.casefold(), str(item).casefold()
