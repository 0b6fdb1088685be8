"""Parse a source file into its symbols, imports and tests, which a cache keeps.

A file is untrusted: it is parsed in another process, within limits of memory and time.
"""

from __future__ import annotations

import atexit
import hashlib
import threading
import zlib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from sqlite3 import Connection
from typing import Any

from memory_bank.base import plugins, sqlite
from memory_bank.base.errors import Busy, IndexDamaged, StorageFailed
from memory_bank.base.paths import private_folder, user_folder
from memory_bank.code.parse import VERSION
from memory_bank.code.parse.parsed_file import ParsedFile, dump_file, load_file

_PARSE_TABLES = """
CREATE TABLE parses (
    blob BLOB NOT NULL, language TEXT NOT NULL, parsed BLOB NOT NULL,
    PRIMARY KEY (blob, language)
);
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID
"""

_PARSE_VERSION = 1

_PARSER = "parser"

_MOST_ROWS = 200_000
"""Number of parsed files above which the oldest quarter is dropped."""

Key = tuple[bytes, str]
"""The id of a blob, and the language as which it is parsed."""


class ParseCache(sqlite.Opened):
    """A database of parsed files; without it, all are parsed again."""

    def __init__(self, file: Path, version: str) -> None:
        super().__init__(file, _PARSE_TABLES, _PARSE_VERSION)
        self._parser = version

    def get(self, keys: Sequence[Key]) -> dict[Key, ParsedFile]:
        """Return the parsed files among some that are known."""
        parsed_files: dict[Key, ParsedFile] = {}
        missing = set(keys)
        sql = "SELECT blob, language, parsed FROM parses WHERE blob IN ({})"
        with suppress(Busy, IndexDamaged, StorageFailed), sqlite.convert_errors(self.file):
            blobs: Sequence[Any] = sorted({blob for blob, _ in missing})
            for blob, language, data in sqlite.execute_chunked(self.opened(), sql, blobs):
                if (blob, language) in missing and (parsed := _unpack_file(data)):
                    parsed_files[blob, language] = parsed
        return parsed_files

    def put(self, parsed_files: Iterable[tuple[Key, ParsedFile]]) -> None:
        """Keep parsed files; if they can't be kept, they are parsed again next time."""
        rows = [(*key, zlib.compress(dump_file(parsed).encode())) for key, parsed in parsed_files]
        with suppress(Busy, IndexDamaged, StorageFailed), sqlite.convert_errors(self.file):
            base = self.opened()
            with sqlite.transaction(base):
                base.executemany("INSERT OR REPLACE INTO parses VALUES (?, ?, ?)", rows)
                _drop_oldest(base)

    def _connect(self) -> Connection:
        """Open the database; make it again if it is damaged, empty it after a new version."""
        private_folder(self.file.parent)
        try:
            base = super()._connect()
            with sqlite.convert_errors(self.file):
                self._empty_if_old(base)
        except IndexDamaged:
            sqlite.remove(self.file)
            base = super()._connect()
            self._empty_if_old(base)
        return base

    def _empty_if_old(self, base: Connection) -> None:
        query = ("SELECT value FROM meta WHERE key = ?", (_PARSER,))
        if base.execute(*query).fetchone() == (self._parser,):
            return
        with sqlite.transaction(base):
            if base.execute(*query).fetchone() != (self._parser,):
                base.execute("DELETE FROM parses")
                base.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (_PARSER, self._parser))


def _unpack_file(data: bytes) -> ParsedFile | None:
    """Return a parsed file; None if its data is damaged."""
    try:
        return load_file(zlib.decompress(data).decode())
    except (TypeError, ValueError, zlib.error):
        return None


def _drop_oldest(base: Connection) -> None:
    (count,) = base.execute("SELECT count(*) FROM parses").fetchone()
    if count > _MOST_ROWS:
        oldest = "SELECT rowid FROM parses ORDER BY rowid LIMIT ?"
        base.execute(f"DELETE FROM parses WHERE rowid IN ({oldest})", (_MOST_ROWS // 4,))


_REFUSED = "refused.db"

_lock = threading.Lock()


def parse(data: bytes, language: str) -> ParsedFile:
    """Return what is in a file; broken code gives what can be read, and a problem.

    A file that exceeds a limit is refused, and remembered by the hash of its content. Raises
    StorageFailed if no process can be started.
    """
    key = hashlib.sha256(data).digest(), language
    cache = _refusals(user_folder("cache") / "code" / _REFUSED)
    with _lock:
        if cache.file.exists() and (parsed_files := cache.get([key])):
            return parsed_files[key]
    from memory_bank.code.parse import parse_process  # start-up: most files are known

    parsed_file = parse_process.parse(data, language)
    if parsed_file.refused:
        with _lock:
            cache.put([(key, parsed_file)])
    return parsed_file


def parser_version() -> str:
    """Return what changes whenever files are parsed into other records."""
    return "+".join(filter(None, (VERSION, plugins.plugins_version("code.languages"))))


@cache
def _refusals(file: Path) -> ParseCache:
    """Return the cache of the files that are refused, of all repositories."""
    cache = ParseCache(file, parser_version())
    atexit.register(cache.close)
    return cache
