"""`python -m tests.benchmarks.intents WORK_TREE...`: from what a test says to its symbol, and back.

The words of a test's title are searched among symbols: is one that the test calls among the first
five? And the first sentence of a symbol's doc, or its name, among tests: is one that calls it? The
code itself is the judge, so a test that calls much is easy, and a title that does not name what is
called is hard.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from memory_bank.base.errors import NoRepository
from memory_bank.code.guards import CALLS
from memory_bank.code.index.codebase import Codebase, open_codebase
from memory_bank.code.symbols import snippet

_FIRST = 5
_MOST = 300
"""Questions of each kind, evenly from all."""


def main(places: Sequence[str]) -> None:
    """Print a line for each work tree."""
    if not places:
        print("no work tree is named: nothing is measured")
        return
    print(f"{'work tree':<16}{'tests':>8}{'to symbol':>12}{'symbols':>10}{'to test':>10}")
    with tempfile.TemporaryDirectory() as work:
        os.environ["XDG_CACHE_HOME"] = f"{work}/cache"
        for place in places:
            try:
                with open_codebase(Path(place)) as code:
                    code.catch_up(seconds=1000)
                    _measure(Path(place).name, code)
            except NoRepository as error:
                print(f"{place}: {error.message}")


def _measure(name: str, code: Codebase) -> None:
    relations = code.relations()
    forth, back = [], []
    for test in _some(code.table.tests("1")):
        found = [one.called for one in relations.calls.called_by_test(test) if one.called]
        called = {one.id for one in found if not one.test and one.path != test.path}
        if called:
            hits = code.search("symbols", test.intent.title, _FIRST).hits
            forth.append(any(one.symbol and one.symbol.id in called for one in hits))
    for symbol in _some(code.table.symbols("NOT s.test")):
        callers = {one.test.id for one in relations.guards.of_symbol(symbol) if one.how == CALLS}
        if callers:
            hits = code.search("tests", snippet(symbol), _FIRST).hits
            back.append(any(one.test and one.test.id in callers for one in hits))
    print(
        f"{name:<16}{len(forth):>8}{_share(forth):>12.2f}{len(back):>10}{_share(back):>10.2f}",
        flush=True,
    )


def _some(rows: Sequence[Any]) -> Iterable[Any]:
    return rows[:: max(1, len(rows) // _MOST)]


def _share(found: Sequence[bool]) -> float:
    return sum(found) / max(1, len(found))


if __name__ == "__main__":
    main(sys.argv[1:])
