"""Log how often and when notes were accessed, in the private state of this machine."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from memory_bank.activity.log import Log

_TABLES = """
CREATE TABLE accesses (
    note TEXT PRIMARY KEY, count INTEGER NOT NULL, last REAL NOT NULL
) WITHOUT ROWID
"""
_VERSION = 1


MOST = 2**63 - 1
"""Maximum count: SQLite converts a larger integer to an inexact number."""


class Access(NamedTuple):
    """How often a note was accessed, and when last (seconds since the epoch)."""

    times: int = 0
    last: float = 0.0


NEVER = Access()


class AccessLog(Log):
    """The counts of one bank, by the note's id, or its path if it has none."""

    lost = "accesses are not counted"
    table = "accesses"

    def __init__(self, folder: Path, repaired: Callable[[], object] = lambda: None) -> None:
        """Keep the counts in `folder`; `repaired` is called when they had to be started again."""
        super().__init__(folder / "access.db", _TABLES, _VERSION, repaired)

    def of(self, notes: Iterable[str]) -> Mapping[str, Access]:
        """Return the accesses of some notes; those never accessed are left out."""
        rows = self.read("SELECT note, count, last FROM accesses WHERE note IN ({})", notes)
        return {note: Access(min(int(count), MOST), last) for note, count, last in rows}

    def add(self, notes: Iterable[str], now: float) -> str:
        """Count one more access of each note; return why that can't be done, if so."""
        return self.write(
            "INSERT INTO accesses VALUES (?1, 1, ?2)"
            f" ON CONFLICT DO UPDATE SET count = min(count, {MOST - 1}) + 1, last = max(last, ?2)",
            [(note, now) for note in notes],
        )

    def rename(self, old: str, new: str) -> str:
        """Carry a note's counts over to its new path; return why that can't be done, if so."""
        if not self.file.exists():
            return ""
        return self.write("UPDATE OR REPLACE accesses SET note = ? WHERE note = ?", [(new, old)])
