"""The engine of PostgreSQL: make and drop its tables, and replace what is published of a bank.

A bank's head changes by the difference to the next one, in one transaction.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Collection, Iterable
from typing import Any

from pgvector import HalfVector, SparseVector
from psycopg import errors
from psycopg.types.json import Json

from memory_bank.base.errors import BadInput, Conflict
from memory_bank.shared.engines.base import (
    IndexInfo,
    KnownBank,
    Position,
    Publication,
    PublishedNote,
    PublishedPassage,
)
from memory_bank.shared.engines.postgres.connection import (
    EXTENSION,
    HOW,
    MOST_DIMENSIONS,
    VERSION,
    clean,
    convert_errors,
    split_batches,
    table_statements,
)
from memory_bank.shared.engines.postgres.searching import IndexSearch
from memory_bank.shared.word_weights import DIMENSIONS

_LOCK = "SELECT pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtext('memory_bank tables'))"

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


class Postgres(IndexSearch):
    """The engine of PostgreSQL; see `SharedEngine`."""

    def is_made(self) -> bool:
        """Tell whether there is an index that may be read."""
        return self._stored() is not None

    def make(self, embedder: str, dimension: int) -> IndexInfo:
        """Make the tables; if they are there, return what was fixed then."""
        if dimension > MOST_DIMENSIONS:
            raise BadInput(
                f"vectors of {dimension:,} components are too long for an index",
                f"choose an embedder of at most {MOST_DIMENSIONS:,}",
            )
        with convert_errors(self.place), self._connection.transaction():
            self._connection.execute(_LOCK)
            index_info = self._stored_if_made()
            if index_info is not None:
                return index_info
            self._make_extension()
            new_index = IndexInfo(secrets.token_hex(8), VERSION, embedder, dimension)
            self._connection.execute("CREATE SCHEMA memory_bank")
            statements = table_statements(vector=self._vector, dimension=dimension)
            self._connection.execute(statements.encode())
            for key in ("id", "version", "embedder", "dimension"):
                value = getattr(new_index, key)
                self._connection.execute(
                    "INSERT INTO memory_bank.meta VALUES (%s, %s)", (key, str(value))
                )
        return new_index

    def drop(self) -> bool:
        """Remove the tables and all that is published; tell whether there were any."""
        with convert_errors(self.place), self._connection.transaction():
            self._connection.execute(_LOCK)
            index_info = self._stored_if_made()
            self._connection.execute("DROP SCHEMA IF EXISTS memory_bank CASCADE")
        return index_info is not None

    def _stored_if_made(self) -> IndexInfo | None:
        """Return what was fixed, inside a transaction, which an error would end."""
        row = self._connection.execute(
            "SELECT to_regclass('memory_bank.meta') IS NOT NULL"
        ).fetchone()
        return self._stored() if row and row[0] else None

    def _make_extension(self) -> None:
        if self._connection.execute(EXTENSION).fetchone() is None:
            try:
                with self._connection.transaction():
                    self._connection.execute("CREATE EXTENSION vector SCHEMA public")
            except errors.Error as error:
                raise BadInput(
                    f"{self.place}: the extension vector can't be made:"
                    f" {error.diag.message_primary}",
                    f"{HOW}; a superuser may have to run: CREATE EXTENSION vector",
                ) from error

    def known(self, repo: str, bank: str) -> KnownBank:
        """Return what the index has of a bank, in one state."""
        self.info()
        number = self._number_of_repo(repo)
        with self.one_state():
            row = self._connection.execute(_HEAD, (number, bank)).fetchone()
            notes = self._connection.execute(
                "SELECT path, hash FROM memory_bank.notes WHERE repo = %s AND bank = %s",
                (number, bank),
            ).fetchall()
        commit, passages = row or ("", 0)
        return KnownBank(commit, dict(notes), passages)

    def positions(self, repo: str, bank: str, paths: Collection[str]) -> dict[str, Position]:
        """Return the positions of the passages of some notes by key."""
        self.info()
        number = self._number_of_repo(repo)
        with convert_errors(self.place):
            names = [clean(path) for path in paths]
            rows = self._connection.execute(_POSITIONS, (number, bank, names))
            return {key: Position(*where) for key, *where in rows}

    def publish(self, publication: Publication) -> None:
        """Replace a bank's head in one transaction; raise Conflict if the head is not its base."""
        self.info()
        head = publication.head
        repo = self._number_of_repo(head.repo, make=True)
        of = {"repo": repo, "bank": head.bank}
        with convert_errors(self.place), self._connection.transaction():
            self._connection.execute(_FIRST_HEAD, (repo, head.bank))
            row = self._connection.execute(_LOCK_HEAD, (repo, head.bank)).fetchone()
            if row is None or row[0] != publication.base:
                raise Conflict(
                    f"{head.repo}: another commit was published meanwhile", "it is repeated"
                )
            counts: Counter[int] = Counter()
            for batch in split_batches(publication.gone_passages, _AT_ONCE):
                keys = [bytes.fromhex(key) for key in batch]
                gone = self._connection.execute(_DROP_PASSAGES, (repo, head.bank, keys))
                for (words,) in gone:
                    counts.subtract(words)
            self._put_notes(of, publication, counts)
            for batch in split_batches([*publication.moved.items()], 10 * _AT_ONCE):
                moved = [{"key": key, **where._asdict()} for key, where in batch]
                self._connection.execute(_MOVE, {**of, "moved": Json(moved)})
            for note_batch in split_batches(publication.gone_notes, 10 * _AT_ONCE):
                self._connection.execute(
                    "DELETE FROM memory_bank.notes"
                    " WHERE repo = %s AND bank = %s AND path = ANY(%s)",
                    (repo, head.bank, [clean(path) for path in note_batch]),
                )
            self._count(repo, counts)
            values = (
                head.commit, head.committed, head.published, clean(head.web), head.notes,
                head.passages,
            )  # fmt: skip
            self._connection.execute(_NEW_HEAD, (*values, repo, head.bank))

    def remove(self, repo: str, bank: str) -> bool:
        """Remove all that is published of a bank; tell whether anything was."""
        self.info()
        of = (self._number_of_repo(repo), bank)
        with convert_errors(self.place), self._connection.transaction():
            row = self._connection.execute(_LOCK_HEAD, of).fetchone()
            counts: Counter[int] = Counter()
            for (words,) in self._connection.execute(
                "DELETE FROM memory_bank.passages WHERE repo = %s AND bank = %s RETURNING words", of
            ):
                counts.subtract(words)
            for table in ("notes", "heads"):
                self._connection.execute(
                    f"DELETE FROM memory_bank.{table} WHERE repo = %s AND bank = %s", of
                )
            self._count(of[0], counts)
        return row is not None

    def _number_of_repo(self, name: str, *, make: bool = False) -> int:
        """Return the number of a repository, which `make` adds; 0 if nothing is published of it."""
        with convert_errors(self.place):
            if make:
                self._connection.execute(
                    "INSERT INTO memory_bank.repositories (name) VALUES (%s)"
                    " ON CONFLICT DO NOTHING",
                    (name,),
                )
            row = self._connection.execute(
                "SELECT repo FROM memory_bank.repositories WHERE name = %s", (name,)
            ).fetchone()
            return int(row[0]) if row else 0

    def _put_notes(
        self, of: dict[str, Any], publication: Publication, counts: Counter[int]
    ) -> None:
        """Add notes and passages, and their words to the counts."""
        for notes in split_batches(publication.notes, _AT_ONCE):
            self._connection.execute(
                _PUT_NOTES, {**of, "notes": Json([_note(note) for note in notes])}
            )
            paths = [clean(note.path) for note in notes]
            self._connection.execute(_FIELDS, {**of, "paths": paths})
        statement = _PUT_PASSAGES.format(vector=self._vector)
        for passage_batch in split_batches(publication.passages, _AT_ONCE):
            rows = [_passage(batch) for batch in passage_batch]
            inserted = self._connection.execute(statement, {**of, "passages": Json(rows)})
            if inserted.rowcount != len(rows):
                raise Conflict(
                    f"{publication.head.repo}: its notes changed meanwhile", "it is repeated"
                )
            for batch in passage_batch:
                counts.update(batch.terms.keys())

    def _count(self, repo: int, counts: Counter[int]) -> None:
        """Add to how many passages have each word."""
        changed = sorted((word, count) for word, count in counts.items() if count)
        for batch in split_batches(changed, 100 * _AT_ONCE):
            words, numbers = [word for word, _ in batch], [count for _, count in batch]
            self._connection.execute(_COUNT, {"repo": repo, "words": words, "counts": numbers})
            self._connection.execute(_UNUSED, (repo, [word for word, count in batch if count < 0]))


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
