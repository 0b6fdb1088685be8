"""Show the quality of retrieval on a terminal, of one mode or two."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from memory_bank.base.errors import BadInput
from memory_bank.base.rendering import count
from memory_bank.base.screen import FOUND, NOTHING, Call, place

if TYPE_CHECKING:  # the verb names the view of its answer
    from memory_bank.review.records import Above, Evaluation, Miss


_INDENT = "   "


def minima(given: Sequence[str]) -> dict[str, float]:
    """Return the lowest accepted value of each measure; raise BadInput."""
    found = {}
    for pair in given:
        name, _, share = pair.partition("=")
        try:
            least = float(share)
        except ValueError:
            least = -1.0
        if not 0 <= least <= 1:  # nor NaN, below which nothing is
            message = f"{pair!r} is not MEASURE=SHARE from 0 to 1, for example recall@5=0.9"
            raise BadInput(message, "")
        found[name.strip().lower()] = least
    return found


_MISSES = 5
"""Misses that are shown; --json has all."""


def measured(call: Call, found: Evaluation) -> int:
    """Show the measures, and the notes that were not found."""
    call.answer(found, lambda found: _show(call, found))
    for score in found.scores:
        call.incomplete(score.fallback_reason)
    for short in found.shortfalls:
        call.warn(f"{short.measure} is {short.value:.3f} by {short.mode}, below {short.least:g}")
    return NOTHING if found.shortfalls else FOUND


def _show(call: Call, found: Evaluation) -> None:
    console = call.console
    console.line(f"{_queries(found.queries)}, {count(found.to_find, 'relevant note')}")
    console.line()
    heads = [score.mode for score in found.scores]
    if len(heads) > 1:
        heads.append("difference")
    _row(call, "measure", heads, style="bold")
    for name in found.scores[0].figures:
        figures = [score.figures[name] for score in found.scores]
        cells = [f"{figure:.3f}" for figure in figures]
        if len(figures) > 1:
            cells.append(f"{figures[1] - figures[0]:+.3f}")
        _row(call, name, cells, wide=[len(head) for head in heads])
    _show_misses(call, found)


def _row(
    call: Call, name: str, cells: Sequence[str], *, wide: Sequence[int] = (), style: str = ""
) -> None:
    widths = wide or [len(cell) for cell in cells]
    padded = [f"{cell:>{max(width, 8)}}" for cell, width in zip(cells, widths, strict=True)]
    call.console.line((f"{name:<10}  " + "  ".join(padded), style))


def _show_misses(call: Call, found: Evaluation) -> None:
    console = call.console
    shown = found.misses[:_MISSES]
    if shown:
        console.line()
        head = f"not among the first {found.within} ({len(found.misses)}):"
        console.line((head, "bad"))
    for miss in shown:
        console.line()
        _show_miss(call, miss, several=len(found.scores) > 1)
    if shown and len(found.misses) > _MISSES:
        console.line()
        console.line((f"… and {len(found.misses) - _MISSES} more: --json", "dim"))


def _show_miss(call: Call, miss: Miss, *, several: bool) -> None:
    console = call.console
    file, _, line = miss.place.rpartition(":")
    where = place(file, int(line)) if file else "query"
    console.line(
        (where, "place"), "  ", (miss.text, "bold"), (f"  by {miss.mode}" * several, "dim")
    )
    rank = "is not in the results" if miss.rank is None else f"has rank {miss.rank}"
    console.line(_INDENT, (miss.path, "place"), f" {rank}{_why(miss.reasons)}")
    for other in miss.above:
        _show_above(call, other)


def _show_above(call: Call, other: Above) -> None:
    heading = f"  {other.heading}" if other.heading else ""
    call.console.line(_INDENT, ("above ", "dim"), (f"{other.path}:{other.line}", "place"), heading)
    why = _why(other.reasons).removeprefix(": ")
    call.console.line(_INDENT, _INDENT, (why, "dim"))


def _why(reasons: Sequence[Any]) -> str:
    parts = [f"{reason.source} {reason.score:.2f}" for reason in reasons]
    return f": {', '.join(parts)}" if parts else ""


def _queries(number: int) -> str:
    return f"{number:,} {'query' if number == 1 else 'queries'}"
