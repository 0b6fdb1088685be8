"""Measure how well a bank's notes are found, by queries whose answers are known."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from memory_bank.actions import qrels
from memory_bank.actions.qrels import Qrels
from memory_bank.actions.recall import MOST, RecalledNote, recall
from memory_bank.actions.targets import Targets, resolve
from memory_bank.bank import Bank
from memory_bank.config import MODES, Settings
from memory_bank.errors import BadInput
from memory_bank.search import metrics
from memory_bank.search.hits import Reason

if TYPE_CHECKING:
    from memory_bank.index.report import Progress

__all__ = ["MEASURES", "Judged", "Qrels", "evaluate"]

Judged = Qrels
"""The former name of `Qrels`, for one more version."""

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
    shortfalls: tuple[Shortfall, ...]
    misses: tuple[Miss, ...]


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
    queries: str | os.PathLike[str] | Sequence[Qrels],
    *,
    modes: Sequence[str] = (),
    limit: int = DEPTH,
    within: int = _WITHIN,
    least: Mapping[str, float] | None = None,
    steady: bool = False,
    progress: Progress | None = None,
) -> Evaluation:
    """Ask every query in every mode, and compare what is found with what must be found.

    `queries` may be a TOML or JSON lines file. No mode means the bank's own. `limit`, 10 to 100, is
    how many notes of an answer are looked at. A note is missed that is not among the first
    `within`, or as many as the query is to find. `least` maps measures to what they must reach.
    `steady` leaves out what ranks notes by age and use, so that figures of another day or machine
    can be compared. No access is counted. Raises BadInput for queries that can't be read or name
    notes that are not there, for an unknown mode or measure.
    """
    bank.settings.check_enabled()
    wanted = _Wanted(modes or [bank.settings.search.mode], limit, within, least or {})
    known = qrels.read(Path(queries)) if isinstance(queries, str | os.PathLike) else queries
    if not steady:
        bank.sync(progress)
        return _measured(bank, resolve(bank, known), wanted)
    with Bank(bank.layout, _steady(bank.settings)) as same:
        same.sync(progress)
        return _measured(same, resolve(same, known), wanted)


def _measured(bank: Bank, targets: Sequence[Targets], wanted: _Wanted) -> Evaluation:
    scores: list[Score] = []
    misses: list[Miss] = []
    for mode in dict.fromkeys(wanted.modes):
        score, missed = _asked(bank, targets, mode, wanted)
        scores.append(score)
        misses += missed
    return Evaluation(
        queries=len(targets),
        to_find=sum(len(one.grades) for one in targets),
        within=wanted.within,
        scores=tuple(scores),
        shortfalls=_shortfalls(scores, wanted.least),
        misses=tuple(misses),
    )


def _steady(settings: Settings) -> Settings:
    memory = settings.memory._replace(
        recency_boost_factor=1.0,
        access_recency_weight=0.0,
        access_count_weight=0.0,
    )
    return settings._replace(memory=memory)


def _asked(
    bank: Bank, wanted: Sequence[Targets], mode: str, options: _Wanted
) -> tuple[Score, list[Miss]]:
    """Ask all queries in one mode."""
    answers: list[dict[str, float]] = []
    misses: list[Miss] = []
    fallback: str | None = None
    started = time.perf_counter()
    for targets in wanted:
        answer = recall(bank, targets.qrels.text, options.limit, mode, count_access=False)
        fallback = fallback or answer.fallback_reason
        names = targets.names(answer.notes)
        answers.append(metrics.measure(names, targets.grades))
        misses += _misses(mode, targets, names, answer.notes, options.within)
    spent = time.perf_counter() - started
    return Score(mode, metrics.mean(answers), spent, fallback), misses


def _misses(
    mode: str,
    targets: Targets,
    names: Sequence[str],
    notes: Sequence[RecalledNote],
    within: int,
) -> list[Miss]:
    """List what is not among the first; above it stands what nobody asked for."""
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
