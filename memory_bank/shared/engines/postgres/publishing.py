"""Replace what is published of a bank: the difference to its head, in one transaction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from typing import Any

from pgvector import HalfVector, SparseVector
from psycopg.types.json import Json

from memory_bank.base.errors import Conflict
from memory_bank.shared.engines.base import (
    KnownBank,
    Position,
    Publication,
    PublishedNote,
    PublishedPassage,
)
from memory_bank.shared.engines.postgres.connection import Connection, clean, split_batches
from memory_bank.shared.word_weights import DIMENSIONS

_AT_ONCE = 500
"""Number of passages that are sent at a time."""

_HEAD = """
SELECT commit, passages FROM memory_bank.heads WHERE repo = %s AND bank = %s
"""

_POSITIONS = """
SELECT encode(p.key, 'hex'), p.ordinal, p.line, p.end_line FROM memory_bank.passages AS p
JOIN memory_bank.notes AS n ON n.repo = p.repo AND n.note = p.note
WHERE n.repo = %s AND n.bank = %s AND n.path = ANY(%s)
"""

_FIRST_HEAD = """
INSERT INTO memory_bank.heads VALUES (%s, %s, '', 0, 0, '', 0, 0) ON CONFLICT DO NOTHING
"""

_LOCK_HEAD = "SELECT commit FROM memory_bank.heads WHERE repo = %s AND bank = %s FOR UPDATE"

_NEW_HEAD = """
UPDATE memory_bank.heads SET commit = %s, committed = %s, published = %s, web = %s, notes = %s,
passages = %s WHERE repo = %s AND bank = %s
"""

_PUT_NOTES = """
INSERT INTO memory_bank.notes
    (repo, bank, path, file, hash, id, title, type, status, tags, created, updated, hidden, rest)
SELECT %(repo)s, %(bank)s, n.* FROM json_to_recordset(%(notes)s) AS n (
    path text, file text, hash text, id text, title text, type text, status text, tags text[],
    created float8, updated float8, hidden boolean, rest jsonb)
ON CONFLICT (repo, bank, path) DO UPDATE SET file = excluded.file, hash = excluded.hash,
    id = excluded.id, title = excluded.title, type = excluded.type, status = excluded.status,
    tags = excluded.tags,
    created = excluded.created, updated = excluded.updated, hidden = excluded.hidden,
    rest = excluded.rest
"""

_PUT_PASSAGES = """
INSERT INTO memory_bank.passages (repo, bank, note, key, ordinal, line, end_line, headings, text,
    length, words, terms, vector, type, tags, created, updated, hidden)
SELECT %(repo)s, %(bank)s, n.note, decode(p.key, 'hex'), p.ordinal, p.line, p.end_line, p.headings,
    p.text, p.length, p.words, p.terms::{vector}.sparsevec, p.vector::{vector}.halfvec,
    lower(n.type), n.tags, n.created, n.updated, n.hidden
FROM json_to_recordset(%(passages)s) AS p (
    key text, path text, ordinal integer, line integer, end_line integer, headings text[],
    text text, length integer, words integer[], terms text, vector text)
JOIN memory_bank.notes AS n ON n.repo = %(repo)s AND n.bank = %(bank)s AND n.path = p.path
"""

_DROP_PASSAGES = """
DELETE FROM memory_bank.passages WHERE repo = %s AND bank = %s AND key = ANY(%s) RETURNING words
"""

_FIELDS = """
UPDATE memory_bank.passages AS p SET type = lower(n.type), tags = n.tags, created = n.created,
    updated = n.updated, hidden = n.hidden
FROM memory_bank.notes AS n
WHERE p.repo = %(repo)s AND n.repo = p.repo AND n.note = p.note AND n.bank = %(bank)s
AND n.path = ANY(%(paths)s)
AND (p.type, p.tags, p.created, p.updated, p.hidden)
    IS DISTINCT FROM (lower(n.type), n.tags, n.created, n.updated, n.hidden)
"""

_MOVE = """
UPDATE memory_bank.passages AS p SET ordinal = m.ordinal, line = m.line, end_line = m.end_line
FROM json_to_recordset(%(moved)s) AS m (key text, ordinal integer, line integer, end_line integer)
WHERE p.repo = %(repo)s AND p.bank = %(bank)s AND p.key = decode(m.key, 'hex')
"""

_COUNT = """
INSERT INTO memory_bank.frequencies AS f (repo, word, passages)
SELECT %(repo)s, c.word, c.passages
FROM unnest(%(words)s::integer[], %(counts)s::integer[]) AS c (word, passages)
ORDER BY c.word
ON CONFLICT (repo, word) DO UPDATE SET passages = f.passages + excluded.passages
"""

_UNUSED = """
DELETE FROM memory_bank.frequencies WHERE repo = %s AND word = ANY(%s) AND passages <= 0
"""

UNKNOWN = 0
"""The number of a repository of which nothing was published."""


def number_of_repo(connection: Connection, name: str, *, make: bool = False) -> int:
    """Return the number of a repository; with `make` it is added, else UNKNOWN is returned."""
    if make:
        connection.execute(
            "INSERT INTO memory_bank.repositories (name) VALUES (%s) ON CONFLICT DO NOTHING",
            (name,),
        )
    row = connection.execute(
        "SELECT repo FROM memory_bank.repositories WHERE name = %s", (name,)
    ).fetchone()
    return int(row[0]) if row else UNKNOWN


def read_published(connection: Connection, repo: int, bank: str) -> KnownBank:
    """Return what is published of a bank, in one state."""
    with connection.transaction():
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        row = connection.execute(_HEAD, (repo, bank)).fetchone()
        notes = connection.execute(
            "SELECT path, hash FROM memory_bank.notes WHERE repo = %s AND bank = %s", (repo, bank)
        ).fetchall()
    commit, passages = row or ("", 0)
    return KnownBank(commit, dict(notes), passages)


def read_positions(
    connection: Connection, repo: int, bank: str, paths: Collection[str]
) -> dict[str, Position]:
    """Return the positions of the passages of some notes by key."""
    rows = connection.execute(_POSITIONS, (repo, bank, [clean(path) for path in paths]))
    return {key: Position(*where) for key, *where in rows}


def publish(connection: Connection, repo: int, publication: Publication, vector: str) -> None:
    """Apply a difference; raise Conflict if the head is not its base."""
    head = publication.head
    of = {"repo": repo, "bank": head.bank}
    with connection.transaction():
        connection.execute(_FIRST_HEAD, (repo, head.bank))
        row = connection.execute(_LOCK_HEAD, (repo, head.bank)).fetchone()
        if row is None or row[0] != publication.base:
            raise Conflict(f"{head.repo}: another commit was published meanwhile", "it is repeated")
        counts: Counter[int] = Counter()
        for batch in split_batches(publication.gone_passages, _AT_ONCE):
            keys = [bytes.fromhex(key) for key in batch]
            gone = connection.execute(_DROP_PASSAGES, (repo, head.bank, keys))
            for (words,) in gone:
                counts.subtract(words)
        _put_notes(connection, of, publication, counts, vector)
        for batch in split_batches([*publication.moved.items()], 10 * _AT_ONCE):
            moved = [{"key": key, **where._asdict()} for key, where in batch]
            connection.execute(_MOVE, {**of, "moved": Json(moved)})
        for note_batch in split_batches(publication.gone_notes, 10 * _AT_ONCE):
            connection.execute(
                "DELETE FROM memory_bank.notes WHERE repo = %s AND bank = %s AND path = ANY(%s)",
                (repo, head.bank, [clean(path) for path in note_batch]),
            )
        _count(connection, repo, counts)
        values = (
            head.commit, head.committed, head.published, clean(head.web), head.notes, head.passages,
        )  # fmt: skip
        connection.execute(_NEW_HEAD, (*values, repo, head.bank))


def remove(connection: Connection, repo: int, bank: str) -> bool:
    """Remove a bank; tell whether anything was there."""
    with connection.transaction():
        row = connection.execute(_LOCK_HEAD, (repo, bank)).fetchone()
        counts: Counter[int] = Counter()
        for (words,) in connection.execute(
            "DELETE FROM memory_bank.passages WHERE repo = %s AND bank = %s RETURNING words",
            (repo, bank),
        ):
            counts.subtract(words)
        for table in ("notes", "heads"):
            connection.execute(
                f"DELETE FROM memory_bank.{table} WHERE repo = %s AND bank = %s", (repo, bank)
            )
        _count(connection, repo, counts)
    return row is not None


def _put_notes(
    connection: Connection,
    of: dict[str, Any],
    publication: Publication,
    counts: Counter[int],
    vector: str,
) -> None:
    """Add notes and passages, and their words to the counts."""
    for notes in split_batches(publication.notes, _AT_ONCE):
        connection.execute(_PUT_NOTES, {**of, "notes": Json([_note(note) for note in notes])})
        paths = [clean(note.path) for note in notes]
        connection.execute(_FIELDS, {**of, "paths": paths})
    statement = _PUT_PASSAGES.format(vector=vector)
    for passage_batch in split_batches(publication.passages, _AT_ONCE):
        rows = [_passage(batch) for batch in passage_batch]
        inserted = connection.execute(statement, {**of, "passages": Json(rows)})
        if inserted.rowcount != len(rows):
            raise Conflict(
                f"{publication.head.repo}: its notes changed meanwhile", "it is repeated"
            )
        for batch in passage_batch:
            counts.update(batch.terms.keys())


def _count(connection: Connection, repo: int, counts: Counter[int]) -> None:
    """Add to how many passages have each word."""
    changed = sorted((word, count) for word, count in counts.items() if count)
    for batch in split_batches(changed, 100 * _AT_ONCE):
        words, numbers = [word for word, _ in batch], [count for _, count in batch]
        connection.execute(_COUNT, {"repo": repo, "words": words, "counts": numbers})
        connection.execute(_UNUSED, (repo, [word for word, count in batch if count < 0]))


def _note(note: PublishedNote) -> dict[str, Any]:
    return {key: _clean_json(value) for key, value in note._asdict().items()}


def _passage(passage: PublishedPassage) -> dict[str, Any]:
    terms = {number - 1: weight for number, weight in passage.terms.items()}  # from 0, in Python
    return {
        "key": passage.key,
        "path": clean(passage.path),
        **passage.position._asdict(),
        "headings": _clean_json(passage.headings),
        "text": clean(passage.text),
        "length": passage.words,
        "words": sorted(passage.terms),
        "terms": SparseVector(terms, DIMENSIONS).to_text(),
        "vector": None if passage.vector is None else HalfVector([*passage.vector]).to_text(),
    }


def _clean_json(value: Any) -> Any:  # noqa: ANN401  (JSON)
    """Return JSON whose texts the server can store."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {clean(str(key)): _clean_json(entry) for key, entry in value.items()}
    if isinstance(value, Iterable):
        return [_clean_json(entry) for entry in value]
    return value
