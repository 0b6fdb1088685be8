"""Query the retrievers, fuse their matches, boost the scores and group passages by document."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from itertools import chain
from types import MappingProxyType
from typing import Generic, Literal, TypeVar, cast

from memory_bank.base import NamedTuple
from memory_bank.base.documents import Document
from memory_bank.base.errors import EmbedderUnavailable
from memory_bank.base.settings import Settings
from memory_bank.search import candidates
from memory_bank.search.candidates import Accesses, Candidate, Factors, Stale, add_linked
from memory_bank.search.manifest import document_rows, entries, link_rows
from memory_bank.search.manifest.document_rows import PassageRow
from memory_bank.search.manifest.manifest import Manifest, filled_key
from memory_bank.search.ranking import NOTES, Evidence, ExtraMatches, Weights, fuse_ranks, rank
from memory_bank.search.retrievers import RetrieverSet
from memory_bank.search.retrievers.base import (
    CONDITIONS,
    NEVER,
    Access,
    Matches,
    Question,
    Ranking,
    Reason,
    Retriever,
    Scale,
    Scope,
)
from memory_bank.search.retrievers.keyword.analyzer import (
    count_words,
    is_english,
    stem_words,
    weighted_stems,
)
from memory_bank.search.retrievers.keyword.keyword_index import KeywordIndex
from memory_bank.search.retrievers.vectors import DISABLED

DEPTH = 400
"""Passages taken from the keyword index of passages."""

STRICT_DEPTH = 20_000
"""Maximum number of passages that are checked for required and excluded phrases."""

_DEPTHS = {"notes": 200, "vectors": 200}
"""Matches taken from the other retrievers; from one that is not named here, DEPTH."""

_OWN_PART = frozenset({"keyword", "notes", "vectors"})
"""Retrievers with their own part in the ranking."""

_MIN_COVERAGE = 0.95
"""Share of passages that must have a vector before a retriever is queried."""

_RANK_EXPONENT = 8
"""Exponent of scores by ranks before boosts: they lie so close together that a boost of 1.2 would
otherwise be worth a dozen places at the top."""

_MAX_ALSO = 3
"""Maximum number of other sections of a note in its hit."""

_FEW, _NEAR = 20, 0.05
"""Number of documents up to which the nearest ones are listed though no word matches, and the least
cosine for that."""

_GUESSES = 3
"""Guesses that are listed there where no document answers: a plain choice."""

_NO_SCALES: Mapping[str, Scale] = MappingProxyType({})

Unit = Literal["documents", "entries", "sections"]

_PARTS: Mapping[Unit, Callable[[Manifest, Collection[int]], Mapping[int, int]]] = {
    "documents": lambda _, __: {},
    "entries": entries.map_observed,
    "sections": entries.map_ordinals,
}
"""What is found: the parts of documents that are hits of their own, by passage."""


class Hit(NamedTuple):
    """A document in an answer: its best passage, and the best ones of its other sections."""

    document: Document
    score: float
    """The likelihood that it answers the question, 0 to 1."""
    reasons: tuple[Reason, ...]
    best: PassageRow
    also: tuple[tuple[PassageRow, float], ...]
    access: Access
    superseded_by: str = ""
    weak: bool = False
    """Whether its likelihood is too low for an answer."""
    stale: str = ""
    """Why the code that its section cites is no longer as it was."""
    rank: float = 0.0
    """What it is ranked by: its score after boosts."""


AnyHit = TypeVar("AnyHit")


class SearchResult(NamedTuple, Generic[AnyHit]):
    """The hits of a search, the mode that was used, and why if it is not the one requested."""

    hits: tuple[AnyHit, ...]
    mode: str
    fallback_reason: str = ""


class RetrieverMatches(NamedTuple):
    """The matches of each retriever by its name, and why another was not queried."""

    matches: Mapping[str, Matches]
    retrievers: Mapping[str, Retriever]
    reason: str = ""


class Engine:
    """Ranks the documents of one index."""

    def __init__(
        self, manifest: Manifest, retrievers: RetrieverSet, settings: Settings, accesses: Accesses
    ) -> None:
        """Query these retrievers, as far as they are filled."""
        self._manifest = manifest
        self._retrievers = retrievers
        self._settings = settings
        self._accesses = accesses

    def search(
        self,
        question: Question,
        scope: Scope,
        *,
        mode: str,
        limit: int,
        now: float,
        unit: Unit = "documents",
        stale: Stale | None = None,
        scales: Mapping[str, Scale] = _NO_SCALES,
        factors: Factors | None = None,
        weights: Weights = NOTES,
    ) -> SearchResult[Hit]:
        """Return the best documents in scope for a question, at most `limit`.

        Those whose likelihood is too low for an answer come last and are marked as weak. With the
        unit `entries`, each observation in a document is a hit of its own besides the document;
        with `sections`, each section is, and documents are not grouped at all. `stale` says
        why passages are stale, which are ranked lower.
        """
        if scope.only is not None and not scope.only:
            return SearchResult((), mode)
        if not question.text.strip() and not question.strict:
            return SearchResult(self._newest(scope, limit, stale), mode)
        results = self._query(question._replace(about=weights.about), scope, mode)
        for name, matches in results.matches.items():
            matches.scale = scales.get(name, matches.scale)
        used = "lexical" if results.reason else mode
        guesses = unit == "documents" and self._is_small()
        ranking = self._rank(results, question, scope, weights, guesses=guesses)
        settings = self._settings.memory
        parts = _PARTS[unit](self._manifest, ranking.scores)
        most = 1 / candidates.STALE_WEIGHT if stale else 1.0
        pool = candidates.select(self._manifest, ranking, settings, limit, parts, most)
        by_section = unit == "sections" or weights != NOTES
        self._boost(pool, now, by_section=by_section)
        if factors is not None:
            candidates.boost_files(self._manifest, pool, factors)
        by_words = "keyword" in results.matches
        passages, _ = self.word_counts(())
        asked = candidates.Asked(count_words(question.text), passages, by_words)
        if by_words:  # by meaning alone, the nearest are shown, however far they are
            self._find_words(pool, results.matches, unit)
        if unit == "documents" and factors is None:
            add_linked(self._manifest, pool, scope)
        if stale is not None:
            candidates.rank_stale(pool, stale, limit)
        candidates.judge(pool, ranking, asked)
        if self._rank_past(pool, question):
            candidates.judge(pool, ranking, asked)
        ranked = sorted(pool, key=candidates.order)
        few = _GUESSES if guesses and all(candidate.weak for candidate in ranked) else 0
        ranked = [
            candidate for rank, candidate in enumerate(ranked) if candidate.shown or rank < few
        ][:limit]
        if stale is not None:  # successors of others may have come among the first
            candidates.rank_stale(ranked, stale, limit)
            candidates.judge(ranked, ranking, asked)
            ranked.sort(key=candidates.order)
        hits = self._hits(ranked, ranking, also=unit == "documents")
        return SearchResult(hits, used, results.reason)

    def word_counts(self, words: Collection[str]) -> tuple[int, dict[str, int]]:
        """Count all passages, and those that have each word: a stem, or a bigram."""
        return self._keyword_index().counts(words)

    def best_scores(self, question: Question) -> dict[str, float]:
        """Return the best scores of words that a question has, by retriever."""
        names = ("keyword", "notes")
        return {
            name: cast("KeywordIndex", self._retrievers.get(name)).best(question) for name in names
        }

    def _boost(
        self,
        pool: Sequence[Candidate],
        now: float,
        *,
        by_section: bool,
    ) -> None:
        """Multiply the scores of candidates by all factors."""
        settings = self._settings.memory
        candidates.boost(self._manifest, pool, self._accesses, settings, now, by_section=by_section)
        candidates.rank_sessions(self._manifest, pool)
        candidates.rank_deprecated(self._manifest, pool)

    def _rank_past(self, pool: Collection[Candidate], question: Question) -> bool:
        """Rank what no longer holds below what holds; tell whether there was any such document."""
        documents = {candidate.document for candidate in pool}
        successors = (
            link_rows.map_superseded(self._manifest, documents)
            if link_rows.any_supersedes(self._manifest)
            else {}
        )
        if successors:
            candidates.rank_superseded(pool, successors)
        asked_stems = weighted_stems(question.text).keys()
        statuses = {  # a question for what was rejected keeps its order
            document: status
            for document, status in link_rows.map_ended(self._manifest, documents).items()
            if not asked_stems & set(stem_words(status))
        }
        if statuses:
            candidates.rank_ended(pool, statuses)
        return bool(successors or statuses)

    def _find_words(
        self, pool: Sequence[Candidate], matches: Mapping[str, Matches], unit: Unit
    ) -> None:
        """Tell which candidates have a word of the question: documents anywhere, parts inside."""
        documents = set(chain(matches["keyword"].documents, matches["notes"].documents))
        rows = set(matches["keyword"].rows)
        for candidate in pool:
            candidate.worded = (
                candidate.document in documents if unit == "documents" else candidate.row in rows
            )

    def _query(self, question: Question, scope: Scope, mode: str) -> RetrieverMatches:
        """Query the retrievers of a mode; if `semantic` is unavailable, those of `lexical`."""
        matches: dict[str, Matches] = {}
        queried: dict[str, Retriever] = {}
        reason = ""
        for name in self._retrievers.in_mode(mode):
            try:
                retriever, why = self._ready(name)
                if retriever is not None and not why:
                    matches[name] = retriever.find(question, _DEPTHS.get(name, DEPTH), scope)
                    queried[name] = retriever
                reason = reason or why
            except EmbedderUnavailable as error:
                reason = reason or error.reason
        if "keyword" in matches and "notes" not in matches:
            # the best passage of a document stands for all of it; the last one counts
            words = matches["keyword"]
            matches["notes"] = Matches.of(reversed([*words]), words.scale)
        if reason and mode == "semantic":
            return self._query(question, scope, "lexical")._replace(reason=reason)
        return RetrieverMatches(matches, queried, reason)

    def _ready(self, name: str) -> tuple[Retriever | None, str]:
        """Return a retriever, and why it can't be queried yet, if so."""
        retriever = self._retrievers.get(name)
        if retriever is None:
            return None, DISABLED
        pending = f"{name}_pending"
        if self._manifest.meta(filled_key(name)) != retriever.version:
            return retriever, pending
        waiting = retriever.unsearchable()
        if waiting and waiting > (1 - _MIN_COVERAGE) * document_rows.count_passages(self._manifest):
            return retriever, pending
        return retriever, ""

    def _allowed(
        self, matches: Matches, question: Question, scope: Scope, retriever: Retriever
    ) -> Matches:
        """Drop passages without a required phrase or with an excluded one.

        The keyword index has applied both to its own matches.
        """
        if not question.strict or not matches or retriever.name == "keyword":
            return matches
        strict = question._replace(text="", preferred=())
        allowed = set(self._keyword_index().find(strict, STRICT_DEPTH, scope).rows)
        return Matches.of((match for match in matches if match.row in allowed), matches.scale)

    def _keyword_index(self) -> KeywordIndex:
        return cast("KeywordIndex", self._retrievers.get("keyword"))

    def _newest(self, scope: Scope, limit: int, stale: Stale | None) -> tuple[Hit, ...]:
        """Return the newest documents in scope: the answer to a query of conditions only."""
        if scope.only is None:
            return ()
        rows = document_rows.find_newest(self._manifest, scope, limit)
        places = document_rows.first_passages(self._manifest, [row.number for row in rows])
        accesses = self._accesses([row.known_as for row in rows])
        why = stale({row.row: number for number, row in places.items()}) if stale else {}
        reasons = (Reason(CONDITIONS, "meets them all; the newest first", 1.0),)
        return tuple(
            Hit(
                row,
                1.0,
                reasons,
                places[row.number],
                (),
                accesses.get(row.known_as, NEVER),
                stale=why.get(places[row.number].row, ""),
            )
            for row in rows
            if row.number in places
        )

    def _rank(
        self,
        results: RetrieverMatches,
        question: Question,
        scope: Scope,
        weights: Weights,
        *,
        guesses: bool,
    ) -> Ranking:
        evidence = self._evidence(results, question, scope, guesses=guesses)
        evidence = evidence._replace(weights=weights)
        ranking = rank(evidence, partial(document_rows.code_ratio, self._manifest))
        if scope.rows is not None:  # a document found as a whole has its first passage
            inside = {row: score for row, score in ranking.scores.items() if row in scope.rows}
            ranking = ranking._replace(scores=inside, relevance=inside)
        if self._settings.search.fusion != "rrf":
            return ranking
        fused = fuse_ranks(
            {
                name: self._allowed(results.matches[name], question, scope, retriever)
                for name, retriever in results.retrievers.items()
                if retriever.unit == "passages"
            }
        )
        spread = {row: score**_RANK_EXPONENT for row, score in fused.scores.items()}
        return fused._replace(scores=spread, relevance=ranking.scores)

    def _is_small(self) -> bool:
        return document_rows.count_documents(self._manifest, _FEW + 1) <= _FEW

    def _evidence(
        self, results: RetrieverMatches, question: Question, scope: Scope, *, guesses: bool
    ) -> Evidence:
        """Assign the matches of each retriever to their part of the ranking."""
        lexical = results.matches.get("keyword", Matches())
        vectors = results.retrievers.get("vectors")
        semantic, weight, code_weight = Matches(), 1.0, 1.0
        if vectors is not None:
            semantic = self._allowed(results.matches["vectors"], question, scope, vectors)
            if "keyword" in results.matches:
                weight, code_weight = vectors.weight, getattr(vectors, "code_weight", 1.0)
                if not is_english(question.text):
                    weight = getattr(vectors, "foreign_weight", weight)
                if not lexical:
                    least, scale = getattr(vectors, "similarity_threshold", 0.0), semantic.scale
                    if guesses:  # best guesses are listed, as weaker matches
                        least, scale = _NEAR, Scale(0.0, scale.perfect)
                    semantic = Matches.of(
                        (match for match in semantic if match.score >= least), scale
                    )
        return Evidence(
            lexical=lexical,
            notes=results.matches.get("notes", Matches()),
            semantic=semantic,
            weight=weight,
            code_weight=code_weight,
            mean_words=document_rows.mean_words(self._manifest),
            by_words="keyword" in results.matches,
            extra=tuple(
                ExtraMatches(
                    name,
                    retriever.explanation,
                    self._allowed(results.matches[name], question, scope, retriever),
                    retriever.weight,
                    retriever.unit == "documents",
                )
                for name, retriever in results.retrievers.items()
                if name not in _OWN_PART
            ),
        )

    def _hits(self, best: Sequence[Candidate], ranking: Ranking, *, also: bool) -> tuple[Hit, ...]:
        rows = document_rows.read_documents(
            self._manifest, {candidate.document for candidate in best}
        )
        rows_of: dict[int, list[int]] = {candidate.document: [] for candidate in best}
        for row, owner in ranking.owner.items():
            if also and owner in rows_of and row in ranking.scores:
                rows_of[owner].append(row)
        best_rows = {candidate.row for candidate in best}
        places = document_rows.read_passages(
            self._manifest,
            best_rows.union(*rows_of.values()),
        )
        return tuple(
            Hit(
                document=rows[candidate.document],
                score=candidate.likelihood,
                reasons=(*_reasons(ranking, candidate.row), *candidate.boosts),
                best=places[candidate.row],
                also=_also(candidate.row, rows_of[candidate.document], places, ranking.scores),
                access=candidate.access,
                superseded_by=candidate.superseded_by,
                weak=candidate.weak,
                stale=candidate.stale or "",
                rank=candidate.score,
            )
            for candidate in best
            if candidate.document in rows and candidate.row in places
        )


def _reasons(ranking: Ranking, row: int) -> Sequence[Reason]:
    """Return why a passage was found; nothing for one that only links lead to."""
    return ranking.reasons(row) if row in ranking.owner else ()


def _also(
    number: int,
    rows: Iterable[int],
    places: Mapping[int, PassageRow],
    scores: Mapping[int, float],
) -> tuple[tuple[PassageRow, float], ...]:
    """Return the best passage of each other section, at most `_MAX_ALSO`."""
    ordinals = {places[number].ordinal}
    passages: list[tuple[PassageRow, float]] = []
    for row in sorted(rows, key=lambda row: (-scores[row], row)):
        place = places.get(row)
        if place is not None and place.ordinal not in ordinals:
            ordinals.add(place.ordinal)
            passages.append((place, min(1.0, scores[row])))
    return tuple(passages[:_MAX_ALSO])
