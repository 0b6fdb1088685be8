"""Log which agents changed which notes, in the private state of this machine."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from memory_bank import sqlite
from memory_bank.activity.log import Log

_TABLES = """
CREATE TABLE edits (
    note TEXT NOT NULL, agent TEXT NOT NULL, first REAL NOT NULL, last REAL NOT NULL,
    PRIMARY KEY (note, agent)
) WITHOUT ROWID
"""
_WRITES = """
CREATE TABLE IF NOT EXISTS writes (
    note TEXT NOT NULL, agent TEXT NOT NULL, time REAL NOT NULL, PRIMARY KEY (note, time, agent)
) WITHOUT ROWID
"""
"""Added to logs that were made without it: the version stays, since a log can't be rebuilt."""
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

    def names(self) -> frozenset[str]:
        """Return the notes that agents are known to have changed."""
        return frozenset(note for (note,) in self.read("SELECT DISTINCT note FROM edits"))

    def state(self) -> str:
        """Return a text that differs after each change."""
        return repr(self.read("SELECT count(*), sum(last), max(last) FROM edits"))

    def times(self, notes: Iterable[str]) -> tuple[tuple[float, str], ...]:
        """Return when agents changed some notes, in seconds since the epoch, the first one first.

        Of changes that an older version recorded, only each agent's first and last are known.
        """
        wanted = list(notes)
        sql = "SELECT note, agent, first, last FROM edits WHERE note IN ({})"
        found = {(when, agent) for _, agent, *both in self.read(sql, wanted) for when in both}
        sql = "SELECT time, agent FROM writes WHERE note IN ({})"
        return tuple(sorted(found.union((when, agent) for when, agent in self.read(sql, wanted))))

    def add(self, notes: Iterable[str], agent: str, now: float) -> str:
        """Record that an agent changed notes, at a time in seconds since the epoch.

        Returns why that failed, or an empty text.
        """
        rows = [(note, agent, now) for note in notes]
        return self.write(
            "INSERT INTO edits VALUES (?1, ?2, ?3, ?3)"
            " ON CONFLICT DO UPDATE SET last = max(last, ?3)",
            rows,
        ) or self.write("INSERT OR IGNORE INTO writes VALUES (?, ?, ?)", rows)

    def rename(self, old: str, new: str) -> str:
        """Rename a note in the log; return why that failed, or an empty text."""
        if not self.file.exists():
            return ""
        return self._each("UPDATE OR REPLACE {} SET note = ? WHERE note = ?", [(new, old)])

    def forget(self, notes: Iterable[str]) -> str:
        """Remove notes that no longer exist; return why that failed, or an empty text."""
        if not self.file.exists():
            return ""
        return self._each("DELETE FROM {} WHERE note = ?", [(note,) for note in notes])

    def inherit(self, note: str, sources: Iterable[str]) -> str:
        """Add the agents of merged notes to a note; return why that failed, or an empty text."""
        if not self.file.exists():
            return ""
        rows = [(note, source) for source in sources]
        return self.write(
            "INSERT OR IGNORE INTO edits SELECT ?1, agent, first, last FROM edits WHERE note = ?2",
            rows,
        ) or self.write(
            "INSERT OR IGNORE INTO writes SELECT ?1, agent, time FROM writes WHERE note = ?2", rows
        )

    def _each(self, sql: str, rows: Sequence[tuple[object, ...]]) -> str:
        """Run a statement on both tables; return why that failed, or an empty text."""
        return self.write(sql.format("edits"), rows) or self.write(sql.format("writes"), rows)

    def _connect(self) -> sqlite.Connection:
        base = super()._connect()
        with sqlite.guarded(self.file):
            base.execute(_WRITES)
        return base
