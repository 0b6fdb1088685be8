"""From what each retriever found to one score for each passage, with the reasons for it.

A passage is judged by its own words, its whole note's words, its meaning, the passages beside it
in its note, and the notes around its own: those it is linked to as `previous` and `next`, and the
one that it is a part of. `docs/benchmarks.md` shows what each of these brings; the constants were
chosen on development data only.

Plain loops over some hundreds of passages: importing numpy costs a cold question more than these.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from heapq import nlargest
from operator import neg
from types import MappingProxyType
from typing import NamedTuple, TypeVar

from memory_bank.manifest.neighbourhood import Context
from memory_bank.retrievers.base import Matches
from memory_bank.search.hits import Ranking, Reason
from memory_bank.search.neighbours import Neighbours

NOTES = 0.75
"""What the words of the whole note weigh, those of the passage having 1."""
INSIDE, EXPECTED = 0.25, 0.6
"""What words and meaning of a passage beside it in its note add, and the share of a passage's own
that they must exceed: an expectation, so that having neighbours is no merit of long notes."""
BEFORE_WORDS, AFTER_WORDS = (0.8, 0.5), (0.5, 0.4)
"""What the words of passages one and two places away add: an answer follows its question."""
BESIDE_SEMANTIC = (0.3, 0.2)
"""What their meaning adds, times the weight of meaning."""
ALONE = 0.3
"""What the own score counts in place of a neighbour that others have and this passage lacks."""
TITLED = 0.6
"""What a title with the question's names adds to a note in a sequence: neighbours lend their words
to it, and nothing else would tell who speaks."""
CONTAINER = 1.0
"""What the best member of the note that a note is a part of adds."""
KEPT_LENGTH, KEPT_IN_SEQUENCE = 0.6, 0.25
"""BM25's b for a passage, and for passages and notes in a sequence of notes."""
_K1, _B = 1.2, 0.75
"""What tantivy scores with."""
_CODE_FROM, _CODE_OVER = 0.02, 0.02
"""Share of signs from which the best passages are taken for code, and the width of the step."""
_BEST = 10

_NOTHING = Matches()


class Further(NamedTuple):
    """What a retriever found that has no part of its own in the ranking: its weighted share."""

    name: str
    explanation: str
    matches: Matches
    weight: float
    whole: bool
    """Whether it found documents, not passages."""


Key = TypeVar("Key", int, str)
CodeRatio = Callable[[Sequence[int]], float]


class Evidence(NamedTuple):
    """What was found for one question."""

    words: Matches = _NOTHING
    notes: Matches = _NOTHING
    semantic: Matches = _NOTHING
    weight: float = 0.0
    """Weight of meaning against words in prose."""
    code_weight: float = 0.0
    """The same where the best passages are code."""
    mean_words: float = 1.0
    """Mean length of a passage."""
    further: tuple[Further, ...] = ()
    titled: Mapping[int, float] = MappingProxyType({})
    """Notes with names of the question in their titles, and which share of the names."""


class _Parts:
    """What speaks for each passage, each part 0 to about its weight."""

    def __init__(self, evidence: Evidence, context: Context, code_ratio: CodeRatio) -> None:
        words, notes, semantic = evidence.words, evidence.notes, evidence.semantic
        self.owner = dict(zip(words.rows, words.documents, strict=True))
        self.owner.update(zip(semantic.rows, semantic.documents, strict=True))
        # of a note that was found as a whole only, its first passage is shown
        known = set(self.owner.values())
        whole = zip(notes.rows, notes.documents, strict=True)
        self.owner.update([pair for pair in whole if pair[1] not in known])
        self.near = Neighbours(context) if context.following else None
        lent = (*BEFORE_WORDS, *AFTER_WORDS), BESIDE_SEMANTIC * 2
        self._lent = tuple(zip(*lent, strict=True))
        self.words = _words(evidence, self.near)
        self.notes = _notes(notes, self.near)
        spread = _spread(semantic)
        weight = _weight(evidence, self.words, spread, code_ratio)
        self.semantic = {row: weight * score for row, score in spread.items()}
        self.titled = _titled(evidence.titled, self.near)
        self.further = [_Added(found) for found in evidence.further if found.matches]
        for found in evidence.further:
            pairs = zip(found.matches.rows, found.matches.documents, strict=True)
            self.owner.update([pair for pair in pairs if pair[0] not in self.owner])
        most = ((self.words, 1.0), (self.notes, NOTES), (self.titled, TITLED))
        self.full = sum((part for found, part in most if found), weight)
        self.full += sum(added.weight for added in self.further)
        self._own = _sum(self.words, self.semantic)
        self._container = context.container
        self._wholes = self._best_members()

    def scores(self) -> dict[int, float]:
        """Add the parts up for each passage that was found; those without any are left out."""
        own, notes, owner = self._own.get, self.notes.get, self.owner
        found = {row: own(row, 0.0) + notes(note, 0.0) for row, note in owner.items()}
        if self.near is None and not self._wholes:
            # most passages have no other of their note beside them: those that do are paired
            for row in [row for row in owner if row + 1 in owner]:
                if owner[row] == owner[row + 1]:
                    found[row] += self._inside(row, row + 1)
                    found[row + 1] += self._inside(row + 1, row)
        else:
            titled = self.titled.get
            for row, note in owner.items():
                found[row] += self._beside(row, note) + self._whole(note) + titled(note, 0.0)
        for added in self.further:
            for row, note in owner.items():
                found[row] += added.of(row, note)
        full = self.full
        return {row: score / full for row, score in found.items() if score > 0}

    def reasons(self, row: int) -> list[Reason]:
        """Say what a passage's score is made of."""
        note = self.owner[row]
        parts = (
            ("keyword", "its words", self.words.get(row, 0.0)),
            ("notes", "its note's words", self.notes.get(note, 0.0)),
            ("vectors", "its meaning", self.semantic.get(row, 0.0)),
            ("neighbours", "what stands beside it", self._beside(row, note)),
            ("container", "what it is part of", self._whole(note)),
            ("titles", "a name in its title", self.titled.get(note, 0.0)),
            *((added.name, added.explanation, added.of(row, note)) for added in self.further),
        )
        return [Reason(name, said, part / self.full) for name, said, part in parts if part]

    def _beside(self, row: int, note: int) -> float:
        """Return what stands beside a passage adds: notes in a sequence, or passages of its own."""
        if self.near is not None and self.near.linked(note):
            return self._in_sequence(self.near, row, note)
        owner = self.owner.get
        places = (place for place in (row - 1, row + 1) if owner(place) == note)
        return sum(self._inside(row, place) for place in places)

    def _inside(self, row: int, place: int) -> float:
        """Return what a passage of the same note adds to the one that it stands beside."""
        own = self._own.get
        return INSIDE * (own(place, 0.0) - EXPECTED * own(row, 0.0))

    def _in_sequence(self, near: Neighbours, row: int, note: int) -> float:
        """Add up the weighted scores of the passages in the notes before and after."""
        words, semantic = self.words.get, self.semantic.get
        own = ALONE * words(row, 0.0), ALONE * semantic(row, 0.0)
        total = 0.0
        for place, (weight, meant) in zip(near.beside(note), self._lent, strict=True):
            if place is None:
                total += weight * own[0] + meant * own[1]
            else:
                total += weight * words(place, 0.0) + meant * semantic(place, 0.0)
        return total

    def _whole(self, note: int) -> float:
        return self._wholes.get(self._container.get(note, ""), 0.0) if self._wholes else 0.0

    def _best_members(self) -> dict[str, float]:
        """Return for each container its best member, as a share of the best one's, weighted."""
        best: dict[str, float] = {}
        if self._container:
            for row, score in (self.words or self.semantic).items():
                whole = self._container.get(self.owner[row])
                if whole is not None:
                    best[whole] = max(best.get(whole, 0.0), score)
        return _shares(best.keys(), best.values(), CONTAINER)


class _Added:
    """The weighted shares of what a further retriever found."""

    def __init__(self, found: Further) -> None:
        self.name, self.explanation, self.weight = found.name, found.explanation, found.weight
        self._whole = found.whole
        keys = found.matches.documents if found.whole else found.matches.rows
        self._shares = _shares(keys, found.matches.scores, found.weight)

    def of(self, row: int, document: int) -> float:
        """Return what it adds to a passage."""
        return self._shares.get(document if self._whole else row, 0.0)


def rank(evidence: Evidence, context: Context, code_ratio: CodeRatio) -> Ranking:
    """Score every passage that was found; scores are 0 to about 1."""
    parts = _Parts(evidence, context, code_ratio)
    return Ranking(parts.owner, parts.scores(), parts.reasons)


def _words(evidence: Evidence, near: Neighbours | None) -> dict[int, float]:
    """Return each passage's share of the best BM25 score, part of the length taken back.

    In a sequence of short notes, a talk's turns say, the shortest would win by its shortness.
    """
    found = evidence.words
    usual = _Longer(evidence.mean_words, KEPT_LENGTH)
    if near is None:
        scores = usual.all(found)
    else:
        linked, beside = near.linked, _Longer(evidence.mean_words, KEPT_IN_SEQUENCE)
        columns = zip(found.documents, found.scores, found.words, strict=True)
        scores = [
            (beside if linked(note) else usual)(score, words) for note, score, words in columns
        ]
    return _shares(found.rows, scores)


def _notes(found: Matches, near: Neighbours | None) -> dict[int, float]:
    """Return each whole note's weighted share of the best; in a sequence they are as passages."""
    scores: Sequence[float] = found.scores
    if near is not None and found.words:
        beside = _Longer(sum(found.words) / len(found), KEPT_IN_SEQUENCE)
        scores = [
            beside(score, words) if near.linked(note) else score for _, note, score, words in found
        ]
    return _shares(found.documents, scores, NOTES)


def _titled(shares: Mapping[int, float], near: Neighbours | None) -> dict[int, float]:
    """Return what the names in the titles of notes in a sequence add."""
    if near is None:
        return {}
    return {note: TITLED * share for note, share in shares.items() if near.linked(note)}


class _Longer:
    """Turns a score with BM25's b into one with another, as for a word that occurs once."""

    def __init__(self, mean: float, kept: float) -> None:
        """Take the mean length of what is scored, and the b that is kept."""
        mean = max(mean, 1.0)
        self._was, self._was_more = 1 + _K1 * (1 - _B), _K1 * _B / mean
        self._is, self._is_more = 1 + _K1 * (1 - kept), _K1 * kept / mean

    def all(self, matches: Matches) -> list[float]:
        """Return the scores of all matches; the loop is inside, since there are hundreds."""
        was, was_more, now, now_more = self._was, self._was_more, self._is, self._is_more
        columns = zip(matches.scores, matches.words, strict=True)
        return [s * (was + was_more * words) / (now + now_more * words) for s, words in columns]

    def __call__(self, score: float, words: int) -> float:
        """Return the score for what has that many words."""
        return score * (self._was + self._was_more * words) / (self._is + self._is_more * words)


def _spread(matches: Matches) -> dict[int, float]:
    """Spread cosines between those of the first and the last passage found over 1 to 0."""
    if not matches:
        return {}
    first, last = matches.scores[0], matches.scores[-1]
    least = min(last, 0.9 * first)
    spread = max(first - least, 1e-6)
    return {
        row: (cos - least) / spread for row, cos in zip(matches.rows, matches.scores, strict=True)
    }


def _weight(
    evidence: Evidence,
    words: Mapping[int, float],
    semantic: Mapping[int, float],
    code_ratio: CodeRatio,
) -> float:
    """Return what meaning weighs: for code more than for prose, with a good embedder far more."""
    if not semantic or not words:
        return evidence.weight if semantic else 0.0
    total = _sum(words, semantic)
    best = nlargest(_BEST, zip(total.values(), map(neg, total), strict=True))
    code = min(max((code_ratio([-row for _, row in best]) - _CODE_FROM) / _CODE_OVER, 0.0), 1.0)
    return (1 - code) * evidence.weight + code * evidence.code_weight


def _sum(one: Mapping[int, float], other: Mapping[int, float]) -> dict[int, float]:
    """Add two parts up, row by row."""
    total = dict(one)
    known = total.get
    for row, score in other.items():
        total[row] = known(row, 0.0) + score
    return total


def _shares(
    keys: Iterable[Key], scores: Collection[float], weight: float = 1.0
) -> dict[Key, float]:
    """Return the weighted share that each score is of the best one."""
    best = max(scores, default=0.0)
    if best <= 0:
        return {}
    factor = weight / best
    return dict(zip(keys, [factor * score for score in scores], strict=True))
