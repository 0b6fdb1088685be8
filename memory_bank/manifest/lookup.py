"""Read notes, sections and counts out of the manifest."""

import json
from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from memory_bank.errors import IndexDamaged
from memory_bank.manifest.database import (
    DONE,
    ETAG,
    GONE,
    MEAN_WORDS,
    PENDING,
    SEPARATOR,
    UNINDEXED,
    meta,
)
from memory_bank.retrievers.base import Scope
from memory_bank.sqlite import Connection, chunked

_COLUMNS = (
    f"id, path, {ETAG}, size, note_id, title, type, status, created, updated,"
    " lower(hex(content_hash)), source_type, meta"
)
NEXT = ("next",)
PREVIOUS = ("previous", "prev")
PART_OF = ("part_of", "session", "parent", "up")
"""Types of links that say where a note stands among others."""
_ORDER = ", ".join(f"'{kind}'" for kind in (*NEXT, *PREVIOUS, *PART_OF))
BY_HAND = "manual"
"""Source of a note that names none: a person wrote it."""
_SUPERSEDING = "'supersedes', 'superseded_by'"
_LIVE = f"state IN ({DONE}, {PENDING})"


_KEY = "CASE note_id WHEN '' THEN path ELSE note_id END"

Dates = Mapping[int, tuple[float, str]]


class NoteRow(NamedTuple):
    """What the manifest knows of a note."""

    number: int
    path: str
    etag: str
    size: int
    id: str
    title: str
    type: str
    status: str
    created: float
    updated: float
    content_hash: str
    source_type: str
    rest: Mapping[str, Any]
    """Front matter beyond the columns: file_refs, symbol_refs, entity_refs, aliases, extra …"""
    tags: tuple[str, ...]

    @property
    def key(self) -> str:
        """What the access log knows the note by."""
        return self.id or self.path


_FIELDS = NoteRow._fields[:-1]


class Surroundings(NamedTuple):
    """How some notes hang together, by number."""

    following: Mapping[int, int] = MappingProxyType({})
    """A note and the one that its `next` link, or the other's `previous` link, leads to."""
    container: Mapping[int, str] = MappingProxyType({})
    """A note and what it says it is a part of: a note's path, or a ghost."""
    spans: Mapping[int, tuple[int, int]] = MappingProxyType({})
    """First and last row of the notes in `following`."""


class SectionRow(NamedTuple):
    """Where a section stands, with the headings above it."""

    line: int
    end_line: int
    headings: tuple[str, ...]


class PassageRow(NamedTuple):
    """Where a passage stands, and in which section."""

    row: int
    note: int
    ordinal: int
    """Number of the section in its note; an empty note's passage is in none, -1."""
    line: int
    end_line: int
    section: SectionRow


def passages(base: Connection, rows: Collection[int]) -> dict[int, PassageRow]:
    """Return the passages of some row numbers; those gone meanwhile are left out."""
    sql = (
        "SELECT row, p.note, section, p.line, p.end_line, coalesce(s.line, 1),"
        " coalesce(s.end_line, 1), coalesce(headings, '') FROM passages AS p"
        " LEFT JOIN sections AS s ON s.note = p.note AND ordinal = section WHERE row IN ({})"
    )
    return {
        row: PassageRow(row, note, ordinal, line, end_line, _section(*around))
        for row, note, ordinal, line, end_line, *around in chunked(base, sql, list(rows))
    }


def _section(line: int, end_line: int, headings: str) -> SectionRow:
    return SectionRow(line, end_line, tuple(filter(None, headings.split(SEPARATOR))))


def notes(base: Connection, numbers: Collection[int]) -> dict[int, NoteRow]:
    """Return the notes of some numbers."""
    sql = f"SELECT {_COLUMNS} FROM notes WHERE id IN ({{}})"
    rows = list(chunked(base, sql, list(numbers)))
    tags = _tags(base, [row[0] for row in rows])
    return {row[0]: _note(row, tags) for row in rows}


def dates(base: Connection, numbers: Collection[int] | None = None) -> Dates:
    """Return when some notes, or all, were created, and what the access log knows them by."""
    sql = f"SELECT id, created, {_KEY} FROM notes"
    rows = (
        base.execute(sql)
        if numbers is None
        else chunked(base, f"{sql} WHERE id IN ({{}})", list(numbers))
    )
    return {number: (created, known) for number, created, known in rows}


def note_at(base: Connection, path: str) -> NoteRow | None:
    """Return the note at a path."""
    row = base.execute(
        f"SELECT {_COLUMNS} FROM notes WHERE path = ? AND {_LIVE}", (path,)
    ).fetchone()
    return _note(row, _tags(base, [row[0]])) if row else None


def with_content(base: Connection, content_hash: str) -> list[NoteRow]:
    """Return the live notes of that content, the oldest first."""
    rows = base.execute(
        f"SELECT {_COLUMNS} FROM notes WHERE substr(content_hash, 1, 6) = substr(?1, 1, 6)"
        f" AND content_hash = ?1 AND {_LIVE} AND status <> 'archived'"
        " ORDER BY created, path",
        (bytes.fromhex(content_hash),),
    ).fetchall()
    tags = _tags(base, [row[0] for row in rows])
    return [_note(row, tags) for row in rows]


def newest(
    base: Connection,
    scope: Scope,
    limit: int,
    written: Mapping[str, float] = MappingProxyType({}),
) -> list[NoteRow]:
    """Return the notes in scope that were created or updated last.

    `written` says when notes were updated last, by what the access log knows them by, where the
    manifest can't know.
    """
    rows = base.execute(
        f"SELECT {_COLUMNS} FROM notes WHERE {_LIVE} ORDER BY max(created, updated) DESC, path"
    )
    late = known_as(base, list(written))
    found = []
    first = 0
    for row in rows:
        if row[0] in scope and (first < limit or row[0] in late):
            first += 1
            found.append(row)
        if first >= limit and not late:
            break
    tags = _tags(base, [row[0] for row in found])
    notes = [updated_by(_note(row, tags), written) for row in found]
    return sorted(notes, key=lambda note: (-max(note.created, note.updated), note.path))[:limit]


def updated_by(note: NoteRow, written: Mapping[str, float]) -> NoteRow:
    """Return a note as updated when it was written, if that is later than its files say."""
    return note._replace(updated=max(note.updated, written.get(note.key, 0.0)))


def known_as(base: Connection, keys: Sequence[str]) -> set[int]:
    """Return the notes that the access log knows by these keys."""
    by_id = "SELECT id FROM notes WHERE note_id <> '' AND note_id IN ({})"
    by_path = "SELECT id FROM notes WHERE note_id = '' AND path IN ({})"
    return {number for sql in (by_id, by_path) for (number,) in chunked(base, sql, keys)}


def superseded(base: Connection, numbers: Collection[int]) -> dict[int, tuple[int, str]]:
    """Map the notes among these that another active note supersedes to that note and its path.

    Of several the newest is named, and the first path of equals: the same after a rebuild.
    """
    said_by_new = (
        "SELECT created, path, links.dest, links.note FROM links JOIN notes"
        " ON notes.id = links.note WHERE links.type = 'supersedes' AND status <> 'archived'"
        " AND links.dest IN ({})"
    )
    said_by_old = (
        "SELECT created, path, links.note, links.dest FROM links JOIN notes"
        " ON notes.id = links.dest WHERE links.type = 'superseded_by' AND status <> 'archived'"
        " AND links.note IN ({})"
    )
    wanted = list(numbers)
    rows = [row for sql in (said_by_new, said_by_old) for row in chunked(base, sql, wanted)]
    found: dict[int, tuple[int, str]] = {}
    for _, path, old, new in sorted(rows, key=lambda row: (-row[0], row[1])):
        if old != new:
            found.setdefault(old, (new, path))
    return found


def supersedes(base: Connection) -> bool:
    """Tell whether any note supersedes another."""
    return _any_link(base, _SUPERSEDING)


def surroundings(base: Connection, numbers: Collection[int]) -> Surroundings:
    """Return how some notes hang together: by `next`, `previous` and what they are part of."""
    following, container = _linked(base, numbers)
    spans = _spans(base, {*following, *following.values()})
    return Surroundings(following, container, spans)


def _spans(base: Connection, numbers: Collection[int]) -> dict[int, tuple[int, int]]:
    sql = "SELECT note, min(row), max(row) FROM passages WHERE note IN ({}) GROUP BY note"
    return {note: (first, last) for note, first, last in chunked(base, sql, list(numbers))}


def _linked(base: Connection, numbers: Collection[int]) -> tuple[dict[int, int], dict[int, str]]:
    if not _any_link(base, _ORDER):
        return {}, {}
    sql = (
        "SELECT note, links.type, dest, coalesce(path, ghost) FROM links"
        " LEFT JOIN notes ON notes.id = dest"
        f" WHERE links.type IN ({_ORDER}) AND note IN ({{}}) ORDER BY links.id"
    )
    following: dict[int, int] = {}
    container: dict[int, str] = {}
    for note, kind, dest, name in chunked(base, sql, list(numbers)):
        if kind in PART_OF:
            container.setdefault(note, name)
        elif dest is not None and kind in NEXT:
            following.setdefault(note, dest)
        elif dest is not None:
            following.setdefault(dest, note)
    return following, container


def _any_link(base: Connection, types: str) -> bool:
    # the second condition lets SQLite use the index of links that have a type
    known = f"SELECT 1 FROM links WHERE type IN ({types}) AND type <> 'related_to' LIMIT 1"
    return base.execute(known).fetchone() is not None


def codeness(base: Connection, rows: Collection[int]) -> float:
    """Return the mean share of signs, as code has them, in some passages."""
    shares = [
        s for (s,) in chunked(base, "SELECT signs FROM passages WHERE row IN ({})", list(rows))
    ]
    return sum(shares) / len(shares) / 1000 if shares else 0.0


def first_passages(base: Connection, numbers: Collection[int]) -> dict[int, PassageRow]:
    """Map each of some notes to its first passage."""
    sql = "SELECT min(row) FROM passages WHERE note IN ({}) GROUP BY note"
    rows = [row for (row,) in chunked(base, sql, list(numbers))]
    return {place.note: place for place in passages(base, rows).values()}


def mean_words(base: Connection) -> float:
    """Return the mean length of a passage in words, as it was when that was last counted."""
    return float((meta(base, MEAN_WORDS) or "0 0").split()[1])


def neighbours(base: Connection, numbers: Collection[int]) -> list[tuple[int, int, str]]:
    """Return the links between notes that touch these: source, target, type."""
    wanted = list(numbers)
    out = "SELECT note, dest, type FROM links WHERE dest IS NOT NULL AND note IN ({})"
    into = "SELECT note, dest, type FROM links WHERE dest IN ({})"
    return sorted({row for sql in (out, into) for row in chunked(base, sql, wanted)})


def unindexed(base: Connection) -> list[tuple[str, str]]:
    """Return the files that are not indexed, with the reason."""
    rows = base.execute("SELECT path, reason FROM notes WHERE state = ?", (UNINDEXED,)).fetchall()
    return sorted(rows + base.execute("SELECT path, reason FROM refused").fetchall())


def faults(base: Connection) -> list[tuple[str, int, str]]:
    """Return what could not be read as it stands in files that are indexed all the same."""
    sql = "SELECT path, line, faults.reason FROM faults JOIN notes ON notes.id = note"
    return base.execute(f"{sql} ORDER BY path, line").fetchall()


def same_ids(base: Connection) -> list[tuple[str, tuple[str, ...]]]:
    """Return the ids that several notes claim, with their paths."""
    found: dict[str, list[str]] = {}
    sql = f"SELECT note_id, path FROM notes WHERE note_id <> '' AND {_LIVE} ORDER BY path"
    for note_id, path in base.execute(sql):
        found.setdefault(note_id, []).append(path)
    return [(note_id, tuple(paths)) for note_id, paths in found.items() if len(paths) > 1]


def tag_counts(base: Connection) -> dict[str, int]:
    """Count the live notes of each tag, the most used first."""
    return dict(
        base.execute(
            f"SELECT tag, count(*) FROM tags JOIN notes ON notes.id = note WHERE {_LIVE}"
            " GROUP BY tag ORDER BY count(*) DESC, tag"
        )
    )


def type_counts(base: Connection) -> dict[str, int]:
    """Count the live notes of each type, the most used first."""
    sql = (
        f"SELECT type, count(*) FROM notes WHERE {_LIVE} GROUP BY type ORDER BY count(*) DESC, type"
    )
    return {name or "untyped": count for name, count in base.execute(sql)}


def totals(base: Connection) -> tuple[int, int, int, int]:
    """Return the number of live notes, their bytes, archived notes, and passages."""
    live, size, archived = base.execute(
        "SELECT count(*), coalesce(sum(size), 0), coalesce(sum(status = 'archived'), 0) FROM notes"
        f" WHERE {_LIVE}"
    ).fetchone()
    (rows,) = base.execute("SELECT count(*) FROM passages").fetchone()
    return live, size, archived, rows


def numbers(base: Connection) -> set[int]:
    """Return the number of every live note."""
    return {number for (number,) in base.execute(f"SELECT id FROM notes WHERE {_LIVE}")}


def all_live(base: Connection) -> list[tuple[int, str]]:
    """Return the number and path of every note, those that can't be indexed included."""
    return base.execute(
        f"SELECT id, path FROM notes WHERE state <> {GONE} ORDER BY path"
    ).fetchall()


def any_done(base: Connection) -> bool:
    """Tell whether there is a note to be found at all, in every index."""
    return base.execute(f"SELECT 1 FROM notes WHERE state = {DONE} LIMIT 1").fetchone() is not None


def etags(base: Connection) -> dict[str, str]:
    """Return the path and etag of every live note."""
    return dict(base.execute(f"SELECT path, {ETAG} FROM notes WHERE {_LIVE} ORDER BY path"))


def _tags(base: Connection, numbers: Sequence[int]) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for number, tag in chunked(base, "SELECT note, tag FROM tags WHERE note IN ({})", numbers):
        found.setdefault(number, []).append(tag)
    return found


def rest_of(path: str, meta: str) -> dict[str, Any]:
    """Read the front matter beyond the columns of a note's row; raise IndexDamaged."""
    try:
        found: dict[str, Any] = json.loads(meta)
    except ValueError as error:
        raise IndexDamaged(f"the row of {path} is damaged", "it is made again") from error
    return found


def _note(row: Sequence[Any], tags: Mapping[int, list[str]]) -> NoteRow:
    known = dict(zip(_FIELDS, row, strict=True))
    known["rest"] = rest_of(known["path"], known["rest"])
    return NoteRow(**known, tags=tuple(tags.get(known["number"], ())))
