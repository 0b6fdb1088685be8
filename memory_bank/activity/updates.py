"""Log when notes were updated, and the code that their writers had, privately to this machine."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from memory_bank import sqlite
from memory_bank.activity.log import Log

_TABLES = "CREATE TABLE updates (note TEXT PRIMARY KEY, last REAL NOT NULL) WITHOUT ROWID"
_HEADS = """
CREATE TABLE IF NOT EXISTS heads (
    etag TEXT PRIMARY KEY, head TEXT NOT NULL, time REAL NOT NULL
) WITHOUT ROWID
"""
"""Added to logs that were made without it: the version stays, since a log can't be rebuilt."""
_MOST_HEADS = 10_000
"""Number of versions of notes whose commit is kept: the newest."""
_VERSION = 1


class UpdateLog(Log):
    """The time of each note's last update, by the note's id, or its path if it has none."""

    lost = "when it was updated is not written down"
    table = "updates"

    def __init__(self, folder: Path, repaired: Callable[[], object] = lambda: None) -> None:
        """Keep the log in `folder`; `repaired` is called when it had to be started again."""
        super().__init__(folder / "updates.db", _TABLES, _VERSION, repaired)

    def all(self) -> Mapping[str, float]:
        """Return when notes were updated, in seconds since the epoch; others are left out."""
        return dict(self.read("SELECT note, last FROM updates"))

    def add(self, note: str, now: float) -> str:
        """Record that a note was updated; return why that failed, or an empty text."""
        return self.write(
            "INSERT INTO updates VALUES (?1, ?2) ON CONFLICT DO UPDATE SET last = max(last, ?2)",
            [(note, now)],
        )

    def wrote(self, etags: Iterable[str], head: str, now: float) -> str:
        """Record the commit that was checked out when contents of notes were written.

        Returns why that failed, or an empty text.
        """
        oldest = "SELECT etag FROM heads ORDER BY time DESC LIMIT -1 OFFSET ?"
        return self.write(
            "INSERT OR REPLACE INTO heads VALUES (?, ?, ?)", [(one, head, now) for one in etags]
        ) or self.write(f"DELETE FROM heads WHERE etag IN ({oldest})", [(_MOST_HEADS,)])

    def head(self, etag: str) -> str:
        """Return the commit that was checked out when a content was written; empty if unknown."""
        rows = self.read("SELECT head FROM heads WHERE etag IN ({})", [etag])
        return str(rows[0][0]) if rows else ""

    def rename(self, old: str, new: str) -> str:
        """Rename a note in the log; return why that failed, or an empty text."""
        if not self.file.exists():
            return ""
        return self.write("UPDATE OR REPLACE updates SET note = ? WHERE note = ?", [(new, old)])

    def _connect(self) -> sqlite.Connection:
        base = super()._connect()
        with sqlite.guarded(self.file):
            base.execute(_HEADS)
        return base
