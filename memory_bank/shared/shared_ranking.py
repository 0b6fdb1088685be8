"""Ask the shared index within a time limit, and rank its passages as those of a bank are ranked.

The engine gives raw scores; parts, weights, boosts and likelihood are those of a bank's search.
What runs on the connection runs in a thread of its own: the name of a host may be looked up, or a
network may drop packets, for longer than any time limit of the driver. The thread is a daemon,
which the end of the process does not wait for.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as Late
from threading import Thread
from typing import TypeVar

from memory_bank.base import NamedTuple
from memory_bank.base.errors import BadInput, BadSetting, Busy, MemoryBankError, SharedUnavailable
from memory_bank.base.setting_sections import Memory
from memory_bank.search.candidates import Asked, Candidate, judge, rank_superseded
from memory_bank.search.ranking import Evidence, rank, recency_boost
from memory_bank.search.retrievers.base import Matches, Question, Ranking, Reason, Scale
from memory_bank.search.retrievers.keyword.analyzer import (
    adjacent_stems,
    count_words,
    split_bigrams,
    stem_words,
    weighted_stems,
)
from memory_bank.search.score_calibration import CommonScales, WordCounts
from memory_bank.shared.addresses import EMBEDDED
from memory_bank.shared.engines.base import (
    UNREACHABLE,
    AskedWord,
    SharedEngine,
    SharedMatch,
    SharedPassage,
    Where,
    engine_module,
    open_engine,
)
from memory_bank.shared.word_weights import USUAL_WORDS, number_word, weigh_nearness

_STARTING = 30.0
"""Least seconds for a server in a folder, which may have to be started first."""

_PAUSE = 5.0
"""Seconds for which a server that can't be reached is not asked again."""

Result = TypeVar("Result")


_failures: dict[str, tuple[float, SharedUnavailable]] = {}
"""By URL: until when a server is not asked again, and why."""


class Conversation:
    """One state of the shared index, until a deadline."""

    def __init__(self, url: str, seconds: float) -> None:
        """Connect; raise SharedUnavailable, BadSetting."""
        engine_module(url).load()  # the time limit is the server's
        if url.startswith(EMBEDDED):
            seconds = max(seconds, _STARTING)
        self._seconds = seconds
        self._deadline = time.monotonic() + seconds
        until, failure = _failures.get(url, (0.0, None))
        if failure is not None and time.monotonic() < until:
            raise failure
        try:
            self._engine = self._within(lambda: self._opened(url))
        except SharedUnavailable as error:
            if error.reason == UNREACHABLE:
                _failures[url] = time.monotonic() + _PAUSE, error
            raise

    def _opened(self, url: str) -> SharedEngine:
        engine = open_engine(url, seconds=self._seconds)
        try:
            engine.info()
            self._state = engine.one_state()
            self._state.__enter__()
        except BaseException:
            engine.__exit__()
            raise
        return engine

    def ask(self, work: Callable[[SharedEngine], Result]) -> Result:
        """Run some work on the connection; raise SharedUnavailable if it fails or takes long."""
        return self._within(lambda: work(self._engine))

    def close(self) -> None:
        """Close the connection, which may be in use: its thread ends with an error."""
        Thread(target=self._engine.__exit__, daemon=True).start()

    def _within(self, work: Callable[[], Result]) -> Result:
        future: Future[Result] = Future()
        Thread(target=_run, args=(future, work), daemon=True).start()
        try:
            return future.result(max(0.001, self._deadline - time.monotonic()))
        except (Late, Busy) as error:
            raise SharedUnavailable(
                f"the shared index gave no answer in {self._seconds:g} seconds",
                "try again, or set more: [shared] seconds",
                UNREACHABLE,
            ) from error
        except BadSetting:
            raise
        except BadInput as error:  # the server refuses what we ask, as a damaged one does
            raise SharedUnavailable(error.message, error.hint, UNREACHABLE) from error


def _run(future: Future[Result], work: Callable[[], Result]) -> None:
    try:
        future.set_result(work())
    except MemoryBankError as error:
        future.set_exception(error)
    finally:
        if not future.done():  # a fault of the program: the thread shows where it is
            future.set_exception(RuntimeError("the work on the shared index broke off"))


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
    """A note of the shared index."""

    passage: SharedPassage
    """Its best one."""
    candidate: Candidate
    """Its score is comparable with those of the hits of a bank asked together with it."""
    reasons: tuple[Reason, ...]


def count_passage_words(index: Conversation, words: Collection[str]) -> WordCounts:
    """Count the passages that the role may read, and those that have each word."""
    numbers = {number_word(word): word for word in words}

    def count(engine: SharedEngine) -> WordCounts:
        counts = engine.frequencies(numbers) if numbers else {}
        return WordCounts(
            engine.size(), {numbers[number]: passages for number, passages in counts.items()}
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
        self._word_matches: list[SharedMatch] = []
        self._vector_matches: list[SharedMatch] = []

    def find(self, rarities: Mapping[str, float]) -> dict[str, float]:
        """Find passages; return the best scores of words, by retriever."""
        words = self._weigh_words(rarities) if self._by_words else []

        def find(engine: SharedEngine) -> tuple[list[SharedMatch], list[SharedMatch]]:
            meaning = self._meaning
            return (
                engine.words(words, _WORDS_DEPTH, self._where) if words else [],
                engine.nearest(meaning.vector, _NEAREST_DEPTH, self._where) if meaning else [],
            )

        self._word_matches, self._vector_matches = self._index.ask(find)
        notes = _score_notes(self._word_matches)
        return {
            "keyword": max((match.score for match in self._word_matches), default=0.0),
            "notes": max((score for _, score in notes.values()), default=0.0),
        }

    def rank_hits(
        self,
        common: CommonScales,
        settings: Memory,
        limit: int,
        now: float,
        checks: Sequence[Check],
    ) -> list[SharedHit]:
        """Return the best notes that pass all checks, best first."""
        ranking = self._rank(common)
        checks = (*checks, *self._phrase_checks())
        most = _MOST_CHECKED if checks else limit + _EXTRA
        candidates = _choose_best(ranking, most, settings.recency_boost_factor)
        passages = self._index.ask(
            lambda engine: engine.passages([candidate.row for candidate in candidates])
        )
        ranking = self._rank_by_nearness(ranking, passages, common)
        candidates = [
            candidate
            for candidate in candidates
            if (passage := passages.get(candidate.row)) is not None
            and all(check(passage) for check in checks)
        ]
        for candidate in candidates:
            candidate.score = ranking.scores.get(candidate.row, 0.0)
        for candidate in candidates:
            factor = recency_boost(settings, passages[candidate.row].note.created, now)
            if factor != 1.0:
                candidate.boost("recency", "boost", factor, timely=True)
        query_size = Asked(count_words(self._question.text), self._counts.size, self._by_words)
        if self._by_words:
            word_notes = {match.note for match in self._word_matches}
            for candidate in candidates:
                candidate.worded = candidate.document in word_notes
        judge(candidates, ranking, query_size)
        if successors := _map_successors(candidates, passages):
            rank_superseded(candidates, successors)
            judge(candidates, ranking, query_size)
        hits = [candidate for candidate in candidates if candidate.shown]
        hits.sort(key=lambda candidate: (candidate.weak, -candidate.score, candidate.row))
        return [
            SharedHit(
                passages[candidate.row],
                candidate,
                (*ranking.reasons(candidate.row), *candidate.boosts),
            )
            for candidate in hits[:limit]
        ]

    def _weigh_words(self, rarities: Mapping[str, float]) -> list[AskedWord]:
        text = self._question.text
        weights = {**dict.fromkeys(split_bigrams(text).split(), 1.0), **weighted_stems(text)}
        counts = self._counts.passages
        return [
            AskedWord(number_word(word), weight * rarities.get(word, 0.0), counts[word])
            for word, weight in weights.items()
            if counts.get(word)
        ]

    def _rank(self, common: CommonScales) -> Ranking:
        word_matches = _make_matches(self._word_matches, common.scales["keyword"])
        vector_matches, weight = self._vector_matches, 1.0
        if self._meaning is not None and self._by_words:
            weight = self._meaning.weight
            if not self._word_matches:
                vector_matches = [
                    match for match in vector_matches if match.score >= self._meaning.least
                ]
        notes = _score_notes(self._word_matches)
        note_matches = Matches(
            [row for row, _ in notes.values()],
            list(notes),
            [score for _, score in notes.values()],
            scale=common.scales["notes"],
        )
        evidence = Evidence(
            lexical=word_matches,
            notes=note_matches,
            semantic=_make_matches(vector_matches, common.scales["vectors"]),
            weight=weight,
            code_weight=weight,
            mean_words=USUAL_WORDS,
            by_words=self._by_words,
        )
        return rank(evidence, lambda _: 0.0)

    def _rank_by_nearness(
        self, ranking: Ranking, passages: Mapping[int, SharedPassage], common: CommonScales
    ) -> Ranking:
        """Rank again with the nearness of words in the passages that were read."""
        pairs = adjacent_stems(self._question.text) if self._word_matches else ()
        nearness = {
            row: weigh_nearness(pairs, common.rarities, passage)
            for row, passage in passages.items()
        }
        if not any(nearness.values()):
            return ranking
        self._word_matches = [
            match._replace(score=match.score + nearness.get(match.row, 0.0))
            for match in self._word_matches
        ]
        self._word_matches.sort(key=lambda match: (-match.score, match.row))
        return self._rank(common)

    def _phrase_checks(self) -> list[Check]:
        """Return the checks for required and excluded phrases."""
        question = self._question
        required = [stem_words(phrase) for phrase in question.required]
        excluded = [stem_words(phrase) for phrase in question.excluded]

        def check(passage: SharedPassage) -> bool:
            text = stem_words(" ".join((passage.note.title, *passage.headings, passage.text)))
            return all(_has_phrase(text, phrase) for phrase in required) and not any(
                _has_phrase(text, phrase) for phrase in excluded
            )

        return [check] if question.strict else []


def _make_matches(matches: Sequence[SharedMatch], scale: Scale) -> Matches:
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
                match.score * _SECOND**order for order, match in enumerate(note_matches)
            ),  # best first
        )
        for note, note_matches in scores.items()
    }


def _choose_best(ranking: Ranking, most: int, span: float) -> list[Candidate]:
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


def _map_successors(
    candidates: Sequence[Candidate], passages: Mapping[int, SharedPassage]
) -> dict[int, tuple[int, str]]:
    """Map superseded notes to their successors, as far as one of the two names the other."""
    documents = {_note_key(passages[candidate.row]): candidate.document for candidate in candidates}
    successors: dict[int, tuple[int, str]] = {}
    for candidate in candidates:
        passage = passages[candidate.row]
        for kind, target in passage.note.rest.get("links", ()):
            key = (passage.head.repo, passage.head.bank, target)
            successor = documents.get(key, _NOT_FOUND)
            if kind == "superseded_by":
                successors.setdefault(candidate.document, (successor, target))
            if kind == "supersedes" and successor not in {_NOT_FOUND, candidate.document}:
                successors.setdefault(successor, (candidate.document, passage.note.path))
    return successors


def _note_key(passage: SharedPassage) -> tuple[str, str, str]:
    return passage.head.repo, passage.head.bank, passage.note.path


def _has_phrase(text: Sequence[str], phrase: Sequence[str]) -> bool:
    size = len(phrase)
    return any(text[start : start + size] == phrase for start in range(len(text) - size + 1))
