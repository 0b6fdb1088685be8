"""List the tests that guard a symbol or a file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from memory_bank.base.errors import SymbolNotFound
from memory_bank.base.operation import Param, operation
from memory_bank.code import lookup, shown
from memory_bank.code.code_names import existing_file, file_of
from memory_bank.code.guards import Guard
from memory_bank.code.index.codebase import Codebase
from memory_bank.code.index.database import SymbolRow
from memory_bank.code.records import GuardingTests, GuardShown

SCHEMA_VERSION = "1.0"

MOST = 1000
"""Most tests of one answer."""


@operation(
    "tests-for",
    why="""
    Lists the tests that guard a symbol or a file of the code, with what each says should happen:
    a file's own tests, then those that call it, are named after it, or import it. A file of that
    name comes before a symbol. No bank is needed.
    """,
    examples=(
        ("memory-bank tests-for Bank.open", "what must still hold when it changes"),
        ("memory-bank tests-for src/jobs.py", "of a file"),
        ("memory-bank tests-for Bank.open --json | jq -r '.tests[].test_file'", "for a program"),
    ),
    group="Code",
    show=shown.tests,
)
def tests_for(
    code: Codebase,
    name: Annotated[
        str, Param(argument=True, metavar="SYMBOL|FILE", complete="symbols", read=shown.given_path)
    ],
    limit: Annotated[int, Param("Most tests; default: 100", metavar="N")] = 100,  # noqa: PT028  (no test)
) -> GuardingTests:
    """List the tests that guard a symbol or a file.

    Return the tests that guard a symbol, or a file if that is what has the name.

    That is best effort, by calls, names and imports. `limit` is clamped to 1 to 1,000. Raises
    SymbolNotFound, BadInput for a path out of the work tree, FileNotFound.
    """
    limit = min(max(limit, 1), MOST)
    with code.lock:
        problem = code.refresh()
        path = existing_file(code, name)
        guards = code.relations().guards
        if path:
            shown, kind, found = path, "file", guards.of_file(path)
        else:
            row = _symbol(code, name)
            shown, kind, path = row.symbol.qualified, "symbol", row.path
            found = guards.of_symbol(row)
    tests = guards_shown(found[:limit])
    more = len(found) > limit
    return GuardingTests(
        SCHEMA_VERSION, shown, kind, path, len(tests), tests, more, problem or None
    )


def guards_shown(guards: Sequence[Guard]) -> tuple[GuardShown, ...]:
    """Return guards as answers show them."""
    return tuple(
        GuardShown(
            id=one.test.id,
            title=one.test.intent.title,
            snippet=one.test.intent.snippet,
            test_file=one.test.path,
            line=one.test.intent.line,
            how=one.how,
            confidence=one.confidence,
        )
        for one in guards
    )


def _symbol(code: Codebase, name: str) -> SymbolRow:
    """Return a symbol; a name that looks like a path is an unknown file."""
    try:
        return lookup.symbol_named(code.table, name)
    except SymbolNotFound:
        if "#" not in name and ("/" in name or "\\" in name):
            file_of(code, name)
        raise
