"""Rank passages of the shared index as those of a bank are ranked.

The engine gives raw scores; parts, weights, boosts and likelihood are those of a bank's search.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from memory_bank.base import NamedTuple
from memory_bank.base.setting_sections import Memory
from memory_bank.search import boosts
from memory_bank.search.candidates import Asked, Candidate, judge, rank_superseded
from memory_bank.search.ranking import Evidence, rank
from memory_bank.search.retrievers.base import Matches, Question, Ranking, Reason, Scale
from memory_bank.search.retrievers.keyword.analyzer import (
    adjacent_stems,
    count_words,
    split_bigrams,
    stem_words,
    weighted_stems,
)
from memory_bank.search.score_calibration import CommonScales, WordCounts
from memory_bank.shared.conversation import Conversation
from memory_bank.shared.engines.base import (
    AskedWord,
    SharedEngine,
    SharedMatch,
    SharedPassage,
    Where,
)
from memory_bank.shared.word_weights import USUAL_WORDS, number_word, weigh_nearness

_WORDS_DEPTH, _NEAREST_DEPTH = 400, 200
"""Passages taken by words and by meaning, as many as from a bank."""

_EXTRA = 20
"""Notes that are read beyond those shown, since nearness of words and boosts change the order."""

_MOST_CHECKED = 200
"""Notes that are read to check conditions that the engine doesn't know."""

_SECOND = 0.3
"""What a note's score by words has of that of its second passage, the third a share of this …"""

_NOT_FOUND = -1
"""Stands for the number of a note that the question did not find."""

Check = Callable[[SharedPassage], bool]


class Meaning(NamedTuple):
    """A question's vector, and the weights of its embedder."""

    vector: Sequence[float]
    weight: float
    least: float
    """The least cosine of a passage if none has a word of the question."""


class SharedHit(NamedTuple):
    """A note of the shared index, with its best passage."""

    passage: SharedPassage
    candidate: Candidate
    """Its score is comparable with that of the hits of a bank asked together with it."""
    reasons: tuple[Reason, ...]


def count_passage_words(index: Conversation, words: Collection[str]) -> WordCounts:
    """Count the passages that the role may read, and those that have each word."""
    numbers = {number_word(word): word for word in words}

    def count(engine: SharedEngine) -> WordCounts:
        frequencies = engine.frequencies(numbers) if numbers else {}
        return WordCounts(
            engine.size(), {numbers[number]: many for number, many in frequencies.items()}
        )

    return index.ask(count)


class SharedSearch:
    """One question in one state of the shared index; steps are called in their order."""

    def __init__(
        self,
        index: Conversation,
        question: Question,
        where: Where,
        meaning: Meaning | None,
        counts: WordCounts,
        *,
        by_words: bool,
    ) -> None:
        """Ask for passages by words, unless it is by meaning alone."""
        self._index = index
        self._question = question
        self._where = where
        self._meaning = meaning
        self._by_words = by_words
        self._counts = counts
        self._worded: list[SharedMatch] = []
        self._near: list[SharedMatch] = []

    def find(self, rarities: Mapping[str, float]) -> dict[str, float]:
        """Find passages; return the best scores of words, by retriever."""
        words = self._asked(rarities) if self._by_words else []

        def find(engine: SharedEngine) -> tuple[list[SharedMatch], list[SharedMatch]]:
            meaning = self._meaning
            return (
                engine.words(words, _WORDS_DEPTH, self._where) if words else [],
                engine.nearest(meaning.vector, _NEAREST_DEPTH, self._where) if meaning else [],
            )

        self._worded, self._near = self._index.ask(find)
        notes = _score_notes(self._worded)
        return {
            "keyword": max((match.score for match in self._worded), default=0.0),
            "notes": max((score for _, score in notes.values()), default=0.0),
        }

    def hits(
        self,
        together: CommonScales,
        settings: Memory,
        limit: int,
        now: float,
        checks: Sequence[Check],
    ) -> list[SharedHit]:
        """Return the best notes that pass all checks, best first."""
        ranking = self._rank(together)
        checks = (*checks, *self._phrases())
        most = _MOST_CHECKED if checks else limit + _EXTRA
        candidates = _best_of_notes(ranking, most, settings.recency_boost_factor)
        passages = self._index.ask(
            lambda engine: engine.passages([candidate.row for candidate in candidates])
        )
        ranking = self._nearer(ranking, passages, together)
        candidates = [
            candidate for candidate in candidates if _passes(passages.get(candidate.row), checks)
        ]
        for candidate in candidates:
            candidate.score = ranking.scores.get(candidate.row, 0.0)
        for candidate in candidates:
            factor = boosts.recency_boost(settings, passages[candidate.row].note.created, now)
            if factor != 1.0:
                candidate.boost("recency", "boost", factor, timely=True)
        query_size = Asked(count_words(self._question.text), self._counts.size, self._by_words)
        if self._by_words:
            worded = {match.note for match in self._worded}
            for candidate in candidates:
                candidate.worded = candidate.document in worded
        judge(candidates, ranking, query_size)
        if successors := _successors(candidates, passages):
            rank_superseded(candidates, successors)
            judge(candidates, ranking, query_size)
        visible = [candidate for candidate in candidates if candidate.shown]
        visible.sort(key=lambda candidate: (candidate.weak, -candidate.score, candidate.row))
        return [
            SharedHit(
                passages[candidate.row],
                candidate,
                (*ranking.reasons(candidate.row), *candidate.boosts),
            )
            for candidate in visible[:limit]
        ]

    def _asked(self, rarities: Mapping[str, float]) -> list[AskedWord]:
        text = self._question.text
        weights = {**dict.fromkeys(split_bigrams(text).split(), 1.0), **weighted_stems(text)}
        counts = self._counts.passages
        return [
            AskedWord(number_word(word), weight * rarities.get(word, 0.0), counts[word])
            for word, weight in weights.items()
            if counts.get(word)
        ]

    def _rank(self, together: CommonScales) -> Ranking:
        worded = _matches(self._worded, together.scales["keyword"])
        near, weight = self._near, 1.0
        if self._meaning is not None and self._by_words:
            weight = self._meaning.weight
            if not self._worded:
                near = [match for match in near if match.score >= self._meaning.least]
        notes = _score_notes(self._worded)
        whole = Matches(
            [row for row, _ in notes.values()],
            list(notes),
            [score for _, score in notes.values()],
            scale=together.scales["notes"],
        )
        evidence = Evidence(
            lexical=worded,
            notes=whole,
            semantic=_matches(near, together.scales["vectors"]),
            weight=weight,
            code_weight=weight,
            mean_words=USUAL_WORDS,
            by_words=self._by_words,
        )
        return rank(evidence, lambda _: 0.0)

    def _nearer(
        self, ranking: Ranking, passages: Mapping[int, SharedPassage], together: CommonScales
    ) -> Ranking:
        """Rank again with the nearness of words in the passages that were read."""
        pairs = adjacent_stems(self._question.text) if self._worded else ()
        added = {
            row: weigh_nearness(pairs, together.rarities, passage)
            for row, passage in passages.items()
        }
        if not any(added.values()):
            return ranking
        self._worded = [
            match._replace(score=match.score + added.get(match.row, 0.0)) for match in self._worded
        ]
        self._worded.sort(key=lambda match: (-match.score, match.row))
        return self._rank(together)

    def _phrases(self) -> list[Check]:
        """Return the checks for required and excluded phrases."""
        question = self._question
        required = [stem_words(phrase) for phrase in question.required]
        excluded = [stem_words(phrase) for phrase in question.excluded]

        def check(passage: SharedPassage) -> bool:
            text = stem_words(" ".join((passage.note.title, *passage.headings, passage.text)))
            return all(_has(text, phrase) for phrase in required) and not any(
                _has(text, phrase) for phrase in excluded
            )

        return [check] if question.strict else []


def _matches(matches: Sequence[SharedMatch], scale: Scale) -> Matches:
    if not matches:
        return Matches()
    rows, notes, scores, words = zip(*matches, strict=True)
    return Matches(rows, notes, scores, words, scale)


def _score_notes(matches: Iterable[SharedMatch]) -> dict[int, tuple[int, float]]:
    """Estimate the scores of whole notes: first row and score of each note."""
    scores: dict[int, list[SharedMatch]] = defaultdict(list)
    for match in matches:
        scores[match.note].append(match)
    return {
        note: (
            min(match.row for match in note_matches),
            sum(
                match.score * _SECOND**place for place, match in enumerate(note_matches)
            ),  # best first
        )
        for note, note_matches in scores.items()
    }


def _best_of_notes(ranking: Ranking, most: int, span: float) -> list[Candidate]:
    """Return the best passage of each of the best notes, as far as boosts can raise one."""
    candidates: dict[int, Candidate] = {}
    least = 0.0
    for row in sorted(ranking.scores, key=lambda row: (-ranking.scores[row], row)):
        note, score = ranking.owner[row], ranking.scores[row]
        if score < least or len(candidates) == 2 * most:
            break
        if note not in candidates:
            candidates[note] = Candidate(note, row, score)
            if len(candidates) == most:
                least = score / span
    return list(candidates.values())


def _passes(passage: SharedPassage | None, checks: Sequence[Check]) -> bool:
    return passage is not None and all(check(passage) for check in checks)


def _successors(
    candidates: Sequence[Candidate], passages: Mapping[int, SharedPassage]
) -> dict[int, tuple[int, str]]:
    """Map superseded notes to their successors, as far as one of the two names the other."""
    by_place = {_place(passages[candidate.row]): candidate.document for candidate in candidates}
    successors: dict[int, tuple[int, str]] = {}
    for candidate in candidates:
        passage = passages[candidate.row]
        for kind, target in passage.note.rest.get("links", ()):
            place = (passage.head.repo, passage.head.bank, target)
            other_by_place = by_place.get(place, _NOT_FOUND)
            if kind == "superseded_by":
                successors.setdefault(candidate.document, (other_by_place, target))
            if kind == "supersedes" and other_by_place not in {_NOT_FOUND, candidate.document}:
                successors.setdefault(other_by_place, (candidate.document, passage.note.path))
    return successors


def _place(passage: SharedPassage) -> tuple[str, str, str]:
    return passage.head.repo, passage.head.bank, passage.note.path


def _has(text: Sequence[str], phrase: Sequence[str]) -> bool:
    size = len(phrase)
    return any(text[place : place + size] == phrase for place in range(len(text) - size + 1))
