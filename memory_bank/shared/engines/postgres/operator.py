"""What the operator of a shared index does: make and drop it."""

from __future__ import annotations

import secrets

from psycopg import errors

from memory_bank.base.errors import BadInput
from memory_bank.shared.engines.base import IndexInfo
from memory_bank.shared.engines.postgres.connection import Connection, guarded
from memory_bank.shared.engines.postgres.tables import MOST_DIMENSIONS, VERSION, statement

_LOCK = "SELECT pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtext('memory_bank tables'))"

_EXTENSION = """
SELECT quote_ident(n.nspname), e.extversion FROM pg_extension AS e
JOIN pg_namespace AS n ON n.oid = e.extnamespace WHERE e.extname = 'vector'
"""

_OLDEST = (0, 8)
"""Version of pgvector from which a scan of vectors goes on until enough of them pass a filter."""

_HOW = "the server needs the package of pgvector 0.8 or later"


class PostgresOperator:
    """The operator's part of an engine; raises BadInput for what the role may not do."""

    def __init__(self, connection: Connection, place: str) -> None:
        """Use a connection."""
        self._connection = connection
        self._place = place

    def stored(self) -> IndexInfo | None:
        """Return what was fixed when the index was made; None if there is none that may be read."""
        try:
            rows = self._connection.execute("SELECT key, value FROM memory_bank.meta").fetchall()
        except (errors.UndefinedTable, errors.InvalidSchemaName, errors.InsufficientPrivilege):
            return None
        found_rows: dict[str, str] = dict(rows)
        return IndexInfo(
            found_rows["id"],
            int(found_rows["version"]),
            found_rows["embedder"],
            int(found_rows["dimension"]),
        )

    def vector_schema(self) -> str:
        """Return the schema of the extension, quoted; raise BadInput if it is missing."""
        row = self._connection.execute(_EXTENSION).fetchone()
        if row is None:
            raise BadInput(f"{self._place}: the extension vector is missing", _HOW)
        version = tuple(int(part) for part in row[1].split(".")[:2])
        if version < _OLDEST:
            raise BadInput(f"{self._place}: pgvector {row[1]} is too old", _HOW)
        return str(row[0])

    def make(self, embedder: str, dimension: int) -> IndexInfo:
        """Make the tables; if they are there, return what was fixed then."""
        if dimension > MOST_DIMENSIONS:
            raise BadInput(
                f"vectors of {dimension:,} components are too long for an index",
                f"choose an embedder of at most {MOST_DIMENSIONS:,}",
            )
        with guarded(self._place), self._connection.transaction():
            self._connection.execute(_LOCK)
            index_info = self._stored_if_made()
            if index_info is not None:
                return index_info
            self._make_extension()
            made_index_info = IndexInfo(secrets.token_hex(8), VERSION, embedder, dimension)
            self._connection.execute("CREATE SCHEMA memory_bank")
            statements = statement(vector=self.vector_schema(), dimension=dimension)
            self._connection.execute(statements.encode())
            for key, value in made_index_info._asdict().items():
                self._connection.execute(
                    "INSERT INTO memory_bank.meta VALUES (%s, %s)", (key, str(value))
                )
        return made_index_info

    def drop(self) -> bool:
        """Remove the tables and all that is published; tell whether there were any."""
        with guarded(self._place), self._connection.transaction():
            self._connection.execute(_LOCK)
            index_info = self._stored_if_made()
            self._connection.execute("DROP SCHEMA IF EXISTS memory_bank CASCADE")
        return index_info is not None

    def _stored_if_made(self) -> IndexInfo | None:
        """Return what was fixed, inside a transaction, which an error would end."""
        row = self._connection.execute(
            "SELECT to_regclass('memory_bank.meta') IS NOT NULL"
        ).fetchone()
        return self.stored() if row and row[0] else None

    def _make_extension(self) -> None:
        if self._connection.execute(_EXTENSION).fetchone() is None:
            try:
                with self._connection.transaction():
                    self._connection.execute("CREATE EXTENSION vector SCHEMA public")
            except errors.Error as error:
                raise BadInput(
                    f"{self._place}: the extension vector can't be made:"
                    f" {error.diag.message_primary}",
                    f"{_HOW}; a superuser may have to run: CREATE EXTENSION vector",
                ) from error
