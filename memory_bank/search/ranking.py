"""From what each retriever found to one score for each passage, with the reasons for it.

A passage is judged by its own words, its whole note's words, its meaning, and the notes around
its own: those it is linked to as `previous` and `next`, and the one that it is a part of.
Neighbours inside a note don't count, since they would favour long notes. `docs/benchmarks.md`
shows what each of these brings; the constants were chosen on development data only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from memory_bank.manifest.lookup import Surroundings
from memory_bank.retrievers.base import Match
from memory_bank.search.hits import Candidate, Reason
from memory_bank.search.neighbours import Neighbours

BEFORE_WORDS, AFTER_WORDS = (0.8, 0.5), (0.5, 0.4)
"""What the words of passages one and two places away add: an answer follows its question."""
BESIDE_MEANING = (0.3, 0.2)
"""What their meaning adds, times the weight of meaning."""
ALONE = 0.3
"""What the own score counts in place of a neighbour that others have and this passage lacks."""
CONTAINER = 0.8
"""What the best member of the note that a note is a part of adds."""
_KEPT_LENGTH = 0.25
"""How much of BM25's length normalisation stays for a passage in a sequence of notes."""
_K1 = 1.2
_CODE_FROM, _CODE_OVER = 0.03, 0.02
"""Share of signs from which the best passages are taken for code, and the width of the step."""
_BEST = 10

Key = TypeVar("Key", int, str)
Codeness = Callable[[Sequence[int]], float]


@dataclass(frozen=True, slots=True)
class Evidence:
    """What was found for one question."""

    words: Sequence[Match] = ()
    notes: Sequence[Match] = ()
    meaning: Sequence[Match] = ()
    weight: float = 0.0
    """Weight of meaning against words in prose."""
    code_weight: float = 0.0
    """The same where the best passages are code."""
    mean_words: float = 1.0
    """Mean length of a passage."""


def rank(
    evidence: Evidence, around: Surroundings, codeness: Codeness, first_rows: Mapping[int, int]
) -> dict[int, Candidate]:
    """Score every passage that was found; scores are 0 to about 1.

    `first_rows` names the passage to show of a note that was found as a whole only.
    """
    owner = {match.row: match.note for match in (*evidence.words, *evidence.meaning)}
    owner.update({row: note for note, row in first_rows.items()})
    near = Neighbours(owner, around)
    words = _words(evidence, near)
    meaning = _spread(evidence.meaning)
    weight = _weight(evidence, words, meaning, codeness)
    meaning = {row: weight * score for row, score in meaning.items()}
    notes = _shares({match.note: match.score for match in evidence.notes})
    wholes = _containers(words or meaning, owner, around)
    full = (1.0 if words else 0.0) + (1.0 if notes else 0.0) + weight
    found = {}
    for row, note in owner.items():
        parts = (
            ("keyword", "its words", words.get(row, 0.0)),
            ("notes", "its note's words", notes.get(note, 0.0)),
            ("vectors", "its meaning", meaning.get(row, 0.0)),
            ("neighbours", "the notes beside it", _beside(row, near, words, meaning)),
            ("container", "what it is part of", wholes.get(around.container.get(note, ""), 0.0)),
        )
        reasons = [Reason(name, said, part / full) for name, said, part in parts if part]
        if reasons:
            found[row] = Candidate(row, note, sum(part for *_, part in parts) / full, reasons)
    return found


def _words(evidence: Evidence, near: Neighbours) -> dict[int, float]:
    """Return each passage's share of the best BM25 score.

    In a sequence of short notes, a talk's turns say, the shortest would win by its shortness, so
    most of the length normalisation is taken back there.
    """
    mean = max(evidence.mean_words, 1.0)
    return _shares(
        {
            match.row: match.score
            * (_longer(match.words / mean) if near.linked(match.note) else 1.0)
            for match in evidence.words
        }
    )


def _longer(ratio: float) -> float:
    """Return the factor from b = 0.75 to b = 0.25 in BM25, for a word that occurs once."""
    kept = _KEPT_LENGTH
    return (1 + _K1 * (kept + (1 - kept) * ratio)) / (1 + _K1 * (1 - kept + kept * ratio))


def _spread(matches: Sequence[Match]) -> dict[int, float]:
    """Spread cosines between those of the first and the last passage found over 1 to 0."""
    if not matches:
        return {}
    least = min(matches[-1].score, 0.9 * matches[0].score)
    spread = max(matches[0].score - least, 1e-6)
    return {match.row: max(0.0, (match.score - least) / spread) for match in matches}


def _weight(
    evidence: Evidence,
    words: Mapping[int, float],
    meaning: Mapping[int, float],
    codeness: Codeness,
) -> float:
    """Return what meaning weighs: for code more than for prose, with a good embedder far more."""
    if not meaning or not words:
        return evidence.weight if meaning else 0.0
    total = {row: words.get(row, 0.0) + meaning.get(row, 0.0) for row in {*words, *meaning}}
    best = sorted(total, key=lambda row: (-total[row], row))[:_BEST]
    code = min(max((codeness(best) - _CODE_FROM) / _CODE_OVER, 0.0), 1.0)
    return (1 - code) * evidence.weight + code * evidence.code_weight


def _shares(scores: Mapping[Key, float]) -> dict[Key, float]:
    best = max(scores.values(), default=0.0)
    return {key: score / best for key, score in scores.items()} if best > 0 else {}


def _beside(
    row: int, near: Neighbours, words: Mapping[int, float], meaning: Mapping[int, float]
) -> float:
    """Add up the weighted scores of the passages in the notes before and after."""
    if not near.any:
        return 0.0
    total = 0.0
    own = ALONE * words.get(row, 0.0), ALONE * meaning.get(row, 0.0)
    for step, weights in ((near.before, BEFORE_WORDS), (near.after, AFTER_WORDS)):
        place: int | None = row
        for weight, meant in zip(weights, BESIDE_MEANING, strict=True):
            place = step(place) if place is not None else None
            if place is None:
                total += weight * own[0] + meant * own[1]
            else:
                total += weight * words.get(place, 0.0) + meant * meaning.get(place, 0.0)
    return total


def _containers(
    scores: Mapping[int, float], owner: Mapping[int, int], around: Surroundings
) -> dict[str, float]:
    """Return for each container its best member, as a share of the best container's, weighted."""
    best: dict[str, float] = {}
    for row, score in scores.items():
        whole = around.container.get(owner[row])
        if whole is not None:
            best[whole] = max(best.get(whole, 0.0), score)
    return {whole: CONTAINER * share for whole, share in _shares(best).items()}
