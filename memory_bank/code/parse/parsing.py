"""Parse a source file into its symbols, imports and tests, which a cache keeps.

A file is untrusted: it is parsed in another process, within limits of memory and time.
"""

from __future__ import annotations

import atexit
import hashlib
import json
import struct
import threading
import zlib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from sqlite3 import Connection
from typing import Any

from memory_bank.base import NamedTuple, plugins, sqlite
from memory_bank.base.errors import Busy, IndexDamaged, StorageFailed
from memory_bank.base.paths import private_folder, user_folder
from memory_bank.code.parse import VERSION

KINDS = ("function", "class", "method", "constant", "interface", "enum", "type", "module")
"""What a symbol may be; `module` is also a namespace, `type` also a struct or an alias."""

EXAMPLE = "doctest"
"""The framework of tests that are examples in doc texts."""


class Symbol(NamedTuple):
    """A named definition in a file."""

    qualified: str
    """Its name with those of the definitions around it, joined by dots, such as `Bank.open`."""
    kind: str
    """One of KINDS."""
    signature: str
    """Its declaration as written, on one line, without its body."""
    doc: str
    """The text of its doc comment, without comment signs; empty if it has none."""
    line: int
    """1-based line where it starts, decorators and doc comment included."""
    end_line: int
    """The line after its last."""
    fingerprint: str
    """Hex digits that change with its code, not with its place, layout or comments."""
    bases: str = ""
    """The names of what the type around it extends or implements, separated by blanks."""
    calls: tuple[str, ...] = ()
    """The names that it calls, as written (`self.store.create`), each once, in order.

    `.create` is a method of an object that has no name.
    """

    @property
    def name(self) -> str:
        """The last part of its qualified name."""
        return self.qualified.rpartition(".")[2]


class Import(NamedTuple):
    """A module or file that a file imports."""

    target: str
    """As written: `memory_bank.notes`, `./util.js`, `stdio.h`."""
    names: tuple[str, ...]
    """The names that are taken from it; empty for all of it."""
    line: int
    bound: tuple[str, ...] = ()
    """What these are called in the file, if another name; without `names`, what all of it is
    called there (`import a as b`), or nothing if its names need no other (`from a import *`)."""


class Intent(NamedTuple):
    """What a test says should happen."""

    title: str
    """Its words, with those of the groups around it: `queue > retries 3 times on timeout`."""
    snippet: str
    """The source line that names it."""
    line: int
    end_line: int
    framework: str
    """pytest, unittest, describe, go, rust, junit …"""
    symbol: str = ""
    """The qualified name of its function; empty for a call such as `it("…")`."""
    calls: tuple[str, ...] = ()
    """The names that it calls, as written, each once, in order."""


class ParsedFile(NamedTuple):
    """What was found in one file."""

    language: str
    symbols: tuple[Symbol, ...] = ()
    imports: tuple[Import, ...] = ()
    tests: tuple[Intent, ...] = ()
    doc: str = ""
    """The text of the doc comment of the whole file."""
    problem: str = ""
    """Why it may be incomplete, such as a syntax error and its line."""
    fingerprint: str = ""
    """Hex digits that change with its code, not with its layout or comments; empty if it was not
    read to its end."""
    apart: tuple[tuple[int, int], ...] = ()
    """The spans of bytes that are comments, docs, imports or tests, in order."""
    refused: str = ""
    """Why nothing of it was read: it takes too much memory or time; empty if it was read."""


SYMBOL, TEST = "sym-", "test-"
"""Starts of the ids of symbols and of tests."""

READY = b"ready\n"
"""What a process writes that is about to read requests."""

OUT_OF_MEMORY = 3
"""Exit code of a process that got no more memory."""

REQUEST = struct.Struct(">dII")
"""Before a file: the seconds of processor time that it may take, the length of its language's name,
which follows, and its own length."""

ANSWER = struct.Struct(">I")
"""Before an answer: its length."""

MAX_ANSWER = 16_000_000
"""Maximum number of bytes of an answer: long names and docs may repeat in each symbol."""


def dump_file(parsed: ParsedFile) -> str:
    """Return a parsed file as a text."""
    return json.dumps(parsed)


def load_file(text: str) -> ParsedFile | None:
    """Return a parsed file from its text; None if that is damaged."""
    try:
        language, symbols, imports, tests, doc, problem, whole, apart, refused = json.loads(text)
        return ParsedFile(
            language,
            tuple(_load_with_calls(Symbol, row) for row in symbols),
            tuple(_import(row) for row in imports),
            tuple(_load_with_calls(Intent, row) for row in tests),
            doc,
            problem,
            whole,
            tuple((start, end) for start, end in apart),
            refused,
        )
    except (TypeError, ValueError):
        return None


def _import(row: Sequence[Any]) -> Import:
    target, names, line, bound = row
    return Import(target, tuple(names), line, tuple(bound))


def _load_with_calls(kind: Any, row: Sequence[Any]) -> Any:  # noqa: ANN401  (Symbol or Intent)
    *fields, calls = row
    return kind(*fields, tuple(calls))


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
