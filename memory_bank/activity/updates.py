"""When notes were changed or remembered again, which no byte of them says; private."""

from collections.abc import Callable, Mapping
from pathlib import Path

from memory_bank.activity.log import Log

_TABLES = "CREATE TABLE updates (note TEXT PRIMARY KEY, last REAL NOT NULL) WITHOUT ROWID"
_VERSION = 1


class UpdateLog(Log):
    """When each note was updated last; it is known by its id, or by its path if it has none."""

    lost = "when it was updated is not written down"

    def __init__(self, folder: Path, repaired: Callable[[], object] = lambda: None) -> None:
        """Keep the log in `folder`; `repaired` is called when it had to be started again."""
        super().__init__(folder / "updates.db", _TABLES, _VERSION, repaired)

    def all(self) -> Mapping[str, float]:
        """Return when notes were updated, in seconds since the epoch; others are left out."""
        return dict(self.read("SELECT note, last FROM updates"))

    def add(self, note: str, now: float) -> str:
        """Write down that a note was updated; return why that can't be done, if so."""
        return self.write(
            "INSERT INTO updates VALUES (?1, ?2) ON CONFLICT DO UPDATE SET last = max(last, ?2)",
            [(note, now)],
        )

    def rename(self, old: str, new: str) -> str:
        """Carry over what is known of a note to its new path; return why not, if so."""
        if not self.file.exists():
            return ""
        return self.write("UPDATE OR REPLACE updates SET note = ? WHERE note = ?", [(new, old)])
