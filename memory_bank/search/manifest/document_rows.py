"""Read documents, passages and counts from the manifest."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeVar

from memory_bank.base import NamedTuple
from memory_bank.base.documents import Dates, Document, Section, Span
from memory_bank.base.errors import IndexDamaged
from memory_bank.search.manifest.manifest import (
    DONE,
    GONE,
    HASH,
    MEAN_WORDS,
    PENDING,
    SEPARATOR,
    UNREADABLE,
    Manifest,
)
from memory_bank.search.retrievers.base import Scope

_COLUMNS = (
    f"id, key, {HASH}, size, known_as, title, created, updated, hidden, lower(hex(content)), data"
)

_LIVE = f"state IN ({DONE}, {PENDING})"

_NO_DATES: Mapping[str, float] = MappingProxyType({})


Row = TypeVar("Row", bound=Document)


class PassageRow(NamedTuple):
    """The lines and the section of a passage."""

    row: int
    document: int
    ordinal: int
    """Number of the section in its document; -1 when it is in none."""
    line: int
    end_line: int
    section: Section
    """Without its fields."""

    @property
    def span(self) -> Span:
        """Its lines."""
        return Span(self.line, self.end_line)


def read_passages(manifest: Manifest, rows: Collection[int]) -> dict[int, PassageRow]:
    """Return the passages of some row numbers; those gone meanwhile are left out."""
    sql = (
        "SELECT row, p.document, section, p.line, p.end_line, coalesce(s.line, 1),"
        " coalesce(s.end_line, 1), coalesce(headings, ''), coalesce(name, ''),"
        " coalesce(created, 0), coalesce(tokens, 0) FROM passages AS p"
        " LEFT JOIN sections AS s ON s.document = p.document AND ordinal = section"
        " WHERE row IN ({})"
    )
    return {
        row: PassageRow(row, document, ordinal, line, end_line, _section(*around))
        for row, document, ordinal, line, end_line, *around in manifest.chunked(sql, list(rows))
    }


def _section(
    line: int, end_line: int, headings: str, name: str, created: float, tokens: int
) -> Section:
    above = tuple(filter(None, headings.split(SEPARATOR)))
    return Section(line, end_line, above, name, (), created, tokens)


def read_documents(manifest: Manifest, numbers: Collection[int]) -> dict[int, Document]:
    """Return the documents of some numbers."""
    sql = f"SELECT {_COLUMNS} FROM documents WHERE id IN ({{}})"
    return {row[0]: _document(row) for row in manifest.chunked(sql, list(numbers))}


def all_documents(manifest: Manifest) -> list[Document]:
    """Return every live document, by key."""
    rows = manifest.execute(f"SELECT {_COLUMNS} FROM documents WHERE {_LIVE} ORDER BY key")
    return [_document(row) for row in rows]


class Version(NamedTuple):
    """A document without its data."""

    number: int
    hash: str
    hidden: bool


def read_versions(manifest: Manifest) -> dict[str, Version]:
    """Return every live document by key; faster than all rows."""
    rows = manifest.execute(f"SELECT key, id, {HASH}, hidden FROM documents WHERE {_LIVE}")
    return {key: Version(number, digest, bool(hidden)) for key, number, digest, hidden in rows}


def read_titles(manifest: Manifest) -> list[tuple[str, str, str]]:
    """Return key, title and `aliases`, as JSON or empty, of every live document, by key."""
    sql = "SELECT key, title, coalesce(json_extract(data, '$.aliases'), '') FROM documents"
    return manifest.execute(f"{sql} WHERE {_LIVE} ORDER BY key").fetchall()


def document_at(manifest: Manifest, key: str) -> Document | None:
    """Return the live document of a key."""
    sql = f"SELECT {_COLUMNS} FROM documents WHERE key = ? AND {_LIVE}"
    row = manifest.execute(sql, (key,)).fetchone()
    return _document(row) if row else None


def find_by_field(manifest: Manifest, key: str, value: str) -> list[Document]:
    """Return the live documents that are not hidden and have a field's value, the oldest first."""
    where = "id IN (SELECT document FROM fields WHERE key = ? AND value = ?)"
    return _shown_documents(manifest, where, (key, value))


def find_by_content(manifest: Manifest, content: str) -> list[Document]:
    """Return the live documents that are not hidden and have a content, the oldest first."""
    # the first two conditions make SQLite use the partial index of the first bytes
    where = "content <> x'' AND substr(content, 1, 6) = substr(?1, 1, 6) AND content = ?1"
    return _shown_documents(manifest, where, (bytes.fromhex(content),))


def _shown_documents(manifest: Manifest, where: str, values: Sequence[Any]) -> list[Document]:
    sql = f"SELECT {_COLUMNS} FROM documents WHERE {_LIVE} AND NOT hidden AND {where}"
    return [_document(row) for row in manifest.execute(f"{sql} ORDER BY created, key", values)]


def sharing_content(manifest: Manifest) -> Iterator[list[Document]]:
    """Yield the live documents, not hidden, of each content that several of them have."""
    rows = manifest.execute(
        f"SELECT hex(content) FROM documents WHERE content <> x'' AND {_LIVE} AND NOT hidden"
        " GROUP BY content HAVING count(*) > 1"
    )
    yield from (find_by_content(manifest, content) for (content,) in rows.fetchall())


def yield_data(manifest: Manifest, key: str) -> Iterator[tuple[str, Any]]:
    """Yield what the data of live documents, not hidden, have for a key, with their keys."""
    rows = manifest.execute(
        f"SELECT key, json_extract(data, '$.' || ?1) FROM documents WHERE {_LIVE} AND NOT hidden"
        " AND json_extract(data, '$.' || ?1) IS NOT NULL ORDER BY key",
        (key,),
    )
    for document, value in rows.fetchall():
        yield document, json.loads(value)


def with_status(manifest: Manifest, numbers: Collection[int], words: frozenset[str]) -> list[int]:
    """Return those of some documents of which a status begins with one of some words.

    Most banks have few, so that hardly any data is read.
    """
    statuses = manifest.execute("SELECT id, value FROM field_values WHERE key = 'status'")
    ids = ",".join(
        str(number) for number, value in statuses if not words.isdisjoint(value.split()[:1])
    )
    sql = f"SELECT document FROM document_fields WHERE field IN ({ids}) AND document IN ({{}})"
    return [number for (number,) in manifest.chunked(sql, list(numbers))] if ids else []


def find_deprecated(manifest: Manifest, numbers: Collection[int]) -> set[int]:
    """Return those documents that say that they are deprecated, and not by what."""
    sql = (
        "SELECT id FROM documents WHERE id IN ({})"
        " AND json_extract(data, '$.status') = 'deprecated' AND NOT EXISTS (SELECT 1 FROM links"
        " WHERE document = documents.id AND type = 'superseded_by' AND dest IS NOT NULL)"
    )
    likely = with_status(manifest, numbers, frozenset(["deprecated"]))
    return {number for (number,) in manifest.chunked(sql, likely)}


def read_dates(manifest: Manifest, numbers: Collection[int]) -> dict[int, tuple[float, str]]:
    """Return creation time and name in the access log of some documents.

    The time is 0 for a document that doesn't state it.
    """
    known_as = "CASE known_as WHEN '' THEN key ELSE known_as END"
    sql = f"SELECT id, created * stated, {known_as} FROM documents WHERE id IN ({{}})"
    rows = manifest.chunked(sql, list(numbers))
    return {number: (created, name) for number, created, name in rows}


def find_newest(
    manifest: Manifest, scope: Scope, limit: int, written: Mapping[str, float] = _NO_DATES
) -> list[Document]:
    """Return the documents in scope that were created or updated last.

    `written` has later times of updates from the log of updates, by names as in `known_as`.
    """
    inside = newest_numbers(manifest, scope)
    late = known_as(manifest, list(written)).intersection(inside)
    rows = read_documents(manifest, {*inside[:limit], *late}).values()
    updated = [updated_by(row, written) for row in rows]
    return sorted(updated, key=lambda row: (-max(row.created, row.updated), row.key))[:limit]


def newest_numbers(manifest: Manifest, scope: Scope) -> list[int]:
    """Return the numbers of the documents in scope, the last created or updated first."""
    sql = f"SELECT -max(created, updated), key, id FROM documents WHERE {_LIVE}"
    if scope.only is None:
        rows = manifest.execute(f"{sql} ORDER BY 1, 2").fetchall()
    else:
        rows = sorted(manifest.chunked(f"{sql} AND id IN ({{}})", list(scope.only)))
    return [number for _, _, number in rows if number in scope]


def updated_by(row: Row, written: Mapping[str, float]) -> Row:
    """Return a document with the later of its time of update and that in `written`."""
    updated = max(row.updated, written.get(row.known_as, 0.0))
    return row._replace(dates=row.dates._replace(updated=updated))


def known_as(manifest: Manifest, names: Collection[str]) -> set[int]:
    """Return the documents with these names in the logs of activity."""
    by_id = "SELECT id FROM documents WHERE known_as <> '' AND known_as IN ({})"
    by_key = "SELECT id FROM documents WHERE known_as = '' AND key IN ({})"
    name_list = list(names)
    return {number for sql in (by_id, by_key) for (number,) in manifest.chunked(sql, name_list)}


def code_ratio(manifest: Manifest, rows: Collection[int]) -> float:
    """Return the mean share of code characters in some passages."""
    sql = "SELECT code FROM passages WHERE row IN ({})"
    shares = [share for (share,) in manifest.chunked(sql, list(rows))]
    return sum(shares) / len(shares) / 1000 if shares else 0.0


def first_passages(manifest: Manifest, numbers: Collection[int]) -> dict[int, PassageRow]:
    """Map each of some documents to its first passage."""
    sql = "SELECT min(row) FROM passages WHERE document IN ({}) GROUP BY document"
    rows = [row for (row,) in manifest.chunked(sql, list(numbers))]
    return {place.document: place for place in read_passages(manifest, rows).values()}


def section_at(manifest: Manifest, document: int, line: int) -> Section | None:
    """Return the section that a line of a document is in, without its fields."""
    sql = (
        "SELECT line, end_line, headings, name, coalesce(created, 0), coalesce(tokens, 0)"
        " FROM sections WHERE document = ? AND line <= ? ORDER BY line DESC LIMIT 1"
    )
    return next((_section(*row) for row in manifest.execute(sql, (document, line))), None)


def passage_rows(manifest: Manifest) -> dict[int, int]:
    """Map the row of every passage to its document."""
    return dict(manifest.execute("SELECT row, document FROM passages"))


def count_documents(manifest: Manifest, most: int) -> int:
    """Count the live documents, at most up to `most`."""
    return _count(manifest, f"documents WHERE {_LIVE}", most)


def count_passages(manifest: Manifest, most: int = -1) -> int:
    """Count the passages, at most up to `most` unless that is negative."""
    return _count(manifest, "passages", most)


def _count(manifest: Manifest, rows: str, most: int) -> int:
    sql = f"SELECT count(*) FROM (SELECT 1 FROM {rows} LIMIT ?)"
    return int(manifest.execute(sql, (most,)).fetchone()[0])


def mean_words(manifest: Manifest) -> float:
    """Return the mean length of a passage in words, as last computed."""
    return float((manifest.meta(MEAN_WORDS) or "0 0").split()[1])


def list_unindexed(manifest: Manifest) -> list[tuple[str, str]]:
    """Return the keys that are not indexed, with the reason."""
    sql = f"SELECT key, reason FROM documents WHERE state = {UNREADABLE}"
    rows = manifest.execute(sql).fetchall()
    return sorted(rows + manifest.execute("SELECT key, reason FROM refused").fetchall())


def list_faults(manifest: Manifest) -> list[tuple[str, int, str]]:
    """Return the faults of indexed documents: key, line, reason."""
    sql = "SELECT key, line, faults.reason FROM faults JOIN documents ON documents.id = document"
    return manifest.execute(f"{sql} ORDER BY key, line").fetchall()


def same_ids(manifest: Manifest) -> list[tuple[str, tuple[str, ...]]]:
    """Return the ids that several documents have, with the keys of these."""
    keys_of: dict[str, list[str]] = {}
    sql = f"SELECT known_as, key FROM documents WHERE known_as <> '' AND {_LIVE} ORDER BY key"
    for known_as, key in manifest.execute(sql):
        keys_of.setdefault(known_as, []).append(key)
    return [(known_as, tuple(keys)) for known_as, keys in keys_of.items() if len(keys) > 1]


def count_values(manifest: Manifest, field: str) -> dict[str, int]:
    """Count the live documents of each value of a field, the most used first."""
    sql = (
        "SELECT value, count(*) FROM fields JOIN documents ON documents.id = document"
        f" WHERE fields.key = ? AND {_LIVE} GROUP BY value ORDER BY count(*) DESC, value"
    )
    return dict(manifest.execute(sql, (field,)))


def data_counts(manifest: Manifest, key: str) -> dict[str, int]:
    """Count the live documents for each value of a key of their data; "" if there is none."""
    sql = (
        "SELECT coalesce(json_extract(data, '$.' || ?), '') AS value, count(*) FROM documents"
        f" WHERE {_LIVE} GROUP BY value ORDER BY count(*) DESC, value"
    )
    return dict(manifest.execute(sql, (key,)))


def count_totals(manifest: Manifest) -> tuple[int, int, int, int]:
    """Return the number of live documents, their bytes, hidden documents, and passages."""
    live, size, hidden = manifest.execute(
        "SELECT count(*), coalesce(sum(size), 0), coalesce(sum(hidden), 0) FROM documents"
        f" WHERE {_LIVE}"
    ).fetchone()
    return live, size, hidden, count_passages(manifest)


def list_numbers(manifest: Manifest) -> set[int]:
    """Return the number of every live document."""
    return {number for (number,) in manifest.execute(f"SELECT id FROM documents WHERE {_LIVE}")}


def all_keys(manifest: Manifest) -> list[tuple[int, str]]:
    """Return number and key of every document, those that can't be indexed included."""
    sql = f"SELECT id, key FROM documents WHERE state <> {GONE} ORDER BY key"
    return manifest.execute(sql).fetchall()


def keys_by_id_start(manifest: Manifest, start: str) -> list[str]:
    """Return the keys of the documents whose id begins so."""
    sql = (
        f"SELECT key FROM documents WHERE state <> {GONE} AND substr(known_as, 1, ?) = ?"
        " ORDER BY key"
    )
    return [key for (key,) in manifest.execute(sql, (len(start), start))]


def find_numbers(manifest: Manifest, keys: Collection[str]) -> list[int]:
    """Return the numbers of the documents with some keys."""
    sql = "SELECT id FROM documents WHERE key IN ({})"
    return [number for (number,) in manifest.chunked(sql, list(keys))]


def any_document(manifest: Manifest) -> bool:
    """Tell whether any document was ever indexed."""
    return manifest.execute("SELECT max(id) FROM documents").fetchone()[0] is not None


def any_done(manifest: Manifest) -> bool:
    """Tell whether any document is completely indexed."""
    sql = f"SELECT 1 FROM documents WHERE state = {DONE} LIMIT 1"
    return manifest.execute(sql).fetchone() is not None


def read_hashes(manifest: Manifest) -> dict[str, str]:
    """Return key and hash of every live document."""
    sql = f"SELECT key, {HASH} FROM documents WHERE {_LIVE} ORDER BY key"
    return dict(manifest.execute(sql))


def _document(row: Sequence[Any]) -> Document:
    try:
        data: Mapping[str, Any] = json.loads(row[-1])
    except ValueError as error:
        raise IndexDamaged(f"the row of {row[1]} is damaged", "it is rebuilt") from error
    number, key, digest, size, known_as, title, created, updated, hidden, content, _ = row
    return Document(
        key,
        digest,
        title,
        (),
        known_as,
        data=data,
        content=content,
        dates=Dates(created, updated),
        hidden=bool(hidden),
        size=size,
        number=number,
    )


def keys_with(manifest: Manifest, anchors: Sequence[str]) -> dict[str, str]:
    """Map those of some anchors that a live document has to its key; the first of several."""
    sql = (
        "SELECT anchor, key FROM anchors JOIN documents ON documents.id = document"
        f" WHERE state IN ({DONE}, {PENDING}) AND anchor IN ({{}})"
    )
    folded = [anchor.casefold() for anchor in anchors]
    keys = dict(sorted(manifest.chunked(sql, folded), reverse=True))  # the first one stays
    return {
        anchor: keys[name] for anchor, name in zip(anchors, folded, strict=True) if name in keys
    }
