"""`memory-bank eval`: measure the quality of retrieval."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from memory_bank.base.errors import BadInput
from memory_bank.base.operation import Limit, Param, operation
from memory_bank.base.rendering import count
from memory_bank.base.screen import FOUND, NOTHING, Call, place

if TYPE_CHECKING:
    from memory_bank.review.evaluate import Above, Evaluation, Miss


_MODES = ("lexical", "semantic", "hybrid")

_MOVED = "eval reads a file; for test collections in folders see docs/benchmarks.md"

_INDENT = "   "


def _pair(given: str | None) -> tuple[str, ...]:
    modes = tuple(mode.strip() for mode in given.split(",")) if given else ()
    if modes and (len(set(modes)) != 2 or not set(modes) <= set(_MODES)):  # noqa: PLR2004  (a pair)
        raise BadInput(f"name two of: {', '.join(_MODES)}", "")
    return modes


def _least(given: Sequence[str]) -> dict[str, float]:
    minima = {}
    for pair in given:
        name, _, share = pair.partition("=")
        try:
            least = float(share)
        except ValueError:
            least = -1.0
        if not 0 <= least <= 1:  # nor NaN, below which nothing is
            message = f"{pair!r} is not MEASURE=SHARE from 0 to 1, for example recall@5=0.9"
            raise BadInput(message, "")
        minima[name.strip().lower()] = least
    return minima


@operation(
    "eval",
    why="""
    FILE contains queries, each with the relevant notes; without it, they are those of the bank, its
    file queries.toml. A TOML file:

    \b
    [[queries]]
    text = "why tantivy?"
    find = ["decisions/tantivy"]

    or one JSON object per line: {"text": "why tantivy?", "find": ["decisions/tantivy"]}. A name may
    mean a section: note#heading, note:line. find may contain grades: {"facts/bm25": 2}.

    Prints recall@1, @5 and @10 (the share of the relevant notes among the first 1, 5 and 10
    results), NDCG@10, the mean reciprocal rank, and each miss with the scores of the notes ranked
    above it. No access is counted. For CI, --min sets the lowest accepted value, and --steady
    disables boosts by age and use, which depend on the day and the machine; without FILE, they are
    always disabled.
    """,
    examples=(
        ("memory-bank eval --min recall@5=0.8", "the bank's queries, in CI: exit code 1 if below"),
        ("memory-bank eval queries.toml", "measure the default mode"),
        ("memory-bank eval queries.toml --compare lexical,hybrid", "two modes side by side"),
        (
            "memory-bank eval queries.toml --steady --min recall@5=0.9",
            "in CI: exit code 1 if below",
        ),
    ),
    group="Look after",
)
def command(
    call: Call,
    *,
    file: Annotated[str | None, Param(argument=True, path="existing")] = None,
    mode: Annotated[
        str | None, Param("lexical, semantic, hybrid", metavar="MODE", choices=_MODES)
    ] = None,
    compare: Annotated[str, Param("Two modes side by side", metavar="MODE,MODE", read=_pair)] = "",
    limit: Annotated[Limit, Param("Results per query, 10 to 100; default: 10")] = None,
    within: Annotated[
        int | None, Param("A miss is ranked below N; default: 5", metavar="N", least=1)
    ] = None,
    misses: Annotated[int | None, Param("Misses to show; default: 5", metavar="N", least=0)] = None,
    least: Annotated[
        tuple[str, ...],
        Param(
            "Exit with 1 if a measure is below, e.g. recall@5=0.9",
            flags="--min",
            metavar="MEASURE=SHARE",
            read=_least,
        ),
    ] = (),
    steady: Annotated[bool, Param("Disable boosts by age and use")] = False,
    split: Annotated[str | None, Param(hidden=True)] = None,
) -> int:
    """Measure the quality of retrieval."""
    if mode and compare:
        raise call.usage_error("choose one: --mode or --compare")
    given: dict[str, Any] = {
        "limit": limit,
        "within": within,
        "least": least,
        "steady": steady,
        "split": split,
    }
    chosen = {
        name: value for name, value in given.items() if value is not None and value is not False
    }
    found = _evaluate(call, file, modes=compare or ((mode,) if mode else ()), **chosen)
    call.answer(found, lambda found: _show(call, found, 5 if misses is None else misses))
    for score in found.scores:
        call.incomplete(score.fallback_reason)
    for short in found.shortfalls:
        call.warn(f"{short.measure} is {short.value:.3f} by {short.mode}, below {short.least:g}")
    return NOTHING if found.shortfalls else FOUND


def _evaluate(
    call: Call,
    name: str | None,
    *,
    split: str | None = None,
    **chosen: Any,  # noqa: ANN401  (named as the action's parameters)
) -> Evaluation:
    from memory_bank.review import evaluate

    if split or (name and Path(name).is_dir()):
        raise call.usage_error(_MOVED)
    with call.open() as bank:
        return evaluate.evaluate(bank, name, progress=call.progress, **chosen)


def _show(call: Call, found: Evaluation, most: int) -> None:
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
    _show_misses(call, found, most)


def _row(
    call: Call, name: str, cells: Sequence[str], *, wide: Sequence[int] = (), style: str = ""
) -> None:
    widths = wide or [len(cell) for cell in cells]
    padded = [f"{cell:>{max(width, 8)}}" for cell, width in zip(cells, widths, strict=True)]
    call.console.line((f"{name:<10}  " + "  ".join(padded), style))


def _show_misses(call: Call, found: Evaluation, most: int) -> None:
    console = call.console
    shown = found.misses[:most]
    if shown:
        console.line()
        head = f"not among the first {found.within} ({len(found.misses)}):"
        console.line((head, "bad"))
    for miss in shown:
        console.line()
        _show_miss(call, miss, several=len(found.scores) > 1)
    if shown and len(found.misses) > most:
        console.line()
        console.line((f"… and {len(found.misses) - most} more: --misses N", "dim"))


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
