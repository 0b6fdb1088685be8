"""Cache what is stale in each note, by its content and the commit that is checked out."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from memory_bank import sqlite
from memory_bank.errors import Busy, IndexDamaged, StorageFailed
from memory_bank.repo import parsing, path_changes

_TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE notes (
    path TEXT PRIMARY KEY, etag TEXT NOT NULL, files TEXT NOT NULL, found TEXT NOT NULL,
    holds INTEGER NOT NULL
) WITHOUT ROWID
"""
_VERSION = 3
_MOST_CHANGED = 5_000
"""Number of changed files above which all notes are compared again."""
ANY = "*"
"""Stands for all files, among those on which a result depends."""


class StaleLine(NamedTuple):
    """A citation of code in a note that is another now, and what is said of it."""

    line: int
    """0 for one in the front matter, which is about all of the note."""
    reason: str
    stale: bool = True
    """False if only the cited file changed, not what the note names in it."""


class NoteState(NamedTuple):
    """What became of the code that a version of a note cites."""

    etag: str
    files: tuple[str, ...]
    """The files on which that depends, below the work tree; ANY for all, or `anywhere`."""
    found: tuple[StaleLine, ...]
    holds: bool = False
    """Whether it was confirmed, or cites code that was compared, and all of that is as it was."""


class StaleCache(sqlite.OpenedCache):
    """The stale citations of one bank's notes at one commit; it can be removed at any time."""

    def __init__(self, file: Path, tree: Path) -> None:
        """Keep it in a file; nothing is opened yet."""
        super().__init__(file, _TABLES, _VERSION)
        self._tree = tree

    def get(self, head: str, notes: Mapping[str, str]) -> dict[str, NoteState]:
        """Return what is known at a commit of notes, given as path and etag."""
        try:
            with sqlite.guarded(self.file):
                self._advance(head)
                sql = "SELECT path, etag, files, found, holds FROM notes WHERE path IN ({})"
                rows = list(sqlite.chunked(self.opened(), sql, sorted(notes)))
        except IndexDamaged:
            with suppress(OSError):
                sqlite.discard(self.file)
            return {}
        except (Busy, StorageFailed):
            return {}
        states = {path: state for path, *row in rows if (state := _state(row)) is not None}
        return {path: state for path, state in states.items() if state.etag == notes[path]}

    def put(self, head: str, states: Mapping[str, NoteState]) -> None:
        """Keep what was found at a commit, if the cache is still at it."""
        rows = [
            (path, one.etag, json.dumps(one.files), json.dumps(one.found), one.holds)
            for path, one in states.items()
        ]
        with suppress(Busy, IndexDamaged, StorageFailed), sqlite.guarded(self.file):
            base = self.opened()
            with sqlite.transaction(base):
                if self._meta("head") == _key(head):
                    base.executemany("INSERT OR REPLACE INTO notes VALUES (?, ?, ?, ?, ?)", rows)

    def give_up(self, head: str) -> None:
        """Note that git could not say in time what changed up to a commit."""
        self._write("late", _key(head))

    def gave_up(self, head: str) -> bool:
        """Tell whether git could not say that in time."""
        with suppress(Busy, IndexDamaged, StorageFailed), sqlite.guarded(self.file):
            return self._meta("late") == _key(head)
        return False

    def _meta(self, key: str) -> str:
        row = self.opened().execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return str(row[0]) if row else ""

    def _write(self, key: str, value: str) -> None:
        with suppress(Busy, IndexDamaged, StorageFailed), sqlite.guarded(self.file):
            sql = "INSERT OR REPLACE INTO meta VALUES (?, ?)"
            self.opened().execute(sql, (key, value))

    def _advance(self, head: str) -> None:
        """Remove what another commit may have changed."""
        before = self._meta("head")
        if before == _key(head):
            return
        changed = self._changed(before, head)
        base = self.opened()
        with sqlite.transaction(base):
            if changed is None:
                base.execute("DELETE FROM notes")
            elif changed:
                changed = {*changed, *map(anywhere, changed)}
                rows = base.execute("SELECT path, files FROM notes").fetchall()
                gone = [(path,) for path, files in rows if _depends(files, changed)]
                base.executemany("DELETE FROM notes WHERE path = ?", gone)
            base.execute("INSERT OR REPLACE INTO meta VALUES ('head', ?)", (_key(head),))

    def _changed(self, before: str, head: str) -> Collection[str] | None:
        """Return the files that differ from the commit before; None if all notes may."""
        version, _, old = before.partition(" ")
        if version != parsing.VERSION or not path_changes.is_ancestor(self._tree, old, head):
            return None
        found = path_changes.changed(self._tree, old, head)
        return None if found is None or len(found) > _MOST_CHANGED else frozenset(found)


def _key(head: str) -> str:
    return f"{parsing.VERSION} {head}"


def anywhere(path: str) -> str:
    """Stand for all files with the name of a path, in any folder."""
    return f"{ANY}/{path.rpartition('/')[2]}"


def _depends(files: str, changed: Collection[str]) -> bool:
    """Tell whether a row depends on a changed file, in its folder or `anywhere`."""
    for file in json.loads(files):
        if file == ANY or file in changed or any(one.startswith(f"{file}/") for one in changed):
            return True
    return False


def _state(row: Sequence[str]) -> NoteState | None:
    try:
        etag, files, found, holds = row
        lines = tuple(
            StaleLine(int(line), str(reason), bool(stale))
            for line, reason, stale in json.loads(found)
        )
        return NoteState(str(etag), tuple(map(str, json.loads(files))), lines, bool(holds))
    except (TypeError, ValueError):
        return None
