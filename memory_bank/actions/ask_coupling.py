"""Coupling for `ask`: files that change together with those of the best results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from memory_bank.actions.ask_results import (
    COUPLING,
    DOCS,
    SYMBOLS,
    TESTS,
    CoupledFileResult,
    Result,
    file_of,
)
from memory_bank.actions.coupling import snippet
from memory_bank.search import kinds as fusing

if TYPE_CHECKING:
    from memory_bank.codebase import Codebase
    from memory_bank.repo.coupling import Coupled, Coupling

_COUPLED_WITH, _MOST_COUPLED = 3, 12
"""Number of files, the best ones, whose coupled files are looked at, and how many of each."""
_LANES = (SYMBOLS, TESTS, DOCS)


class _Lift(NamedTuple):
    """What a file gains because it changes with a better one."""

    score: float
    coupled: Coupled
    file: str
    """The better one."""


def with_coupling(
    codebase: Codebase, found: Mapping[str, Sequence[Result]]
) -> dict[str, Sequence[Result]]:
    """Return the results of each kind, and what coupling tells of files that change with the best.

    Such a file is as likely as the better one, times `fused_score` and COUPLING_WEIGHT. If its own
    best result is likelier, that one is lifted; else the coupled file is a result.
    """
    best: dict[str, float] = {}
    for kind in _LANES:
        for one in found.get(kind, ()):
            file = file_of(one)
            best[file] = max(best.get(file, 0.0), one.relevance_score)
    first = sorted(best, key=lambda file: -best[file])[:_COUPLED_WITH]
    coupling = codebase.coupling(refresh=False).coupling  # the search has just caught up
    lifts = _lifts(coupling, {file: best[file] for file in first})
    changed: dict[str, Sequence[Result]] = {
        kind: [_lifted(one, best, lifts) for one in some] if kind in _LANES else some
        for kind, some in found.items()
    }
    changed[COUPLING] = [
        CoupledFileResult(
            id=None,
            title=file,
            snippet=snippet(lift.coupled, lift.file),
            relevance_score=fusing.either(best.get(file, 0.0), lift.score),
            fused_score=round(lift.coupled.fused_score, 4),
            coupling_type=lift.coupled.coupling_type,
        )
        for file, lift in lifts.items()
        if lift.score >= best.get(file, 0.0) and not codebase.is_note(file)
    ]
    return changed


def _lifts(coupling: Coupling, best: Mapping[str, float]) -> dict[str, _Lift]:
    """Return what coupled files gain by the best files, which are given with their scores."""
    lifts: dict[str, _Lift] = {}
    for file, score in best.items():
        for other in coupling.of(file)[:_MOST_COUPLED]:
            lift = fusing.COUPLING_WEIGHT * score * other.fused_score
            if other.file not in lifts or lift > lifts[other.file].score:
                lifts[other.file] = _Lift(lift, other, file)
    return lifts


def _lifted(one: Result, best: Mapping[str, float], lifts: Mapping[str, _Lift]) -> Result:
    """Return the best result of a coupled file with a higher score, if it is likely by itself."""
    file = file_of(one)
    lift = lifts.get(file)
    if lift is None or one.relevance_score < best[file] or lift.score >= best[file]:
        return one
    return one._replace(relevance_score=fusing.either(one.relevance_score, lift.score))
