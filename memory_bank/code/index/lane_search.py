"""Search one lane of the code side: symbols, tests, documents or commits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from memory_bank.base.documents import Span
from memory_bank.code.index.database import IntentRow, SymbolRow
from memory_bank.code.index.symbol_table import SymbolTable

if TYPE_CHECKING:  # a lookup of names loads no index
    from memory_bank.code.index.lane import LaneView
    from memory_bank.search.engine import Hit, SearchResult
    from memory_bank.search.retrievers.base import Scope


Lane = Literal["symbols", "tests", "docs", "commits"]

LANES: tuple[Lane, ...] = ("symbols", "tests", "docs", "commits")

_KEYS = ("in", "kind", "language")
"""Keys of conditions in a query."""


class CodeHit(NamedTuple):
    """A symbol, a test or a section of a document in an answer."""

    lane: Lane
    path: str
    """Below the work tree; of a commit, its id."""
    line: int
    end_line: int
    headings: tuple[str, ...]
    """The parts of a symbol's name, a test's title, or the headings of a document."""
    score: float
    """The likelihood that it answers the query, 0 to 1."""
    weak: bool
    symbol: SymbolRow | None
    """None for a test, a document, and what is outside of symbols in a file."""
    test: IntentRow | None
    hit: Hit
    """The hit of the engine, with its reasons."""
    language: str
    """Of its file; empty for a document."""


class CodeResult(NamedTuple):
    """The hits of a search in one lane, the mode that was used, and why if it is another."""

    hits: tuple[CodeHit, ...]
    mode: str
    fallback_reason: str = ""


class CodeQuery(NamedTuple):
    """What is searched for."""

    text: str
    conditions: tuple[tuple[str, str], ...]
    """Keys of _KEYS with their values, besides those in the text."""
    mode: str
    limit: int
    now: float


def search(view: LaneView, asked: CodeQuery) -> SearchResult:
    """Return the best hits of a lane."""
    from memory_bank.search.query import parse  # start-up: lists are not searched

    parsed = parse(asked.text, _KEYS, times=False, kinds=False)
    stated = ((one.key, str(one.value)) for one in parsed.conditions if one.key in _KEYS)
    return view.engine.search(
        parsed.question,
        _scope(view, [*asked.conditions, *stated]),
        mode=asked.mode,
        limit=asked.limit,
        now=asked.now,
        unit="sections",
    )


def hits_of(table: SymbolTable, lane: Lane, hits: Sequence[Hit]) -> tuple[CodeHit, ...]:
    """Return hits of a lane with what the table knows of them."""
    names = [hit.best.section.name for hit in hits if hit.best.section.name]
    symbols = table.symbols_in("s.sym", names) if lane == "symbols" else []
    tests = table.tests_in("t.sym", names) if lane == "tests" else []
    by_symbol = {one.id: one for one in symbols}
    by_test = {one.id: one for one in tests}
    files = table.files() if lane in ("symbols", "tests") else {}
    found = []
    for hit in hits:
        section, best = hit.best.section, hit.best
        span = Span(section.line, section.end_line) if best.ordinal >= 0 else best.span
        found.append(
            CodeHit(
                lane=lane,
                path=hit.document.key,
                line=span.line,
                end_line=span.end_line,
                headings=section.headings,
                score=hit.score,
                weak=hit.weak,
                symbol=by_symbol.get(section.name),
                test=by_test.get(section.name),
                hit=hit,
                language=files[hit.document.key].language if hit.document.key in files else "",
            )
        )
    return tuple(found)


def _scope(view: LaneView, conditions: Sequence[tuple[str, str]]) -> Scope:
    """Return the passages that meet conditions on folder, kind and language."""
    from memory_bank.search.manifest import entries, filters
    from memory_bank.search.manifest.filters import Condition
    from memory_bank.search.retrievers.base import Scope

    on_files = [Condition(key, value) for key, value in conditions if key != "kind"]
    scope = filters.scope(view.manifest, on_files, hidden=True)
    for key, value in conditions:
        if key == "kind":
            wanted = [one.strip().casefold() for one in value.split(",") if one.strip()]
            rows = entries.passages_with(view.manifest, key, wanted)
            inside = {row: one for row, one in rows.items() if scope.holds(row, one)}
            scope = Scope(only=frozenset(inside.values()), rows=frozenset(inside))
    return scope
