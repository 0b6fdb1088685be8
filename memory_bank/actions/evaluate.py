"""Measure how well a bank's notes are found, by queries whose answers are known."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from memory_bank.actions import collection, judged
from memory_bank.actions.expected import Expected, lead
from memory_bank.actions.judged import Judged
from memory_bank.actions.recall import MOST, RecalledNote, recall
from memory_bank.bank import Bank
from memory_bank.config import MODES, Settings
from memory_bank.errors import BadInput
from memory_bank.search import metrics
from memory_bank.search.hits import Reason
from memory_bank.search.metrics import Paired

if TYPE_CHECKING:
    from memory_bank.index.report import Progress

__all__ = ["MEASURES", "Judged", "evaluate", "evaluate_collection"]

MEASURES = metrics.NAMES
DEPTH = 10
"""Notes looked at for each query unless more are asked for: what the measures need."""
_WITHIN = 5
_ABOVE = 3
"""Notes that are named of those that stand above one that was missed."""


@dataclass(frozen=True, slots=True)
class Score:
    """How one mode did over all queries."""

    mode: str
    figures: Mapping[str, float]
    """Mean of each measure, 0 to 1."""
    seconds: float
    """For all queries together."""
    fallback_reason: str | None = None
    """Why some query was answered by words only, though the mode says otherwise."""


@dataclass(frozen=True, slots=True)
class Above:
    """A note that was not asked for and stood where one that was should be."""

    path: str
    line: int
    heading: str
    relevance_score: float
    reasons: tuple[Reason, ...]


@dataclass(frozen=True, slots=True)
class Miss:
    """A note that must be found and is not among the first, as many as were asked for."""

    mode: str
    text: str
    place: str
    """Where the query is written, as `file:line`."""
    path: str
    """The note."""
    rank: int | None
    """Where it stood, from 1; None when it was not in the answer."""
    reasons: tuple[Reason, ...]
    """Why it was found at all; empty when it was not."""
    above: tuple[Above, ...]


@dataclass(frozen=True, slots=True)
class Compared:
    """How the second mode does against the first, by one measure."""

    measure: str
    first: str
    second: str
    paired: Paired


@dataclass(frozen=True, slots=True)
class Shortfall:
    """A measure that is below what was asked for."""

    mode: str
    measure: str
    value: float
    least: float


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What was measured."""

    queries: int
    to_find: int
    """Notes to be found, over all queries."""
    within: int
    scores: tuple[Score, ...]
    compared: tuple[Compared, ...]
    shortfalls: tuple[Shortfall, ...]
    misses: tuple[Miss, ...]
    absent: int = 0
    """Documents of a collection that are judged but not there; they count as not found."""


@dataclass(frozen=True, slots=True)
class _Run:
    """One mode's answers."""

    score: Score
    answers: list[dict[str, float]]
    misses: list[Miss]


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What is to be measured, checked."""

    modes: Sequence[str]
    limit: int
    within: int
    least: Mapping[str, float]

    def __post_init__(self) -> None:
        for mode in self.modes:
            if mode not in MODES:
                raise BadInput(f"there is no mode {mode!r}", f"choose one of: {', '.join(MODES)}")
        for name in self.least:
            if name not in MEASURES:
                known = ", ".join(MEASURES)
                raise BadInput(f"there is no measure {name!r}", f"choose one of: {known}")
        if not DEPTH <= self.limit <= MOST:
            hint = f"the measures look at {DEPTH} notes, an answer has at most {MOST}"
            raise BadInput(f"limit is {self.limit}", hint)


def evaluate(
    bank: Bank,
    queries: str | os.PathLike[str] | Sequence[Judged],
    *,
    modes: Sequence[str] = (),
    limit: int = DEPTH,
    within: int = _WITHIN,
    least: Mapping[str, float] | None = None,
    steady: bool = False,
    progress: Progress | None = None,
) -> Evaluation:
    """Ask every query in every mode, and compare what is found with what must be found.

    `queries` may be a TOML or JSON lines file. The first two modes are compared query by query; no
    mode means the bank's own. `limit`, 10 to 100, is how many notes of an answer are looked at. A
    note is missed that is not among the first `within`, or as many as the query is to find. `least`
    maps measures to what they must reach. `steady` leaves out what ranks notes by age and use, so
    that figures of another day or machine can be compared. No access is counted. Raises BadInput
    for queries that can't be read or name notes that are not there, for an unknown mode or measure.
    """
    bank.check_enabled()
    wanted = _Wanted(modes or [bank.settings.search.mode], limit, within, least or {})
    known = judged.read(Path(queries)) if isinstance(queries, str | os.PathLike) else queries
    if not steady:
        bank.sync(progress)
        return _measured(bank, lead(bank, known), wanted)
    with Bank(bank.layout, _steady(bank.settings)) as same:
        same.sync(progress)
        return _measured(same, lead(same, known), wanted)


def evaluate_collection(
    folder: str | os.PathLike[str],
    *,
    split: str = "",
    settings: Mapping[str, object] | None = None,
    modes: Sequence[str] = (),
    limit: int = DEPTH,
    within: int = _WITHIN,
    least: Mapping[str, float] | None = None,
    progress: Progress | None = None,
) -> Evaluation:
    """Measure on a folder as BEIR has them, made into a bank that is removed in the end.

    `split` names the judgements: of several, `test` is taken, else `dev`. Documents that are judged
    but not there count as not found. `settings` are those of `open_bank`, the rest is as in
    `evaluate`.
    """
    place = Path(folder)
    known = collection.judged(place, split)
    with collection.as_bank(place, settings=settings) as (bank, names):
        wanted = _Wanted(modes or [bank.settings.search.mode], limit, within, least or {})
        expected = [
            Expected(query, {names.get(item, item): grade for item, grade in query.find.items()})
            for query in known
        ]
        bank.sync(progress)
        found = _measured(bank, expected, wanted)
    judged_documents = {item for query in known for item in query.find}
    return replace(
        found,
        absent=len(judged_documents - names.keys()),
        misses=_by_id(found.misses, {path: item for item, path in names.items()}),
    )


def _measured(bank: Bank, expected: Sequence[Expected], wanted: _Wanted) -> Evaluation:
    runs = [_run(bank, expected, mode, wanted) for mode in dict.fromkeys(wanted.modes)]
    scores = tuple(run.score for run in runs)
    return Evaluation(
        queries=len(expected),
        to_find=sum(len(one.grades) for one in expected),
        within=wanted.within,
        scores=scores,
        compared=_compared(runs[0], runs[1]) if len(runs) > 1 else (),
        shortfalls=_shortfalls(scores, wanted.least),
        misses=tuple(miss for run in runs for miss in run.misses),
    )


def _by_id(misses: Sequence[Miss], ids: Mapping[str, str]) -> tuple[Miss, ...]:
    """Name documents as their collection does."""
    return tuple(
        replace(
            miss,
            path=ids.get(miss.path, miss.path),
            above=tuple(replace(other, path=ids[other.path]) for other in miss.above),
        )
        for miss in misses
    )


def _steady(settings: Settings) -> Settings:
    memory = settings.memory._replace(
        recency_boost_factor=1.0,
        access_recency_weight=0.0,
        access_count_weight=0.0,
    )
    return settings._replace(memory=memory)


def _run(bank: Bank, wanted: Sequence[Expected], mode: str, options: _Wanted) -> _Run:
    answers: list[dict[str, float]] = []
    misses: list[Miss] = []
    fallback: str | None = None
    started = time.perf_counter()
    for expected in wanted:
        answer = recall(bank, expected.query.text, options.limit, mode, count_access=False)
        fallback = fallback or answer.fallback_reason
        names = expected.names(answer.notes)
        answers.append(metrics.measure(names, expected.grades))
        misses += _misses(mode, expected, names, answer.notes, options.within)
    spent = time.perf_counter() - started
    return _Run(Score(mode, metrics.mean(answers), spent, fallback), answers, misses)


def _misses(
    mode: str,
    expected: Expected,
    names: Sequence[str],
    notes: Sequence[RecalledNote],
    within: int,
) -> list[Miss]:
    """List what is not among the first; above it stands what nobody asked for."""
    ranks = {name: rank for rank, name in enumerate(names, 1)}
    within = max(within, len(expected.grades))
    found = []
    for path in expected.grades:
        rank = ranks.get(path)
        if rank is not None and rank <= within:
            continue
        before = [
            Above(note.path, note.line, note.heading, note.relevance_score, note.reasons)
            for name, note in zip(names[:rank], notes, strict=False)
            if name not in expected.grades
        ]
        reasons = notes[rank - 1].reasons if rank else ()
        text, place = expected.query.text, expected.query.place
        found.append(Miss(mode, text, place, path, rank, reasons, tuple(before[:_ABOVE])))
    return found


def _compared(first: _Run, second: _Run) -> tuple[Compared, ...]:
    return tuple(
        Compared(
            name,
            first.score.mode,
            second.score.mode,
            metrics.paired(
                [answer[name] for answer in first.answers],
                [answer[name] for answer in second.answers],
            ),
        )
        for name in MEASURES
    )


def _shortfalls(scores: Sequence[Score], least: Mapping[str, float]) -> tuple[Shortfall, ...]:
    return tuple(
        Shortfall(score.mode, name, score.figures[name], wanted)
        for score in scores
        for name, wanted in least.items()
        if score.figures[name] < wanted
    )
