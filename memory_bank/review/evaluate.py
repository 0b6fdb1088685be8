"""Evaluation of retrieval by queries with relevance judgements, and its view."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from memory_bank.bank.bank import Bank
from memory_bank.bank.hits import RecalledNote
from memory_bank.base.errors import BadInput
from memory_bank.base.operation import Param, operation
from memory_bank.base.rendering import count
from memory_bank.base.screen import FOUND, NOTHING, Call, place
from memory_bank.base.setting_sections import BANK, MODES
from memory_bank.memory.retrieval.recall import MOST, recall
from memory_bank.review.golden_queries import Targets, golden_queries, resolve, unboosted
from memory_bank.review.records import Above, Evaluation, Miss, Score, Shortfall
from memory_bank.search import measures
from memory_bank.search.document_changes import Progress
from memory_bank.search.measures import Qrels

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
    two = len(found.scores) > 1
    heads = [score.mode for score in found.scores]
    console.line((_row("measure", heads + ["difference"] * two), "bold"))
    for name in found.scores[0].figures:
        figures = [score.figures[name] for score in found.scores]
        cells = [f"{figure:.3f}" for figure in figures]
        console.line(_row(name, [*cells, f"{figures[1] - figures[0]:+.3f}"] if two else cells))
    _show_misses(call, found)


def _row(name: str, cells: Sequence[str]) -> str:
    return f"{name:<10}{''.join(f'  {cell:>10}' for cell in cells)}"


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


DEPTH = 10
"""Default number of results per query, which the measures need."""

_WITHIN = 5

_ABOVE = 3
"""Notes listed above a missed one."""


def _check(modes: Iterable[str], limit: int, least: Iterable[str]) -> None:
    """Raise BadInput for what can't be measured."""
    for mode in modes:
        if mode not in MODES:
            raise BadInput(f"there is no mode {mode!r}", f"choose one of: {', '.join(MODES)}")
    for name in least:
        if name not in measures.NAMES:
            known = f"choose one of: {', '.join(measures.NAMES)}"
            raise BadInput(f"there is no measure {name!r}", known)
    if not DEPTH <= limit <= MOST:
        raise BadInput(f"limit is {limit}", f"choose one from {DEPTH} to {MOST}")


def _pair(given: str | None) -> tuple[str, ...]:
    modes = tuple(mode.strip() for mode in given.split(",")) if given else ()
    if modes and (len(set(modes)) != 2 or not set(modes) <= set(MODES)):  # noqa: PLR2004  (a pair)
        raise BadInput(f"name two of: {', '.join(MODES)}", "")
    return modes


def _of_modes(
    call: Call,
    queries: str | None = None,
    *,
    mode: Annotated[
        str | None, Param("lexical, semantic, hybrid", metavar="MODE", choices=MODES)
    ] = None,
    compare: Annotated[str, Param("Two modes side by side", metavar="MODE,MODE", read=_pair)] = "",
    steady: bool = False,
    progress: Progress | None = None,
    **options: Any,  # noqa: ANN401  (those of the verb)
) -> Evaluation:
    """Measure one mode or two."""
    if mode and compare:
        raise call.usage_error("choose one: --mode or --compare")
    modes = tuple(compare) or ((mode,) if mode else ())
    with call.open() as bank:
        return evaluate(
            bank, queries, modes=modes, steady=steady or None, progress=progress, **options
        )


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
    through=_of_modes,
    show=measured,
)
def evaluate(
    bank: Bank,
    queries: Annotated[
        str | os.PathLike[str] | Sequence[Qrels] | None,
        Param(argument=True, metavar="[FILE]", path="existing", only=str | None),
    ] = None,
    *,
    modes: Sequence[str] = (),
    limit: Annotated[int, Param("Results per query, 10 to 100; default: 10", metavar="N")] = DEPTH,
    within: int = _WITHIN,
    least: Annotated[
        Mapping[str, float] | None,
        Param(
            "Exit with 1 if a measure is below, e.g. recall@5=0.9",
            flags="--min",
            metavar="MEASURE=SHARE",
            read=minima,
            only=Sequence[str],
        ),
    ] = None,
    steady: Annotated[bool | None, Param("Disable boosts by age and use", only=bool)] = None,
    progress: Progress | None = None,
) -> Evaluation:
    """Measure the quality of retrieval.

    Run every query in every mode, and compare the results with the judgements.

    `queries` may be a TOML or JSON lines file; without one, they are the bank's golden queries. The
    default mode is the bank's. `limit`, 10 to 100, is the number of results per query. A relevant
    note is a miss if it is not among the first `within`, or as many as the query has relevant
    notes. `least` maps measures to their minima. `steady` disables boosts by age and use, so that
    figures of other days and machines can be compared; it is the default for golden queries. No
    access is counted. Raises BadInput for queries that can't be read or name missing notes, and for
    an unknown mode or measure.
    """
    bank.settings.check_enabled()
    modes = tuple(dict.fromkeys(modes or [bank.settings.search.mode]))
    _check(modes, limit, least or {})
    if queries is None:
        known: Sequence[Qrels] = golden_queries(bank)
    else:
        known = measures.read(Path(queries)) if isinstance(queries, str | os.PathLike) else queries
    settings = bank.settings
    if queries is None if steady is None else steady:
        settings = unboosted(settings)
    with bank.with_settings(settings) as same:
        same.sync(progress)
        targets = resolve(same, known)
        runs = [_run_queries(same, targets, mode, limit, within) for mode in modes]
    scores = [score for score, _ in runs]
    return Evaluation(
        queries=len(targets),
        to_find=sum(len(one.grades) for one in targets),
        within=within,
        scores=tuple(scores),
        shortfalls=_shortfalls(scores, least or {}),
        misses=tuple(miss for _, misses in runs for miss in misses),
    )


def _run_queries(
    bank: Bank, wanted: Sequence[Targets], mode: str, limit: int, within: int
) -> tuple[Score, list[Miss]]:
    """Run all queries in one mode."""
    answers: list[dict[str, float]] = []
    misses: list[Miss] = []
    fallback: str | None = None
    started = time.perf_counter()
    for targets in wanted:
        answer = recall(bank, targets.qrels.text, limit, mode, count_access=False, scope=BANK)
        fallback = fallback or answer.fallback_reason
        names = targets.names(answer.notes)
        answers.append(measures.measure(names, targets.grades))
        misses += _misses(mode, targets, names, answer.notes, within)
    spent = time.perf_counter() - started
    return Score(mode, measures.mean(answers), spent, fallback), misses


def _misses(
    mode: str, targets: Targets, names: Sequence[str], notes: Sequence[RecalledNote], within: int
) -> list[Miss]:
    """List the misses of a query, each with the notes ranked above it that are not relevant."""
    ranks = {name: rank for rank, name in enumerate(names, 1)}
    within = max(within, len(targets.grades))
    found = []
    for path in targets.grades:
        rank = ranks.get(path)
        if rank is not None and rank <= within:
            continue
        before = [
            Above(note.path, note.line, note.heading, note.relevance_score, note.reasons)
            for name, note in zip(names[:rank], notes, strict=False)
            if name not in targets.grades
        ]
        reasons = notes[rank - 1].reasons if rank else ()
        text, place = targets.qrels.text, targets.qrels.place
        found.append(Miss(mode, text, place, path, rank, reasons, tuple(before[:_ABOVE])))
    return found


def _shortfalls(scores: Sequence[Score], least: Mapping[str, float]) -> tuple[Shortfall, ...]:
    return tuple(
        Shortfall(score.mode, name, score.figures[name], wanted)
        for score in scores
        for name, wanted in least.items()
        if score.figures[name] < wanted
    )
