"""What the operator of a shared index does: make, migrate and drop it, and say who may do what."""

from __future__ import annotations

import secrets
from typing import LiteralString

from psycopg import errors, sql

from memory_bank.base.errors import BadInput
from memory_bank.shared.engines.base import IndexInfo, RoleAccess
from memory_bank.shared.engines.postgres.connection import Connection, guarded, identifier
from memory_bank.shared.engines.postgres.tables import (
    MOST_DIMENSIONS,
    READ,
    VERSION,
    WRITTEN,
    statements,
)

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
            self._upgrade(0, dimension)
            for key, value in made_index_info._asdict().items():
                self._connection.execute(
                    "INSERT INTO memory_bank.meta VALUES (%s, %s)", (key, str(value))
                )
        return made_index_info

    def migrate(self) -> tuple[int, int]:
        """Bring the tables up to date; return the versions before and after."""
        with guarded(self._place), self._connection.transaction():
            self._connection.execute(_LOCK)
            index_info = self._existing()
            if index_info.version > VERSION:
                raise BadInput(
                    f"{self._place}: the tables have version {index_info.version}, this program"
                    f" {VERSION}",
                    "install a newer version of this program",
                )
            if index_info.version < VERSION:
                self._upgrade(index_info.version, index_info.dimension)
                self._connection.execute(
                    "UPDATE memory_bank.meta SET value = %s WHERE key = 'version'", (str(VERSION),)
                )
        return index_info.version, VERSION

    def drop(self) -> bool:
        """Remove the tables and all that is published; tell whether there were any."""
        with guarded(self._place), self._connection.transaction():
            self._connection.execute(_LOCK)
            index_info = self._stored_if_made()
            self._connection.execute("DROP SCHEMA IF EXISTS memory_bank CASCADE")
        return index_info is not None

    def grant(self, role: str, *, repo: str = "", team: str = "") -> bool:
        """Let a role read a repository, or those of a team; tell whether that is new."""
        with guarded(self._place), self._connection.transaction():
            self._existing()
            self._open(role, READ, "SELECT")
            rows = self._connection.execute(
                "INSERT INTO memory_bank.grants (role, repo, team) VALUES (%s, %s, %s)"
                " ON CONFLICT DO NOTHING",
                (role, self._repository(repo) if repo else None, team or None),
            )
        return rows.rowcount > 0

    def allow_publishing(self, role: str, repo: str) -> bool:
        """Let a role publish a repository; tell whether that is new."""
        with guarded(self._place), self._connection.transaction():
            self._existing()
            self._open(role, READ, "SELECT")
            self._open(role, WRITTEN, "INSERT, UPDATE, DELETE")
            rows = self._connection.execute(
                "INSERT INTO memory_bank.publishers VALUES (%s, %s) ON CONFLICT DO NOTHING",
                (role, self._repository(repo)),
            )
        return rows.rowcount > 0

    def revoke(self, role: str, *, repo: str = "", team: str = "") -> int:
        """Take from a role what it may do with a repository or a team; from all without both.

        Returns how many permissions it had.
        """
        with guarded(self._place), self._connection.transaction():
            self._existing()
            number = self._known(repo) if repo else None
            rowcount = self._connection.execute(
                "DELETE FROM memory_bank.grants WHERE role = %(role)s"
                " AND (%(all)s OR repo = %(repo)s OR team = %(team)s)",
                {"role": role, "all": not (repo or team), "repo": number, "team": team or None},
            ).rowcount
            if not team:
                rowcount += self._connection.execute(
                    "DELETE FROM memory_bank.publishers WHERE role = %(role)s"
                    " AND (%(all)s OR repo = %(repo)s)",
                    {"role": role, "all": not repo, "repo": number},
                ).rowcount
            self._close(role)
        return rowcount

    def assign(self, repo: str, team: str, *, remove: bool = False) -> bool:
        """Put a repository into a team, or out of it; tell whether that changed anything."""
        with guarded(self._place), self._connection.transaction():
            self._existing()
            text = "INSERT INTO memory_bank.teams VALUES (%s, %s) ON CONFLICT DO NOTHING"
            if remove:
                text = "DELETE FROM memory_bank.teams WHERE repo = %s AND team = %s"
            number = self._known(repo) if remove else self._repository(repo)
            return self._connection.execute(text, (number, team)).rowcount > 0

    def access(self) -> list[RoleAccess]:
        """Return who may do what, by role; nothing for a role that is not the owner."""
        text = (
            "SELECT role, 'publish', name, '' FROM memory_bank.publishers JOIN"
            " memory_bank.repositories USING (repo) UNION ALL"
            " SELECT role, 'read', coalesce(name, ''), coalesce(team, '') FROM memory_bank.grants"
            " LEFT JOIN memory_bank.repositories USING (repo) ORDER BY 1, 2, 3, 4"
        )
        try:
            with self._connection.transaction():
                return [RoleAccess(*row) for row in self._connection.execute(text)]
        except errors.InsufficientPrivilege:
            return []

    def _existing(self) -> IndexInfo:
        index_info = self._stored_if_made()
        if index_info is None:
            raise BadInput(f"{self._place}: there is no shared index", "make one first")
        return index_info

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

    def _upgrade(self, since: int, dimension: int) -> None:
        for text in statements(since, vector=self.vector_schema(), dimension=dimension):
            self._connection.execute(text.encode())

    def _open(self, role: str, tables: tuple[str, ...], rights: LiteralString) -> None:
        """Let a role use tables; row-level security says which rows."""
        self._check_role(role)
        name = identifier(role)
        self._connection.execute(sql.SQL("GRANT USAGE ON SCHEMA memory_bank TO {}").format(name))
        self._connection.execute(
            sql.SQL("GRANT {} ON {} TO {}").format(
                sql.SQL(rights),
                sql.SQL(", ").join(sql.Identifier("memory_bank", table) for table in tables),
                name,
            )
        )

    def _close(self, role: str) -> None:
        """Take the tables from a role that may do nothing more."""
        row = self._connection.execute(
            "SELECT EXISTS (SELECT FROM memory_bank.publishers WHERE role = %(role)s),"
            " EXISTS (SELECT FROM memory_bank.grants WHERE role = %(role)s),"
            " EXISTS (SELECT FROM pg_roles WHERE rolname = %(role)s)",
            {"role": role},
        ).fetchone()
        publishes, reads, exists = row or (False, False, False)
        if not exists:
            return
        name = identifier(role)
        if not publishes:
            for table in WRITTEN:
                self._connection.execute(
                    sql.SQL("REVOKE INSERT, UPDATE, DELETE ON {} FROM {}").format(
                        sql.Identifier("memory_bank", table), name
                    )
                )
        if not (publishes or reads):
            self._connection.execute(
                sql.SQL("REVOKE ALL ON ALL TABLES IN SCHEMA memory_bank FROM {}").format(name)
            )
            self._connection.execute(
                sql.SQL("REVOKE ALL ON SCHEMA memory_bank FROM {}").format(name)
            )

    def _check_role(self, role: str) -> None:
        row = self._connection.execute(
            "SELECT FROM pg_roles WHERE rolname = %s", (role,)
        ).fetchone()
        if row is None:
            raise BadInput(
                f"{self._place}: there is no role {role!r}",
                "make it first, with SQL: CREATE ROLE … LOGIN PASSWORD …",
            )

    def _repository(self, name: str) -> int:
        """Return the number of a repository, which is added if it is unknown."""
        self._connection.execute(
            "INSERT INTO memory_bank.repositories (name) VALUES (%s) ON CONFLICT DO NOTHING",
            (name,),
        )
        return self._known(name)

    def _known(self, name: str) -> int:
        row = self._connection.execute(
            "SELECT repo FROM memory_bank.repositories WHERE name = %s", (name,)
        ).fetchone()
        if row is None:
            raise BadInput(f"{self._place}: there is no repository {name!r}", "see its status")
        return int(row[0])
