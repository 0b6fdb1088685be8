"""Replace a text in all columns of a database, and remove what is left of it in the file."""

from __future__ import annotations

from memory_bank import sqlite
from memory_bank.removed_text import RemovedText

_SCRUB_SECONDS = 5.0
"""Seconds to wait for another process that reads the write-ahead log."""


def count(base: sqlite.Connection, removed: RemovedText) -> int:
    """Return how many values have the text."""
    _define(base, removed)
    return sum(
        int(base.execute(f"SELECT count(*) FROM {table} WHERE {_has(name)}").fetchone()[0])
        for table, name in _columns(base)
    )


def replace(base: sqlite.Connection, removed: RemovedText) -> int:
    """Replace the text in all values, inside a transaction; return how many had it.

    Of rows that become alike in a primary key, the last one stays.
    """
    _define(base, removed)
    return sum(
        base.execute(
            f"UPDATE OR REPLACE {table} SET {name} = forgotten_in({name}) WHERE {_has(name)}"
        ).rowcount
        for table, name in _columns(base)
    )


def scrub(base: sqlite.Connection, seconds: float = _SCRUB_SECONDS) -> bool:
    """Write the file anew and empty its log, so that nothing removed can be read from it.

    False if another process read the log for longer than some seconds: it may hold old rows.
    """
    base.execute(f"PRAGMA busy_timeout = {seconds * 1000:.0f}")
    base.execute("VACUUM")
    (busy, _, _) = base.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    return not busy


def _define(base: sqlite.Connection, removed: RemovedText) -> None:
    base.create_function("forgotten_in", 1, removed.replaced_in_json, deterministic=True)
    base.create_function("has_forgotten", 1, removed.count, deterministic=True)


def _has(column: str) -> str:
    return f"typeof({column}) = 'text' AND has_forgotten({column})"


def _columns(base: sqlite.Connection) -> list[tuple[str, str]]:
    """Return the tables of a database with their columns, as SQL has their names."""
    tables = base.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    return [
        (f'"{table}"', f'"{row[1]}"')
        for (table,) in tables
        if not table.startswith("sqlite_")
        for row in base.execute(f'PRAGMA table_info("{table}")')
    ]
