"""Compute one score for each passage from the matches of all retrievers, with its reasons.

The parts of the score are the keyword scores of the passage and of its whole note, the semantic
score, and context scores: from adjacent passages of the note, from notes linked as `previous` and
`next`, and from the note that it is a part of. `docs/benchmarks.md` shows the effect of each; the
constants were chosen on development data only.

Plain loops over some hundreds of passages take less time than an import of numpy.

A logistic function of that share and of the logarithm of the number of words asked for: a passage
with half of ten words is a surer answer than one with half of two. It was fitted to the first three
hits of the development questions about project banks; `tests/benchmarks/calibration.py` fits it and
compares likelihoods with the share of hits that answer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from heapq import nlargest
from operator import neg
from types import MappingProxyType
from typing import NamedTuple, TypeVar

from memory_bank.search.hit_records import Ranking, Reason
from memory_bank.search.manifest.document_graph import DocumentRelations
from memory_bank.search.retrievers.base import Matches, Scale

LEAST, LEAST_SHARE = 0.06, 0.25
"""Hits with a lower likelihood and a smaller share of a perfect match are left out."""

STRONG = 0.2
"""Hits with a lower likelihood are set apart as weaker matches."""

UNLIKELY = 0.1
"""If no hit has at least this likelihood, nothing answers, as far as the next two allow that."""

COVERED = 0.4
"""Share of a question's words, by rarity, in one document that may answer, however unlikely."""

FEWEST = 16
"""Documents from which on that is said: with fewer, a likelihood says little."""

BY_WORDS = (-5.14, 4.29, 0.96)

BY_MEANING = (-3.98, 4.57, -0.49)
"""Coefficients: constant, share of a perfect match, logarithm of one plus the number of words."""


def likelihood(relevance: float, words: int, *, by_words: bool) -> float:
    """Return the likelihood, 0 to 1, for a share of a perfect match and a number of words."""
    constant, share, length = BY_WORDS if by_words else BY_MEANING
    odds = constant + share * relevance + length * math.log(1 + words)
    return 1 / (1 + math.exp(-odds))


_NOWHERE = (None, None)


class Neighbours:
    """Finds passages of the notes before and after a note, by the links between them."""

    def __init__(self, context: DocumentRelations) -> None:
        """Use the links between the notes of candidates."""
        self._after = context.following
        self._before = {later: earlier for earlier, later in context.following.items()}
        self._spans = context.spans

    def linked(self, note: int) -> bool:
        """Tell whether a note is in a sequence."""
        return note in self._after or note in self._before

    def beside(self, note: int) -> tuple[int | None, ...]:
        """Return the last passages of the two notes before, then the first of the two after.

        The nearer note comes first; None where there is no note.
        """
        return (*self._steps(self._before, note, 1), *self._steps(self._after, note, 0))

    def _steps(self, step: Mapping[int, int], note: int, end: int) -> tuple[int | None, int | None]:
        once = step.get(note, 0)
        spans = self._spans
        return spans.get(once, _NOWHERE)[end], spans.get(step.get(once, 0), _NOWHERE)[end]


NOTES = 0.75
"""Weight of the whole note's keyword score; that of the passage has weight 1."""

ADJACENT, EXPECTED = 0.25, 0.6
"""Weight of the score of an adjacent passage in the same note, after subtracting this share of the
passage's own score: otherwise long notes would score higher just by having adjacent passages."""

BEFORE_WORDS, AFTER_WORDS = (0.8, 0.5), (0.5, 0.4)
"""Weights of the keyword scores of passages one and two notes away, before and after: an answer
follows its question."""

BESIDE_SEMANTIC = (0.3, 0.2)
"""Weights of their semantic scores, times the semantic weight."""

ALONE = 0.3
"""Share of the passage's own score that replaces the score of a missing neighbour."""

TITLES = 0.6
"""Weight of names of the question in the title of a note in a sequence: context scores raise the
notes of other speakers, too, and only the title tells who speaks."""

CONTAINER = 1.0
"""Weight of the best score among the notes with the same container."""

PASSAGE_B, SEQUENCE_B = 0.6, 0.25
"""BM25's b for a passage, and for passages and notes in a sequence of notes."""

_K1, _B = 1.2, 0.75
"""BM25's parameters in tantivy, which can't be set."""

_CODE_FROM, _CODE_OVER = 0.02, 0.02
"""Code ratio of the best passages at which the weight for code starts to count, and the increase
until it counts fully."""

_BEST = 10
"""Number of the best passages whose code ratio is measured."""

_NO_MATCHES = Matches()


class ExtraMatches(NamedTuple):
    """Matches of a retriever without its own part in the ranking."""

    name: str
    explanation: str
    matches: Matches
    weight: float
    of_documents: bool
    """Whether the matches are documents, not passages."""


Key = TypeVar("Key", int, str)

CodeRatio = Callable[[Sequence[int]], float]


class Evidence(NamedTuple):
    """The matches for one question, and the weights of their parts."""

    lexical: Matches = _NO_MATCHES
    notes: Matches = _NO_MATCHES
    semantic: Matches = _NO_MATCHES
    weight: float = 0.0
    """Weight of the semantic score where the best passages are prose; the keyword score has 1."""
    code_weight: float = 0.0
    """The same where the best passages are code."""
    mean_words: float = 1.0
    """Mean length of a passage, in words."""
    by_words: bool = True
    """Whether keywords were searched, which may have found nothing."""
    extra: tuple[ExtraMatches, ...] = ()
    titled: Mapping[int, float] = MappingProxyType({})
    """Share of the question's names that a note's title has, for notes where it has any."""


class _ScoreParts:
    """The parts of each passage's score, each from 0 to about its weight."""

    def __init__(
        self, evidence: Evidence, context: DocumentRelations, code_ratio: CodeRatio
    ) -> None:
        lexical, notes, semantic = evidence.lexical, evidence.notes, evidence.semantic
        self.owner = dict(zip(lexical.rows, lexical.documents, strict=True))
        self.owner.update(zip(semantic.rows, semantic.documents, strict=True))
        # a note that was found only as a whole is shown with its first passage
        known = set(self.owner.values())
        whole = zip(notes.rows, notes.documents, strict=True)
        self.owner.update([pair for pair in whole if pair[1] not in known])
        self.neighbours = Neighbours(context) if context.following else None
        weights = (*BEFORE_WORDS, *AFTER_WORDS), BESIDE_SEMANTIC * 2
        self._context_weights = tuple(zip(*weights, strict=True))
        self.lexical = _lexical_scores(evidence, self.neighbours)
        self.notes = _note_scores(notes, self.neighbours)
        normalised = _of_perfect(semantic.rows, semantic.scores, semantic.scale)
        weight = _semantic_weight(evidence, self.lexical, normalised, code_ratio)
        self.semantic = {row: weight * score for row, score in normalised.items()}
        self.titled = _title_scores(evidence.titled, self.neighbours)
        self.extra = [_ExtraPart(found) for found in evidence.extra if found.matches]
        for found in evidence.extra:
            pairs = zip(found.matches.rows, found.matches.documents, strict=True)
            self.owner.update([pair for pair in pairs if pair[0] not in self.owner])
        self._full = _Full(evidence, weight, context, self.neighbours)
        self._own = _sum(self.lexical, self.semantic)
        self._container = context.container
        self._container_scores = self._score_containers()

    def scores(self) -> dict[int, float]:
        """Add up the parts for each passage; drop passages with a score of 0 or less."""
        own, notes, owner = self._own.get, self.notes.get, self.owner
        found = {row: own(row, 0.0) + notes(note, 0.0) for row, note in owner.items()}
        if self.neighbours is None and not self._container_scores:
            # few passages are adjacent to another match: go over these pairs only
            for row in [row for row in owner if row + 1 in owner]:
                if owner[row] == owner[row + 1]:
                    found[row] += self._from_adjacent(row, row + 1)
                    found[row + 1] += self._from_adjacent(row + 1, row)
        else:
            titled = self.titled.get
            for row, note in owner.items():
                found[row] += (
                    self._context_score(row, note) + self._container_score(note) + titled(note, 0.0)
                )
        for part in self.extra:
            for row, note in owner.items():
                found[row] += part.of(row, note)
        full = self._full.of
        return {row: score / full(owner[row]) for row, score in found.items() if score > 0}

    def reasons(self, row: int) -> list[Reason]:
        """Return the parts of a passage's score."""
        note = self.owner[row]
        parts = (
            ("keyword", "its words", self.lexical.get(row, 0.0)),
            ("notes", "its note's words", self.notes.get(note, 0.0)),
            ("vectors", "its meaning", self.semantic.get(row, 0.0)),
            ("neighbours", "what stands beside it", self._context_score(row, note)),
            ("container", "what it is part of", self._container_score(note)),
            ("titles", "a name in its title", self.titled.get(note, 0.0)),
            *((part.name, part.explanation, part.of(row, note)) for part in self.extra),
        )
        full = self._full.of(note)
        return [Reason(name, said, part / full) for name, said, part in parts if part]

    def _context_score(self, row: int, note: int) -> float:
        """Return the context score, from notes in a sequence or from adjacent passages."""
        if self.neighbours is not None and self.neighbours.linked(note):
            return self._from_sequence(self.neighbours, row, note)
        owner = self.owner.get
        places = (place for place in (row - 1, row + 1) if owner(place) == note)
        return sum(self._from_adjacent(row, place) for place in places)

    def _from_adjacent(self, row: int, place: int) -> float:
        """Return what an adjacent passage of the same note adds to the score of a passage."""
        own = self._own.get
        return ADJACENT * (own(place, 0.0) - EXPECTED * own(row, 0.0))

    def _from_sequence(self, neighbours: Neighbours, row: int, note: int) -> float:
        """Add up the weighted scores of the passages in the notes before and after."""
        lexical, semantic = self.lexical.get, self.semantic.get
        own = ALONE * lexical(row, 0.0), ALONE * semantic(row, 0.0)
        total = 0.0
        for place, (weight, semantic_weight) in zip(
            neighbours.beside(note), self._context_weights, strict=True
        ):
            if place is None:
                total += weight * own[0] + semantic_weight * own[1]
            else:
                total += weight * lexical(place, 0.0) + semantic_weight * semantic(place, 0.0)
        return total

    def _container_score(self, note: int) -> float:
        if not self._container_scores:
            return 0.0
        return self._container_scores.get(self._container.get(note, ""), 0.0)

    def _score_containers(self) -> dict[str, float]:
        """Return the weighted score of each container: that of its best member."""
        best: dict[str, float] = {}
        if self._container:
            for row, score in (self.lexical or self.semantic).items():
                whole = self._container.get(self.owner[row])
                if whole is not None:
                    best[whole] = max(best.get(whole, 0.0), score)
        return {whole: CONTAINER * score for whole, score in best.items()}


class _Full:
    """The score of a perfect passage: one that has all that the question asks for."""

    def __init__(
        self,
        evidence: Evidence,
        semantic: float,
        context: DocumentRelations,
        neighbours: Neighbours | None,
    ) -> None:
        # what another retriever finds is no weaker for words that no document has
        missed = not evidence.lexical and any(one.matches for one in evidence.extra)
        words = 1.0 if evidence.by_words and not missed else 0.0
        self._alone = words * (1 + NOTES) + semantic + sum(one.weight for one in evidence.extra)
        # the words of a perfect passage count again for each neighbour that it doesn't have
        beside = words * sum(BEFORE_WORDS + AFTER_WORDS) + 2 * semantic * sum(BESIDE_SEMANTIC)
        self._in_sequence = ALONE * beside
        self._in_container = CONTAINER * words
        self._container = context.container
        self._neighbours = neighbours

    def of(self, note: int) -> float:
        """Return the score of a perfect passage of a note."""
        full = self._alone
        if self._neighbours is not None and self._neighbours.linked(note):
            full += self._in_sequence
        if note in self._container:
            full += self._in_container
        return full


class _ExtraPart:
    """The part of the score that a retriever without its own part adds."""

    def __init__(self, found: ExtraMatches) -> None:
        self.name, self.explanation, self.weight = found.name, found.explanation, found.weight
        self._of_documents = found.of_documents
        keys = found.matches.documents if found.of_documents else found.matches.rows
        self._shares = _of_perfect(keys, found.matches.scores, found.matches.scale, found.weight)

    def of(self, row: int, document: int) -> float:
        """Return the part for one passage."""
        return self._shares.get(document if self._of_documents else row, 0.0)


def rank(evidence: Evidence, context: DocumentRelations, code_ratio: CodeRatio) -> Ranking:
    """Score every passage that was found, as a share of a perfect passage's score."""
    parts = _ScoreParts(evidence, context, code_ratio)
    scores = parts.scores()
    return Ranking(parts.owner, scores, scores, parts.reasons)


def _lexical_scores(evidence: Evidence, neighbours: Neighbours | None) -> dict[int, float]:
    """Return each passage's share of a perfect BM25 score, with less length normalisation.

    In a sequence of short notes (the turns of a talk), full normalisation favours the shortest.
    """
    found = evidence.lexical
    in_passages = _LengthNormalisation(evidence.mean_words, PASSAGE_B)
    if neighbours is None:
        scores = in_passages.all(found)
    else:
        in_sequences = _LengthNormalisation(evidence.mean_words, SEQUENCE_B)
        columns = zip(found.documents, found.scores, found.words, strict=True)
        scores = [
            (in_sequences if neighbours.linked(note) else in_passages)(score, words)
            for note, score, words in columns
        ]
    return _of_perfect(found.rows, scores, found.scale)


def _note_scores(found: Matches, neighbours: Neighbours | None) -> dict[int, float]:
    """Return each note's weighted share of a perfect BM25 score."""
    scores: Sequence[float] = found.scores
    if neighbours is not None and found.words:
        in_sequences = _LengthNormalisation(sum(found.words) / len(found), SEQUENCE_B)
        scores = [
            in_sequences(score, words) if neighbours.linked(note) else score
            for _, note, score, words in found
        ]
    return _of_perfect(found.documents, scores, found.scale, NOTES)


def _title_scores(shares: Mapping[int, float], neighbours: Neighbours | None) -> dict[int, float]:
    """Return what names in titles add to the scores of notes in a sequence."""
    if neighbours is None:
        return {}
    return {note: TITLES * share for note, share in shares.items() if neighbours.linked(note)}


class _LengthNormalisation:
    """Converts BM25 scores from tantivy's b to another b; exact for a term that occurs once."""

    def __init__(self, mean: float, b: float) -> None:
        """Take the mean length in words, and the new b."""
        mean = max(mean, 1.0)
        self._was, self._was_more = 1 + _K1 * (1 - _B), _K1 * _B / mean
        self._is, self._is_more = 1 + _K1 * (1 - b), _K1 * b / mean

    def all(self, matches: Matches) -> list[float]:
        """Return the converted scores of all matches, in one loop: a call for each is slower."""
        was, was_more, now, now_more = self._was, self._was_more, self._is, self._is_more
        columns = zip(matches.scores, matches.words, strict=True)
        return [s * (was + was_more * words) / (now + now_more * words) for s, words in columns]

    def __call__(self, score: float, words: int) -> float:
        """Return the converted score of a text with that many words."""
        return score * (self._was + self._was_more * words) / (self._is + self._is_more * words)


def _of_perfect(
    keys: Iterable[Key], scores: Collection[float], scale: Scale, weight: float = 1.0
) -> dict[Key, float]:
    """Scale scores linearly: of an unrelated passage to 0, of a perfect one to the weight."""
    low, high = scale
    if high <= low:
        return {}
    factor = weight / (high - low)
    pairs = zip(keys, scores, strict=True)
    return {key: factor * (score - low) for key, score in pairs if score > low}


def _semantic_weight(
    evidence: Evidence,
    lexical: Mapping[int, float],
    semantic: Mapping[int, float],
    code_ratio: CodeRatio,
) -> float:
    """Interpolate between the weights for prose and for code by the code ratio of the best."""
    if not semantic or not lexical:
        return evidence.weight if semantic else 0.0
    total = _sum(lexical, semantic)
    best = nlargest(_BEST, zip(total.values(), map(neg, total), strict=True))
    code = min(max((code_ratio([-row for _, row in best]) - _CODE_FROM) / _CODE_OVER, 0.0), 1.0)
    return (1 - code) * evidence.weight + code * evidence.code_weight


def _sum(one: Mapping[int, float], other: Mapping[int, float]) -> dict[int, float]:
    """Add two parts, row by row."""
    total = dict(one)
    known = total.get
    for row, score in other.items():
        total[row] = known(row, 0.0) + score
    return total
