"""What a parsed source file has: symbols, imports and tests, and its text in a cache."""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from typing import Any

from memory_bank.base import NamedTuple

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
