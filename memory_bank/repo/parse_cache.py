"""Cache what was parsed of source files, by the ids of their blobs, for all work trees."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from memory_bank import sqlite
from memory_bank.errors import Busy, IndexDamaged, StorageFailed
from memory_bank.layout import private_folder
from memory_bank.repo.code import ParsedFile
from memory_bank.repo.parse_records import dumped, loaded

_TABLES = """
CREATE TABLE parses (
    blob BLOB NOT NULL, language TEXT NOT NULL, parsed TEXT NOT NULL,
    PRIMARY KEY (blob, language)
);
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID
"""
_VERSION = 1
_PARSER = "parser"
_MOST_ROWS = 200_000
"""Number of parsed files above which the oldest quarter is dropped."""

Key = tuple[bytes, str]
"""The id of a blob, and the language as which it is parsed."""


class ParseCache(sqlite.Opened):
    """A database of parsed files; without it, all are parsed again."""

    def __init__(self, file: Path, version: str) -> None:
        """Keep what the parser of that version returned."""
        super().__init__(file, _TABLES, _VERSION)
        self._parser = version

    def get(self, keys: Sequence[Key]) -> dict[Key, ParsedFile]:
        """Return those of some files that are known."""
        found: dict[Key, ParsedFile] = {}
        wanted = set(keys)
        sql = "SELECT blob, language, parsed FROM parses WHERE blob IN ({})"
        with suppress(Busy, IndexDamaged, StorageFailed), sqlite.guarded(self.file):
            blobs: Sequence[Any] = sorted({blob for blob, _ in wanted})
            for blob, language, text in sqlite.chunked(self.opened(), sql, blobs):
                if (blob, language) in wanted and (parsed := loaded(text)):
                    found[blob, language] = parsed
        return found

    def put(self, parsed: Iterable[tuple[Key, ParsedFile]]) -> None:
        """Keep parsed files; if they can't be kept, they are parsed again next time."""
        rows = [(*key, dumped(one)) for key, one in parsed]
        with suppress(Busy, IndexDamaged, StorageFailed), sqlite.guarded(self.file):
            base = self.opened()
            with sqlite.transaction(base):
                base.executemany("INSERT OR REPLACE INTO parses VALUES (?, ?, ?)", rows)
                _drop_oldest(base)

    def _connect(self) -> sqlite.Connection:
        """Open the database; make it again if it is damaged, empty it after a new version."""
        private_folder(self.file.parent)
        try:
            base = super()._connect()
            with sqlite.guarded(self.file):
                self._empty_if_old(base)
        except IndexDamaged:
            sqlite.remove(self.file)
            base = super()._connect()
            self._empty_if_old(base)
        return base

    def _empty_if_old(self, base: sqlite.Connection) -> None:
        asked = ("SELECT value FROM meta WHERE key = ?", (_PARSER,))
        if base.execute(*asked).fetchone() == (self._parser,):
            return
        with sqlite.transaction(base):
            if base.execute(*asked).fetchone() != (self._parser,):
                base.execute("DELETE FROM parses")
                base.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (_PARSER, self._parser))


def _drop_oldest(base: sqlite.Connection) -> None:
    (count,) = base.execute("SELECT count(*) FROM parses").fetchone()
    if count > _MOST_ROWS:
        oldest = "SELECT rowid FROM parses ORDER BY rowid LIMIT ?"
        base.execute(f"DELETE FROM parses WHERE rowid IN ({oldest})", (_MOST_ROWS // 4,))
