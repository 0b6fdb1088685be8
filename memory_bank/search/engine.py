"""Query the retrievers, fuse their matches, boost the scores and group passages by document."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple, cast

from memory_bank.activity.access import NEVER, Access
from memory_bank.config import Settings
from memory_bank.errors import EmbedderUnavailable
from memory_bank.manifest import documents, neighbourhood
from memory_bank.manifest.documents import DocumentRow, PassageRow
from memory_bank.manifest.manifest import Manifest, filled_key
from memory_bank.retrievers import RetrieverSet, in_mode
from memory_bank.retrievers.base import Matches, Question, Retriever, Scope
from memory_bank.retrievers.keyword.keyword_index import KeywordIndex
from memory_bank.retrievers.vectors import DISABLED
from memory_bank.search import boosts
from memory_bank.search.fusion import Ranked, by_ranks
from memory_bank.search.hits import Ranking, Reason
from memory_bank.search.ranking import Evidence, ExtraMatches, rank

DEPTH = 400
"""Passages taken from the keyword index of passages."""
NOTES_DEPTH = 200
"""Notes taken from the keyword index of whole notes."""
STRICT_DEPTH = 20_000
"""Maximum number of passages that are checked for required and excluded phrases."""
_DEPTHS = {"notes": NOTES_DEPTH, "vectors": 200}
"""Matches taken from the other retrievers; from one that is not named here, DEPTH."""
_OWN_PART = frozenset({"keyword", "notes", "vectors"})
"""Retrievers with their own part in the ranking."""
_MIN_COVERAGE = 0.95
"""Share of passages that must have a vector before a retriever is queried."""
_EXTRA_CANDIDATES = 16
"""Candidates beyond the limit, since superseded ones move down."""
_MAX_ALSO = 3
"""Maximum number of other sections of a note in its hit."""
_SUPERSEDED_FACTOR = 0.5
"""Factor for the score of a superseded note."""
_SUCCESSOR_FACTOR = 1.01
"""Factor from the score of a superseded note to that of its successor, if that was lower."""

Accesses = Callable[[Collection[str]], Mapping[str, Access]]


class Hit(NamedTuple):
    """A document in an answer: its best passage, and the best ones of its other sections."""

    document: DocumentRow
    score: float
    """0 to 1; the best of an answer need not be 1."""
    reasons: tuple[Reason, ...]
    best: PassageRow
    also: tuple[tuple[PassageRow, float], ...]
    access: Access
    superseded_by: str = ""


class SearchResult(NamedTuple):
    """The hits of a search, the mode that was used, and why if it is not the one requested."""

    hits: tuple[Hit, ...]
    mode: str
    fallback_reason: str = ""


class _Candidate:
    """A note that may become a hit, with its best passage."""

    __slots__ = ("access", "boosts", "document", "row", "score", "superseded_by")

    def __init__(self, document: int, row: int, score: float) -> None:
        self.document = document
        self.row = row
        self.score = score
        self.boosts: list[Reason] = []
        self.access: Access = NEVER
        self.superseded_by = ""


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
        self, question: Question, scope: Scope, *, mode: str, limit: int, now: float
    ) -> SearchResult:
        """Return the best documents in scope for a question, at most `limit`."""
        if scope.only is not None and not scope.only:
            return SearchResult((), mode)
        if not question.text.strip() and not question.strict:
            return SearchResult(self._newest(scope, limit), mode)
        results = self._query(question, scope, mode)
        used = "lexical" if results.reason else mode
        ranking = self._rank(results, question, scope)
        candidates = self._candidates(ranking, limit)
        self._boost(candidates, now)
        self._rank_superseded(candidates)
        best = sorted(candidates.values(), key=lambda one: (-one.score, one.document))[:limit]
        return SearchResult(self._hits(best, ranking), used, results.reason)

    def _query(self, question: Question, scope: Scope, mode: str) -> RetrieverMatches:
        """Query the retrievers of a mode; if `semantic` is unavailable, those of `lexical`."""
        names = in_mode(mode)
        found: dict[str, Matches] = {}
        queried: dict[str, Retriever] = {}
        reason = ""
        for name in names:
            try:
                retriever, why = self._ready(name)
                if retriever is not None and not why:
                    found[name] = retriever.find(question, _DEPTHS.get(name, DEPTH), scope)
                    queried[name] = retriever
                reason = reason or why
            except EmbedderUnavailable as error:
                reason = reason or error.reason
        if reason and mode == "semantic":
            return self._query(question, scope, "lexical")._replace(reason=reason)
        return RetrieverMatches(found, queried, reason)

    def _ready(self, name: str) -> tuple[Retriever | None, str]:
        """Return a retriever, and why it can't be queried yet, if so."""
        retriever = self._retrievers.get(name)
        if retriever is None:
            return None, DISABLED
        pending = f"{name}_pending"
        if self._manifest.meta(filled_key(name)) != retriever.version:
            return retriever, pending
        waiting = retriever.waiting()
        if waiting and waiting > (1 - _MIN_COVERAGE) * documents.count_passages(self._manifest):
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
        return Matches.of(match for match in matches if match.row in allowed)

    def _keyword_index(self) -> KeywordIndex:
        return cast("KeywordIndex", self._retrievers.get("keyword"))

    def _newest(self, scope: Scope, limit: int) -> tuple[Hit, ...]:
        """Return the newest documents in scope: the answer to a query of conditions only."""
        if scope.only is None:
            return ()
        found = documents.newest(self._manifest, scope, limit)
        places = documents.first_passages(self._manifest, [one.number for one in found])
        seen = self._accesses([one.known_as for one in found])
        reasons = (Reason("conditions", "meets them all; the newest first", 1.0),)
        return tuple(
            Hit(one, 1.0, reasons, places[one.number], (), seen.get(one.known_as, NEVER))
            for one in found
            if one.number in places
        )

    def _rank(self, results: RetrieverMatches, question: Question, scope: Scope) -> Ranking:
        if self._settings.search.fusion == "rrf":
            ranked = [
                Ranked(name, self._allowed(matches, question, scope, results.retrievers[name]))
                for name, matches in results.matches.items()
                if results.retrievers[name].unit == "passages"
            ]
            return by_ranks(ranked, self._settings.search.rrf_k)
        evidence = self._evidence(results, question, scope)
        found = {number for matches in results.matches.values() for number in matches.documents}
        context = neighbourhood.context(self._manifest, found)
        if context.following and evidence.lexical:
            notes = cast("KeywordIndex", self._retrievers.get("notes"))
            evidence = evidence._replace(titled=notes.title_matches(question))
        return rank(evidence, context, partial(documents.code_ratio, self._manifest))

    def _evidence(self, results: RetrieverMatches, question: Question, scope: Scope) -> Evidence:
        """Assign the matches of each retriever to their part of the ranking."""
        lexical = results.matches.get("keyword", Matches())
        vectors = results.retrievers.get("vectors")
        semantic, weight, code_weight = Matches(), 1.0, 1.0
        if vectors is not None:
            semantic = self._allowed(results.matches["vectors"], question, scope, vectors)
            if "keyword" in results.matches:
                weight, code_weight = vectors.weight, getattr(vectors, "code_weight", 1.0)
                if not lexical:
                    least = getattr(vectors, "similarity_threshold", 0.0)
                    semantic = Matches.of(match for match in semantic if match.score >= least)
        return Evidence(
            lexical=lexical,
            notes=results.matches.get("notes", Matches()),
            semantic=semantic,
            weight=weight,
            code_weight=code_weight,
            mean_words=documents.mean_words(self._manifest),
            extra=tuple(
                ExtraMatches(
                    name,
                    one.explanation,
                    self._allowed(results.matches[name], question, scope, one),
                    one.weight,
                    one.unit == "documents",
                )
                for name, one in results.retrievers.items()
                if name not in _OWN_PART
            ),
        )

    def _candidates(self, ranking: Ranking, limit: int) -> dict[int, _Candidate]:
        """Return the notes that can be among the best after boosts, by number."""
        last = limit + (_EXTRA_CANDIDATES if neighbourhood.any_supersedes(self._manifest) else 0)
        owner, scores = ranking.owner, ranking.scores
        found: dict[int, _Candidate] = {}
        least = 0.0
        for row in sorted(scores, key=scores.__getitem__, reverse=True):
            score = scores[row]
            if score < least:
                break
            candidate = found.get(owner[row])
            if candidate is None:
                found[owner[row]] = _Candidate(owner[row], row, score)
                if len(found) == last:
                    least = score / boosts.upper_bound(self._settings.memory)
            elif score == candidate.score:
                candidate.row = min(
                    row, candidate.row
                )  # of equal scores, the first passage is shown
        return found

    def _boost(self, candidates: Mapping[int, _Candidate], now: float) -> None:
        settings = self._settings.memory
        dates = self._manifest.cached(documents.dates) or documents.dates(
            self._manifest, candidates.keys()
        )
        seen = self._accesses([dates[number][1] for number in candidates if number in dates])
        for number, candidate in candidates.items():
            created, key = dates.get(number, (0.0, ""))
            factors = [("recency", boosts.recency(settings, created, now))]
            if key in seen:
                candidate.access = seen[key]
                factors.append(("access", boosts.access(settings, candidate.access, now)))
            for name, factor in factors:
                if factor != 1.0:
                    candidate.score *= factor
                    candidate.boosts.append(Reason(name, "boost", factor))

    def _rank_superseded(self, candidates: Mapping[int, _Candidate]) -> None:
        """Rank a superseded note below its successor, whose score is raised if needed."""
        if not neighbourhood.any_supersedes(self._manifest):
            return
        for old, (new, path) in neighbourhood.superseded(self._manifest, candidates.keys()).items():
            candidate = candidates[old]
            candidate.superseded_by = path
            candidate.score *= _SUPERSEDED_FACTOR
            candidate.boosts.append(Reason("superseded", f"by {path}", _SUPERSEDED_FACTOR))
            successor = candidates.get(new)
            if successor is not None and 0 < successor.score <= candidate.score:
                factor = _SUCCESSOR_FACTOR * candidate.score / successor.score
                successor.score *= factor
                successor.boosts.append(Reason("supersedes", "a note that matches better", factor))

    def _hits(self, best: Sequence[_Candidate], ranking: Ranking) -> tuple[Hit, ...]:
        rows = documents.documents(self._manifest, [candidate.document for candidate in best])
        others: dict[int, list[int]] = {candidate.document: [] for candidate in best}
        for row, owner in ranking.owner.items():
            if owner in others and row in ranking.scores:
                others[owner].append(row)
        places = documents.passages(
            self._manifest, [row for some in others.values() for row in some]
        )
        scale = max([1.0, *(candidate.score for candidate in best)])
        return tuple(
            Hit(
                document=rows[candidate.document],
                score=candidate.score / scale,
                reasons=(*ranking.reasons(candidate.row), *candidate.boosts),
                best=places[candidate.row],
                also=_also(
                    candidate.row, others[candidate.document], places, ranking.scores, scale
                ),
                access=candidate.access,
                superseded_by=candidate.superseded_by,
            )
            for candidate in best
            if candidate.document in rows and candidate.row in places
        )


def _also(
    shown: int,
    rows: Iterable[int],
    places: Mapping[int, PassageRow],
    scores: Mapping[int, float],
    scale: float,
) -> tuple[tuple[PassageRow, float], ...]:
    """Return the best passage of each other section, at most `_MAX_ALSO`."""
    taken = {places[shown].ordinal}
    found: list[tuple[PassageRow, float]] = []
    for row in sorted(rows, key=lambda row: (-scores[row], row)):
        place = places.get(row)
        if place is not None and place.ordinal not in taken:
            taken.add(place.ordinal)
            found.append((place, scores[row] / scale))
    return tuple(found[:_MAX_ALSO])
