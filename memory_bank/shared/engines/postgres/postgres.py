"""A connection to a shared index in PostgreSQL."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Self

from memory_bank.base.errors import Hint, SharedUnavailable
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
from memory_bank.shared.engines.postgres.connection import OpenedConnection, guarded, no_index
from memory_bank.shared.engines.postgres.operator import PostgresOperator
from memory_bank.shared.engines.postgres.tables import VERSION

_EVERYWHERE = Where()


class Postgres:
    """The engine of PostgreSQL; see `engine.Engine`."""

    def __init__(self, opened: OpenedConnection, seconds: float) -> None:
        """Use a connection."""
        self._connection, self.place = opened
        self._seconds = seconds
        self._info: IndexInfo | None = None

    def __enter__(self) -> Self:
        """Return the engine itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the connection."""
        self._connection.close()

    @property
    def administration(self) -> PostgresOperator:
        """What its operator does: make and drop it."""
        return PostgresOperator(self._connection, self.place)

    def info(self) -> IndexInfo:
        """Return what was fixed when the index was made."""
        if self._info is None:
            with guarded(self.place):
                index_info = self.administration.stored()
            if index_info is None:
                raise no_index(self.place)
            if index_info.version != VERSION:
                raise _other_version(self.place, index_info.version)
            self._info = index_info
        return self._info

    @contextmanager
    def one_state(self) -> Iterator[None]:
        """Let all questions within see one state of the index."""
        with guarded(self.place), self._connection.transaction():
            self._connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            yield

    def heads(self, where: Where | None = None) -> list[Head]:
        """Return the heads of all banks."""
        self.info()
        with guarded(self.place):
            return searching.heads(self._connection, where or _EVERYWHERE)

    def known(self, repo: str, bank: str) -> KnownBank:
        """Return what the index has of a bank."""
        self.info()
        with guarded(self.place):
            number = publishing.number_of_repo(self._connection, repo)
            return publishing.known(self._connection, number, bank)

    def positions(self, repo: str, bank: str, paths: Collection[str]) -> dict[str, Position]:
        """Return the positions of the passages of some notes by key."""
        self.info()
        with guarded(self.place):
            number = publishing.number_of_repo(self._connection, repo)
            return publishing.positions(self._connection, number, bank, paths)

    def publish(self, publication: Publication) -> None:
        """Replace a bank's head in one transaction."""
        self.info()
        with guarded(self.place):
            number = publishing.number_of_repo(self._connection, publication.head.repo, make=True)
            publishing.publish(self._connection, number, publication, self._vector)

    def remove(self, repo: str, bank: str) -> bool:
        """Remove all that is published of a bank; tell whether anything was."""
        self.info()
        with guarded(self.place):
            number = publishing.number_of_repo(self._connection, repo)
            return publishing.remove(self._connection, number, bank)

    def size(self) -> int:
        """Count the passages."""
        with guarded(self.place):
            return searching.size(self._connection)

    def frequencies(self, words: Collection[int]) -> dict[int, int]:
        """Count the passages that have each word."""
        with guarded(self.place):
            return searching.frequencies(self._connection, words)

    def words(
        self, asked_words: Sequence[AskedWord], limit: int, where: Where
    ) -> list[SharedMatch]:
        """Return the passages with the highest BM25 scores, best first."""
        with guarded(self.place):
            return searching.by_words(self._connection, asked_words, limit, where, self._vector)

    def nearest(self, vector: Sequence[float], limit: int, where: Where) -> list[SharedMatch]:
        """Return the passages with the highest cosines, best first."""
        if not self.info().dimension:
            return []
        with guarded(self.place):
            return searching.nearest(self._connection, vector, limit, where, self._vector)

    def passages(self, rows: Collection[int]) -> dict[int, SharedPassage]:
        """Return some passages by row."""
        with guarded(self.place):
            return searching.passages(self._connection, rows)

    @cached_property
    def _vector(self) -> str:
        """The schema of the extension, quoted."""
        return self.administration.vector_schema()


def _other_version(place: str, version: int) -> SharedUnavailable:
    text = f"{place}: the tables of the shared index have version {version}, this program {VERSION}"
    return SharedUnavailable(text, Hint.MAKE_SHARED_ANEW, OTHER_VERSION)
