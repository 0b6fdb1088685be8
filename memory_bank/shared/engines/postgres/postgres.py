"""A connection to a shared index in PostgreSQL."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Self

from psycopg import errors

from memory_bank.base.errors import BadInput, Hint, SharedUnavailable
from memory_bank.shared.engines.base import (
    OTHER_VERSION,
    AskedWord,
    Head,
    IndexInfo,
    KnownBank,
    Position,
    Publication,
    SharedMatch,
    SharedPassage,
    Where,
)
from memory_bank.shared.engines.postgres import publishing, searching
from memory_bank.shared.engines.postgres.connection import (
    MOST_DIMENSIONS,
    VERSION,
    Connection,
    convert_errors,
    missing_index_error,
    table_statements,
)

_LOCK = "SELECT pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtext('memory_bank tables'))"

_EXTENSION = """
SELECT quote_ident(n.nspname), e.extversion FROM pg_extension AS e
JOIN pg_namespace AS n ON n.oid = e.extnamespace WHERE e.extname = 'vector'
"""

_OLDEST = (0, 8)
"""Version of pgvector from which a scan of vectors goes on until enough of them pass a filter."""

_HOW = "the server needs the package of pgvector 0.8 or later"


class Postgres:
    """The engine of PostgreSQL; see `engine.Engine`."""

    def __init__(self, connection: Connection, place: str, seconds: float) -> None:
        """Use a connection to a place."""
        self._connection, self.place = connection, place
        self._seconds = seconds
        self._info: IndexInfo | None = None

    def __enter__(self) -> Self:
        """Return the engine itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the connection."""
        self._connection.close()

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
        if self._connection.execute(_EXTENSION).fetchone() is None:
            try:
                with self._connection.transaction():
                    self._connection.execute("CREATE EXTENSION vector SCHEMA public")
            except errors.Error as error:
                raise BadInput(
                    f"{self.place}: the extension vector can't be made:"
                    f" {error.diag.message_primary}",
                    f"{_HOW}; a superuser may have to run: CREATE EXTENSION vector",
                ) from error

    def _stored(self) -> IndexInfo | None:
        """Return what was fixed when the index was made; None if there is none that may be read."""
        try:
            rows = self._connection.execute("SELECT key, value FROM memory_bank.meta").fetchall()
        except (errors.UndefinedTable, errors.InvalidSchemaName, errors.InsufficientPrivilege):
            return None
        texts: dict[str, str] = dict(rows)
        return IndexInfo(
            texts["id"],
            int(texts["version"]),
            texts["embedder"],
            int(texts["dimension"]),
        )

    def info(self) -> IndexInfo:
        """Return what was fixed when the index was made."""
        if self._info is None:
            with convert_errors(self.place):
                index_info = self._stored()
            if index_info is None:
                raise missing_index_error(self.place)
            if index_info.version != VERSION:
                raise _other_version(self.place, index_info.version)
            self._info = index_info
        return self._info

    @contextmanager
    def one_state(self) -> Iterator[None]:
        """Let all questions within see one state of the index."""
        with convert_errors(self.place), self._connection.transaction():
            self._connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            yield

    def heads(self) -> list[Head]:
        """Return the heads of all banks."""
        self.info()
        with convert_errors(self.place):
            return searching.read_heads(self._connection)

    def known(self, repo: str, bank: str) -> KnownBank:
        """Return what the index has of a bank."""
        self.info()
        with convert_errors(self.place):
            number = publishing.number_of_repo(self._connection, repo)
            return publishing.read_published(self._connection, number, bank)

    def positions(self, repo: str, bank: str, paths: Collection[str]) -> dict[str, Position]:
        """Return the positions of the passages of some notes by key."""
        self.info()
        with convert_errors(self.place):
            number = publishing.number_of_repo(self._connection, repo)
            return publishing.read_positions(self._connection, number, bank, paths)

    def publish(self, publication: Publication) -> None:
        """Replace a bank's head in one transaction."""
        self.info()
        with convert_errors(self.place):
            number = publishing.number_of_repo(self._connection, publication.head.repo, make=True)
            publishing.publish(self._connection, number, publication, self._vector)

    def remove(self, repo: str, bank: str) -> bool:
        """Remove all that is published of a bank; tell whether anything was."""
        self.info()
        with convert_errors(self.place):
            number = publishing.number_of_repo(self._connection, repo)
            return publishing.remove(self._connection, number, bank)

    def size(self) -> int:
        """Count the passages."""
        with convert_errors(self.place):
            return searching.count_passages(self._connection)

    def frequencies(self, words: Collection[int]) -> dict[int, int]:
        """Count the passages that have each word."""
        with convert_errors(self.place):
            return searching.count_frequencies(self._connection, words)

    def words(
        self, question_words: Sequence[AskedWord], limit: int, where: Where
    ) -> list[SharedMatch]:
        """Return the passages with the highest BM25 scores, best first."""
        with convert_errors(self.place):
            return searching.find_by_words(
                self._connection, question_words, limit, where, self._vector
            )

    def nearest(self, vector: Sequence[float], limit: int, where: Where) -> list[SharedMatch]:
        """Return the passages with the highest cosines, best first."""
        if not self.info().dimension:
            return []
        with convert_errors(self.place):
            return searching.find_nearest(self._connection, vector, limit, where, self._vector)

    def passages(self, rows: Collection[int]) -> dict[int, SharedPassage]:
        """Return some passages by row."""
        with convert_errors(self.place):
            return searching.read_passages(self._connection, rows)

    @cached_property
    def _vector(self) -> str:
        """Return the schema of the extension, quoted; raise BadInput if it is missing."""
        row = self._connection.execute(_EXTENSION).fetchone()
        if row is None:
            raise BadInput(f"{self.place}: the extension vector is missing", _HOW)
        version = tuple(int(part) for part in row[1].split(".")[:2])
        if version < _OLDEST:
            raise BadInput(f"{self.place}: pgvector {row[1]} is too old", _HOW)
        return str(row[0])


def _other_version(place: str, version: int) -> SharedUnavailable:
    text = f"{place}: the tables of the shared index have version {version}, this program {VERSION}"
    return SharedUnavailable(text, Hint.MAKE_SHARED_ANEW, OTHER_VERSION)
