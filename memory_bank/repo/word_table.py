"""Keep the words of a work tree's files, of which the likeness of their texts is computed."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path

from memory_bank import sqlite
from memory_bank.errors import IndexDamaged
from memory_bank.layout import private_folder
from memory_bank.repo.likeness import MOST_CHARACTERS, Likeness, words_of
from memory_bank.repo.work_tree import TreeScan, WorkTree
from memory_bank.stat_signature import StatSignature, trusted

MOST_FILES = 20_000
"""Number of files that are compared, the first by path."""
_SECONDS = 10.0
"""Time after which the rest is left to the next refresh."""
_BATCH = 200
_TABLES = """
CREATE TABLE files (path TEXT PRIMARY KEY, signature TEXT NOT NULL, words TEXT NOT NULL)
    WITHOUT ROWID
"""
_VERSION = 1


class WordTable(sqlite.OpenedCache):
    """The words of the files of one work tree, in a database that can be deleted at any time."""

    def __init__(self, tree: WorkTree, file: Path) -> None:
        """Keep the words of `tree` in the database `file`."""
        super().__init__(file, _TABLES, _VERSION)
        self._tree = tree
        self._likeness: Likeness | None = None
        self._scan: TreeScan | None = None
        """The scan whose files were all read last."""
        self.files: frozenset[str] = frozenset()
        """All files, as of the last refresh, also those that are not compared."""
        self.notes: tuple[str, ...] = ()
        """What is left out, and why."""

    def refresh(self, scan: TreeScan) -> Likeness:
        """Read the files of a scan that changed; return the likeness of all.

        The same object is returned as long as no file changes; nothing is read for the scan of the
        last call. Raises StorageFailed if the database
        can't be used; Busy.
        """
        if scan is self._scan and self._likeness is not None:
            return self._likeness
        self.files = frozenset(scan.files.keys() | scan.refused.keys())
        wanted = {path: scan.files[path] for path in sorted(scan.files)[:MOST_FILES]}
        try:
            return self._refreshed(scan, wanted)
        except IndexDamaged:
            self.close()
            sqlite.remove(self.file)
            return self._refreshed(scan, wanted)

    def close(self) -> None:
        """Close the database."""
        self._likeness = None
        super().close()

    def _refreshed(self, scan: TreeScan, wanted: Mapping[str, StatSignature]) -> Likeness:
        with sqlite.guarded(self.file):
            base = self.opened()
            known = dict(base.execute("SELECT path, signature FROM files"))
            changed = [path for path, one in wanted.items() if known.get(path) != _text(one)]
            gone = [(path,) for path in known if path not in wanted]
            if gone:
                with sqlite.transaction(base):
                    base.executemany("DELETE FROM files WHERE path = ?", gone)
            left = self._read(base, changed)
            self.notes = _notes(len(self.files), len(wanted), left)
            if changed or gone or self._likeness is None:
                self._likeness = Likeness(_words(base))
            self._scan = None if left else scan
            return self._likeness

    def _read(self, base: sqlite.Connection, paths: list[str]) -> int:
        """Read files, until the time is up; return the number of those that are left."""
        end = time.monotonic() + _SECONDS
        for start in range(0, len(paths), _BATCH):
            rows = [self._row(path) for path in paths[start : start + _BATCH]]
            with sqlite.transaction(base):
                base.executemany("INSERT OR REPLACE INTO files VALUES (?, ?, ?)", rows)
            if time.monotonic() > end:
                return max(0, len(paths) - start - _BATCH)
        return 0

    def _row(self, path: str) -> tuple[str, str, str]:
        """Return the row of a file; one that can't be read, or is no text, has no words."""
        found = self._tree.read(path)
        if found is None or found.signature is None:
            return path, "", "{}"
        text = "" if found.reason else found.data[:MOST_CHARACTERS].decode("utf-8", "replace")
        words = words_of(path, text) if not found.reason else {}
        # a file that has just changed may change again without another signature
        signature = _text(found.signature) if trusted(found.signature) else ""
        return path, signature, json.dumps(words, ensure_ascii=False)

    def _connect(self) -> sqlite.Connection:
        private_folder(self.file.parent)
        return super()._connect()


def _words(base: sqlite.Connection) -> dict[str, Mapping[str, int]]:
    """Return the words of all files; raise IndexDamaged."""
    found: dict[str, Mapping[str, int]] = {}
    for path, text in base.execute("SELECT path, words FROM files ORDER BY path"):
        try:
            found[path] = {str(word): int(number) for word, number in json.loads(text).items()}
        except (AttributeError, TypeError, ValueError) as error:
            raise IndexDamaged("a row of words.db is damaged", "it is rebuilt") from error
    return found


def _notes(files: int, wanted: int, left: int) -> tuple[str, ...]:
    said = {
        f"only {MOST_FILES:,} of {files:,} files are compared": files > wanted == MOST_FILES,
        f"{left:,} of {wanted:,} files are not compared yet: the next call goes on": left > 0,
    }
    return tuple(note for note, applies in said.items() if applies)


def _text(signature: StatSignature) -> str:
    return " ".join(map(str, signature))
