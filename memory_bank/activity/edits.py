"""Log which agents changed which notes, in the private state of this machine."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from memory_bank.activity.log import Log

_TABLES = """
CREATE TABLE edits (
    note TEXT NOT NULL, agent TEXT NOT NULL, first REAL NOT NULL, last REAL NOT NULL,
    PRIMARY KEY (note, agent)
) WITHOUT ROWID
"""
_VERSION = 1


class EditLog(Log):
    """The agents that changed each note, by the note's id, or its path if it has none."""

    lost = "who changed it is not written down"
    table = "edits"

    def __init__(self, folder: Path, repaired: Callable[[], object] = lambda: None) -> None:
        """Keep the log in `folder`; `repaired` is called when it had to be started again."""
        super().__init__(folder / "edits.db", _TABLES, _VERSION, repaired)

    def of(self, notes: Iterable[str]) -> Mapping[str, tuple[str, ...]]:
        """Return the agents that changed some notes, the first one first; the others left out."""
        rows = self.read("SELECT note, first, agent FROM edits WHERE note IN ({})", notes)
        found: dict[str, list[str]] = {}
        for note, _, agent in sorted(set(rows)):
            found.setdefault(note, []).append(agent)
        return {note: tuple(agents) for note, agents in found.items()}

    def add(self, notes: Iterable[str], agent: str, now: float) -> str:
        """Record that an agent changed notes, at a time in seconds since the epoch.

        Returns why that failed, or an empty text.
        """
        return self.write(
            "INSERT INTO edits VALUES (?1, ?2, ?3, ?3)"
            " ON CONFLICT DO UPDATE SET last = max(last, ?3)",
            [(note, agent, now) for note in notes],
        )

    def rename(self, old: str, new: str) -> str:
        """Rename a note in the log; return why that failed, or an empty text."""
        if not self.file.exists():
            return ""
        return self.write("UPDATE OR REPLACE edits SET note = ? WHERE note = ?", [(new, old)])

    def inherit(self, note: str, sources: Iterable[str]) -> str:
        """Add the agents of merged notes to a note; return why that failed, or an empty text."""
        if not self.file.exists():
            return ""
        return self.write(
            "INSERT OR IGNORE INTO edits SELECT ?1, agent, first, last FROM edits WHERE note = ?2",
            [(note, source) for source in sources],
        )
