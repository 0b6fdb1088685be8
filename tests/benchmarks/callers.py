"""`python -m tests.benchmarks.callers REPOSITORY... [--shown 20] [--seed 1]`.

Print a sample of the calls that are resolved, of each language, with the source lines of both
places, so that a person can judge them: does the call mean that definition?
"""

import argparse
import os
import random
import re
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

from memory_bank.base.errors import NoRepository
from memory_bank.code.calls import CallGraph
from memory_bank.code.index.codebase import Codebase, open_codebase
from memory_bank.code.index.database import SymbolRow, last_part

_AROUND = 1
"""Source lines shown on each side of a call."""
_HEAD = 3
"""Source lines shown of a definition."""


class Edge(NamedTuple):
    """A call that was resolved."""

    caller: SymbolRow
    called: SymbolRow
    written: str


def main() -> None:
    """Print the sample of each repository."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("repository", nargs="+", type=Path)
    options.add_argument("--shown", type=int, default=20, help="of each language")
    options.add_argument("--seed", type=int, default=1)
    asked = options.parse_args()
    with tempfile.TemporaryDirectory() as work:
        os.environ["XDG_CACHE_HOME"] = f"{work}/cache"
        for place in asked.repository:
            try:
                with open_codebase(place) as code:
                    _show(place, code, asked)
            except NoRepository as error:
                print(f"{place}: {error.message}")


def edges(code: Codebase) -> dict[str, list[Edge]]:
    """Return all calls that are resolved, by language of the caller."""
    code.refresh()
    graph = CallGraph(code.table, code.relations().imports)
    found = defaultdict[str, list[Edge]](list)
    for row in code.table.symbols("1"):
        for one in graph.callees(row):
            if isinstance(one.row, SymbolRow):
                found[row.language].append(Edge(row, one.row, one.written))
    return found


def _show(place: Path, code: Codebase, asked: argparse.Namespace) -> None:
    chosen = random.Random(asked.seed)
    for language, some in sorted(edges(code).items()):
        print(f"## {place.name}, {language}: {len(some)} calls")
        for number, one in enumerate(chosen.sample(some, min(asked.shown, len(some))), 1):
            print(f"\n[{number}] {one.caller.symbol.qualified} calls `{one.written}`")
            _lines(code, one.caller.path, *_call(code, one))
            start = _definition(code, one.called)
            print(f"  means {one.called.symbol.qualified} ({one.called.symbol.kind})?")
            _lines(code, one.called.path, start, start + _HEAD)
        print()


def _call(code: Codebase, one: Edge) -> tuple[int, int]:
    """Return the lines around the first place in the caller that looks like the call."""
    text = _text(code, one.caller.path)
    span = range(one.caller.symbol.line, min(one.caller.symbol.end_line, len(text) + 1))
    name = re.compile(rf"(?<![\w$]){re.escape(last_part(one.written))}(?![\w$])")
    first = [at for at in span if one.written in text[at - 1] and name.search(text[at - 1])]
    rest = [at for at in span if name.search(text[at - 1])]
    outside = [at for at in (first or rest) if at != _definition(code, one.caller)]
    at = next(iter([*outside, *rest, one.caller.symbol.line]))
    return at - _AROUND, at + _AROUND + 1


def _definition(code: Codebase, row: SymbolRow) -> int:
    """Return the line with the name of a symbol, which may be below its doc comment."""
    text = _text(code, row.path)
    span = range(row.symbol.line, min(row.symbol.end_line, len(text) + 1))
    start = row.symbol.signature[:20].split("(")[0]
    return next((at for at in span if start and start in text[at - 1]), row.symbol.line)


def _lines(code: Codebase, path: str, first: int, last: int) -> None:
    text = _text(code, path)
    for at in range(max(first, 1), min(last, len(text) + 1)):
        print(f"    {path}:{at}: {text[at - 1].rstrip()[:150]}")


def _text(code: Codebase, path: str) -> list[str]:
    read = code.tree.read(path)
    return read.data.decode("utf-8", "replace").split("\n") if read else []


if __name__ == "__main__":
    main()
