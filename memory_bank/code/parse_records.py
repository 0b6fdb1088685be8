"""How parsed files are written: in the cache, and between the processes that parse."""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from typing import Any

from memory_bank.code.records import Import, Intent, ParsedFile, Symbol

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


def dumped(parsed: ParsedFile) -> str:
    """Return a parsed file as a text."""
    return json.dumps(parsed)


def loaded(text: str) -> ParsedFile | None:
    """Return a parsed file from its text; None if that is damaged."""
    try:
        language, symbols, imports, tests, doc, problem, whole, apart, refused = json.loads(text)
        return ParsedFile(
            language,
            tuple(_with_calls(Symbol, row) for row in symbols),
            tuple(_import(row) for row in imports),
            tuple(_with_calls(Intent, row) for row in tests),
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


def _with_calls(kind: Any, row: Sequence[Any]) -> Any:  # noqa: ANN401  (Symbol or Intent)
    *fields, calls = row
    return kind(*fields, tuple(calls))
