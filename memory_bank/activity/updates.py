"""Log when notes were updated, in the private state of this machine."""

from collections.abc import Callable, Mapping
from pathlib import Path

from memory_bank.activity.log import Log

_TABLES = "CREATE TABLE updates (note TEXT PRIMARY KEY, last REAL NOT NULL) WITHOUT ROWID"
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

    def rename(self, old: str, new: str) -> str:
        """Rename a note in the log; return why that failed, or an empty text."""
        if not self.file.exists():
            return ""
        return self.write("UPDATE OR REPLACE updates SET note = ? WHERE note = ?", [(new, old)])
