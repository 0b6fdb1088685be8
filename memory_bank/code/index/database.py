"""The database of the code of one work tree, and the cache of parsed files of all work trees."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from sqlite3 import Connection
from typing import Any

from blake3 import blake3

from memory_bank.base import NamedTuple, in_json, lazy_pattern, shorten, sqlite
from memory_bank.base.errors import IndexDamaged
from memory_bank.base.filenames import as_utf8
from memory_bank.code.parse.parsed_file import SYMBOL, TEST, Intent, ParsedFile, Symbol

_CODE_TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE files (
    id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, language TEXT NOT NULL,
    signature TEXT NOT NULL, blob BLOB NOT NULL, size INTEGER NOT NULL, doc TEXT NOT NULL,
    problem TEXT NOT NULL, reason TEXT NOT NULL, ids TEXT NOT NULL
);
CREATE TABLE refused (path TEXT PRIMARY KEY, reason TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE symbols (
    id INTEGER PRIMARY KEY, file INTEGER NOT NULL REFERENCES files ON DELETE CASCADE,
    sym TEXT NOT NULL, qualified TEXT NOT NULL, name TEXT NOT NULL, kind TEXT NOT NULL,
    signature TEXT NOT NULL, doc TEXT NOT NULL, line INTEGER NOT NULL, end_line INTEGER NOT NULL,
    fingerprint TEXT NOT NULL, bases TEXT NOT NULL, calls TEXT NOT NULL, test INTEGER NOT NULL
);
CREATE INDEX symbols_file ON symbols (file);
CREATE INDEX symbols_sym ON symbols (sym);
CREATE INDEX symbols_qualified ON symbols (qualified);
CREATE INDEX symbols_name ON symbols (name);
CREATE TABLE calls (
    name TEXT NOT NULL, symbol INTEGER NOT NULL REFERENCES symbols ON DELETE CASCADE,
    PRIMARY KEY (name, symbol)
) WITHOUT ROWID;
CREATE INDEX calls_symbol ON calls (symbol);
CREATE TABLE imports (
    file INTEGER NOT NULL REFERENCES files ON DELETE CASCADE,
    target TEXT NOT NULL, names TEXT NOT NULL, line INTEGER NOT NULL, bound TEXT NOT NULL
);
CREATE INDEX imports_file ON imports (file);
CREATE TABLE tests (
    id INTEGER PRIMARY KEY, file INTEGER NOT NULL REFERENCES files ON DELETE CASCADE,
    sym TEXT NOT NULL, title TEXT NOT NULL, snippet TEXT NOT NULL, line INTEGER NOT NULL,
    end_line INTEGER NOT NULL, framework TEXT NOT NULL, symbol TEXT NOT NULL, calls TEXT NOT NULL
);
CREATE INDEX tests_file ON tests (file);
CREATE INDEX tests_sym ON tests (sym);
CREATE INDEX tests_title ON tests (title);
CREATE TABLE test_calls (
    name TEXT NOT NULL, test INTEGER NOT NULL REFERENCES tests ON DELETE CASCADE,
    PRIMARY KEY (name, test)
) WITHOUT ROWID;
CREATE INDEX test_calls_test ON test_calls (test);
CREATE TABLE words (path TEXT PRIMARY KEY, signature TEXT NOT NULL, words BLOB NOT NULL)
"""

_CODE_VERSION = 5

_MOST_SNIPPET = 200

_GENERATION = "generation"

SEPARATOR = lazy_pattern(r"::|\??->|[?!&]?\.|[\\#]")
"""What stands between the parts of a name in a call, such as `::`, `?.` and `->`."""

_SYMBOL = (
    "SELECT s.id, s.sym, f.path, f.language, s.test, s.qualified, s.kind, s.signature, s.doc,"
    " s.line, s.end_line, s.fingerprint, s.bases, s.calls"
    " FROM symbols AS s JOIN files AS f ON f.id = s.file"
)

_TEST = (
    "SELECT t.sym, f.path, f.language, t.title, t.snippet, t.line, t.end_line, t.framework,"
    " t.symbol, t.calls FROM tests AS t JOIN files AS f ON f.id = t.file"
)


@in_json("id", "name", "kind", "language", "path", "line", "end_line", "signature", "snippet")
class SymbolRow(NamedTuple):
    """A symbol of the work tree."""

    number: int
    """Of its row; it changes with the file."""
    id: str
    path: str
    """Of its file, below the work tree."""
    language: str
    test: bool
    """Whether it is a test."""
    symbol: Symbol

    @property
    def name(self) -> str:
        """Its qualified name in its file."""
        return self.symbol.qualified

    @property
    def kind(self) -> str:
        """A function, a class and so on."""
        return self.symbol.kind

    @property
    def line(self) -> int:
        """Its first line."""
        return self.symbol.line

    @property
    def end_line(self) -> int:
        """The line after its last."""
        return self.symbol.end_line

    @property
    def signature(self) -> str:
        """Its declaration as written, on one line."""
        return self.symbol.signature

    @property
    def snippet(self) -> str:
        """The first sentence of its doc comment, else its signature, on one line."""
        from memory_bank.notes.sections import sentence_below  # start-up: loads a parser

        text = sentence_below(self.symbol.doc) or " ".join(self.symbol.signature.split())
        return shorten(text, _MOST_SNIPPET)


class IntentRow(NamedTuple):
    """A test of the work tree."""

    id: str
    path: str
    language: str
    intent: Intent

    @property
    def name(self) -> str:
        """What it says should happen."""
        return self.intent.title

    @property
    def line(self) -> int:
        """Its first line."""
        return self.intent.line


class FileRow(NamedTuple):
    """A file of the work tree that was read."""

    path: str
    language: str
    signature: str
    blob: bytes
    size: int
    ids: str = ""
    """Changes with the ids of its symbols and tests; empty before it is written."""
    reason: str = ""
    """Why it was refused when it was read; empty if it was not."""
    parsed: ParsedFile | None = None
    """What is written of it; of a row that was read, None."""


class CodeDatabase(sqlite.OpenedCache):
    """The open database; one that is damaged is made again."""

    def __init__(self, file: Path) -> None:
        super().__init__(file, _CODE_TABLES, _CODE_VERSION)

    def rows(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """Return the rows of a statement; a text that is not UTF-8 equals none."""
        parameters = [as_utf8(name) if isinstance(name, str) else name for name in values]
        with sqlite.convert_errors(self.file):
            return self.opened().execute(sql, parameters).fetchall()

    def chunked(self, sql: str, values: Sequence[int] | Sequence[str]) -> list[tuple[Any, ...]]:
        """Return the rows of a statement with `IN ({})` over any number of values."""
        with sqlite.convert_errors(self.file):
            return list(sqlite.execute_chunked(self.opened(), sql, values))

    def symbols(self, condition: str, *values: object) -> list[SymbolRow]:
        """Return the symbols `s` of files `f` that meet a condition, by file and line."""
        rows = self.rows(f"{_SYMBOL} WHERE {condition} ORDER BY f.path, s.line, s.id", *values)
        return [_parse_symbol(row) for row in rows]

    def symbols_in(self, column: str, values: Sequence[int] | Sequence[str]) -> list[SymbolRow]:
        """Return the symbols `s` of files `f` with one of some values, by file and line."""
        rows = self.chunked(f"{_SYMBOL} WHERE {column} IN ({{}})", values)
        return sorted(
            map(_parse_symbol, rows), key=lambda row: (row.path, row.symbol.line, row.number)
        )

    def tests(self, condition: str, *values: object) -> list[IntentRow]:
        """Return the tests `t` of files `f` that meet a condition, by file and line."""
        rows = self.rows(f"{_TEST} WHERE {condition} ORDER BY f.path, t.line, t.id", *values)
        return [_parse_test(row) for row in rows]

    def tests_in(self, column: str, values: Sequence[int] | Sequence[str]) -> list[IntentRow]:
        """Return the tests `t` of files `f` with one of some values, by file and line."""
        rows = self.chunked(f"{_TEST} WHERE {column} IN ({{}}) ORDER BY t.id", values)
        return sorted(map(_parse_test, rows), key=lambda row: (row.path, row.intent.line))

    @property
    def generation(self) -> int:
        """A number that grows with each change of the rows."""
        row = self.rows("SELECT value FROM meta WHERE key = ?", _GENERATION)
        return int(row[0][0]) if row else 0

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Run the body in one transaction, as a new generation."""
        with sqlite.convert_errors(self.file):
            base = self.opened()
            with sqlite.transaction(base):
                sql = (
                    "INSERT INTO meta VALUES (?, '1')"
                    " ON CONFLICT DO UPDATE SET value = CAST(value AS INTEGER) + 1"
                )
                base.execute(sql, (_GENERATION,))
                yield base


def replace_files(base: Connection, files: Sequence[FileRow], gone: Collection[str] = ()) -> None:
    """Write files in place of their former rows, and remove those that are gone.

    The ids of symbols with the same names in other files change with them.
    """
    paths = [*gone, *(file.path for file in files)]

    def read_column(sql: str, values: Sequence[Any]) -> list[Any]:
        return [value for (value,) in sqlite.execute_chunked(base, sql, values)]

    numbers = read_column("SELECT id FROM files WHERE path IN ({})", paths)
    names = set(read_column("SELECT qualified FROM symbols WHERE file IN ({})", numbers))
    titles = set(read_column("SELECT title FROM tests WHERE file IN ({})", numbers))
    base.executemany("DELETE FROM files WHERE id = ?", ((number,) for number in numbers))
    for file in files:
        _insert_file(base, file)
        if file.parsed is not None:
            names.update(symbol.qualified for symbol in file.parsed.symbols)
            titles.update(intent.title for intent in file.parsed.tests)
    changed = _give_ids(base, "symbols", "qualified", SYMBOL, sorted(names))
    changed |= _give_ids(base, "tests", "title", TEST, sorted(titles))
    _record_ids(base, sorted(changed))


def _insert_file(base: Connection, file: FileRow) -> None:
    parsed = file.parsed or ParsedFile(file.language)
    details = (parsed.doc, parsed.problem, file.reason, "")
    number = base.execute(
        "INSERT INTO files (path, language, signature, blob, size, doc, problem, reason, ids)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (file.path, file.language, file.signature, file.blob, file.size, *details),
    ).lastrowid
    tests = {intent.symbol for intent in parsed.tests if intent.symbol}
    for symbol in parsed.symbols:
        *fields, calls = symbol
        row_id = base.execute(
            "INSERT INTO symbols (file, sym, name, test, qualified, kind, signature, doc, line,"
            " end_line, fingerprint, bases, calls) VALUES (?, '', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                number,
                symbol.name,
                _is_in_test(symbol.qualified, tests),
                *fields,
                _dump_names(calls),
            ),
        ).lastrowid
        call_rows = ((name, row_id) for name in {last_part(call) for call in calls})
        base.executemany("INSERT INTO calls VALUES (?, ?)", call_rows)
    for intent in parsed.tests:
        *fields, calls = intent
        row_id = base.execute(
            "INSERT INTO tests (file, sym, title, snippet, line, end_line, framework, symbol,"
            " calls) VALUES (?, '', ?, ?, ?, ?, ?, ?, ?)",
            (number, *fields, _dump_names(calls)),
        ).lastrowid
        call_rows = ((name, row_id) for name in {last_part(call) for call in calls})
        base.executemany("INSERT INTO test_calls VALUES (?, ?)", call_rows)
    base.executemany(
        "INSERT INTO imports VALUES (?, ?, ?, ?, ?)",
        (
            (
                number,
                statement.target,
                _dump_names(statement.names),
                statement.line,
                _dump_names(statement.bound),
            )
            for statement in parsed.imports
        ),
    )


def _is_in_test(name: str, tests: Collection[str]) -> bool:
    """Tell whether a qualified name is that of a test, or of something inside one."""
    while name and name not in tests:
        name = name.rpartition(".")[0]
    return bool(name)


def _give_ids(
    base: Connection, table: str, column: str, prefix: str, names: Sequence[str]
) -> set[int]:
    """Give the rows of some names their ids; return the files whose ids changed."""
    sql = (
        f"SELECT f.language, t.{column}, f.path, t.id, t.sym, f.id FROM {table} AS t"
        f" JOIN files AS f ON f.id = t.file WHERE t.{column} IN ({{}})"
    )
    named_rows = set(sqlite.execute_chunked(base, sql, names))
    changes: list[tuple[str, int]] = []
    files: set[int] = set()
    for new_id, number, former_id, file in _yield_ids(prefix, named_rows):
        if new_id != former_id:
            changes.append((new_id, number))
            files.add(file)
    base.executemany(f"UPDATE {table} SET sym = ? WHERE id = ?", changes)
    return files


def _yield_ids(prefix: str, rows: Iterable[tuple[Any, ...]]) -> Iterator[tuple[str, int, str, int]]:
    """Yield the ids of rows of language, name, path, number, and what goes with the number.

    An id is the hash of language and name; if several files have that name, also of the path, and
    for the second and later ones in a file also of their order there.
    """
    for name_key, rows_of_name in groupby(sorted(rows), key=itemgetter(0, 1)):
        files = [list(group) for _, group in groupby(rows_of_name, key=itemgetter(2))]
        for file_rows in files:
            for order, (_, _, path, number, former_id, file) in enumerate(file_rows):
                parts = [*name_key, *([path] if len(files) > 1 else [])]
                parts += [f"#{order + 1}"] if order else []
                yield prefix + hash_parts(parts), number, former_id, file


def hash_parts(parts: Iterable[str]) -> str:
    """Return the digits of the id that some parts make."""
    return blake3("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:12]


def _record_ids(base: Connection, files: Sequence[int]) -> None:
    """Record for files the hash of the ids of their symbols and tests."""
    ids_by_file: dict[int, list[str]] = {number: [] for number in files}
    for table in ("symbols", "tests"):
        sql = f"SELECT file, sym FROM {table} WHERE file IN ({{}}) ORDER BY id"
        for number, symbol_id in sqlite.execute_chunked(base, sql, files):
            ids_by_file[number].append(symbol_id)
    base.executemany(
        "UPDATE files SET ids = ? WHERE id = ?",
        (
            (blake3(" ".join(ids).encode()).hexdigest()[:16], number)
            for number, ids in ids_by_file.items()
        ),
    )


def last_part(name: str) -> str:
    """Return the last part of a name as written in a call: `create` of `self.store.create`."""
    return SEPARATOR.sub(".", name).rstrip(".").rpartition(".")[2].strip()


def _dump_names(names: Iterable[str]) -> str:
    return json.dumps(list(names))


def parse_names(text: object) -> tuple[str, ...]:
    """Return names from a row; raise IndexDamaged."""
    try:
        return tuple(json.loads(str(text)))
    except (TypeError, ValueError) as error:
        raise IndexDamaged("a row of the code's database is damaged", "it is rebuilt") from error


def _parse_symbol(row: Sequence[Any]) -> SymbolRow:
    number, sym, path, language, test, *fields, calls = row
    symbol = Symbol(*fields)._replace(calls=parse_names(calls))
    return SymbolRow(number, sym, path, language, bool(test), symbol)


def _parse_test(row: Sequence[Any]) -> IntentRow:
    sym, path, language, *fields, calls = row
    return IntentRow(sym, path, language, Intent(*fields)._replace(calls=parse_names(calls)))
