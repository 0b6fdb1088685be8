"""What is found in the lanes of the code side: symbols, tests, documents, commits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from memory_bank.base.documents import Span
from memory_bank.code.index.database import IntentRow, SymbolRow
from memory_bank.code.index.symbol_table import SymbolTable

if TYPE_CHECKING:  # a lookup of names loads no index
    from memory_bank.search.engine import Hit


Lane = Literal["symbols", "tests", "docs", "commits"]

LANES: tuple[Lane, ...] = ("symbols", "tests", "docs", "commits")


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
