"""Ask the retrievers, fuse their lists, boost, and gather passages into documents."""

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
from memory_bank.search.ranking import Evidence, Further, rank

DEPTH = 400
"""Passages taken from the list of words."""
NOTES_DEPTH = 200
"""Notes taken from the list of whole notes."""
STRICT_DEPTH = 20_000
"""Passages that may have a required phrase, or lack an excluded one."""
_DEPTHS = {"notes": NOTES_DEPTH, "vectors": 200}
"""What is taken from lists other than that of words; of those not named, as much as of words."""
_OWN_PART = frozenset({"keyword", "notes", "vectors"})
"""Retrievers that have a part of their own in the ranking."""
_ENOUGH = 0.95
"""Share of passages with vectors from which a retriever is asked at all."""
_SPARE = 16
"""Notes looked at beyond those asked for, in place of those that turn out superseded."""
_ALSO = 3
"""Further sections of a note that are named in its hit."""
_SUPERSEDED = 0.5
"""What the score of a note is multiplied with when another one supersedes it."""
_ABOVE = 1.01
"""How far above the superseded note its successor is lifted."""

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
    """What a search found, how, and why it fell back if it did."""

    hits: tuple[Hit, ...]
    mode: str
    fallback_reason: str = ""


class _Group:
    """A note that may be shown, with its best passage."""

    __slots__ = ("access", "boosts", "document", "row", "score", "superseded_by")

    def __init__(self, document: int, row: int, score: float) -> None:
        self.document = document
        self.row = row
        self.score = score
        self.boosts: list[Reason] = []
        self.access: Access = NEVER
        self.superseded_by = ""


class Lists(NamedTuple):
    """What each retriever found, by its name, and why one that was wanted was not asked."""

    found: Mapping[str, Matches]
    retrievers: Mapping[str, Retriever]
    reason: str = ""


class Engine:
    """Ranks the documents of one index."""

    def __init__(
        self, manifest: Manifest, retrievers: RetrieverSet, settings: Settings, accesses: Accesses
    ) -> None:
        """Ask these retrievers, as far as they are filled."""
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
        lists = self._ask(question, scope, mode)
        used = "lexical" if lists.reason else mode
        ranking = self._rank(lists, question, scope)
        groups = self._contenders(ranking, limit)
        self._boost(groups, now)
        self._demote(groups)
        best = sorted(groups.values(), key=lambda group: (-group.score, group.document))[:limit]
        return SearchResult(self._hits(best, ranking), used, lists.reason)

    def _ask(self, question: Question, scope: Scope, mode: str) -> Lists:
        """Ask the retrievers of a mode; by words, and why, where one has nothing to say."""
        names = in_mode(mode)
        found: dict[str, Matches] = {}
        asked: dict[str, Retriever] = {}
        reason = ""
        for name in names:
            try:
                retriever, why = self._ready(name)
                if retriever is not None and not why:
                    found[name] = retriever.find(question, _DEPTHS.get(name, DEPTH), scope)
                    asked[name] = retriever
                reason = reason or why
            except EmbedderUnavailable as error:
                reason = reason or error.reason
        if reason and mode == "semantic":
            return self._ask(question, scope, "lexical")._replace(reason=reason)
        return Lists(found, asked, reason)

    def _ready(self, name: str) -> tuple[Retriever | None, str]:
        """Return a retriever to ask, or the reason why it has nothing to say yet."""
        retriever = self._retrievers.get(name)
        if retriever is None:
            return None, DISABLED
        pending = f"{name}_pending"
        if self._manifest.meta(filled_key(name)) != retriever.version:
            return retriever, pending
        waiting = retriever.waiting()
        if waiting and waiting > (1 - _ENOUGH) * documents.count_passages(self._manifest):
            return retriever, pending
        return retriever, ""

    def _allowed(
        self, matches: Matches, question: Question, scope: Scope, by: Retriever
    ) -> Matches:
        """Leave out passages without the phrases that must be there, or with excluded words.

        What the index of words found has them, or has not.
        """
        if not question.strict or not matches or by.name == "keyword":
            return matches
        strict = question._replace(text="", preferred=())
        allowed = set(self._words().find(strict, STRICT_DEPTH, scope).rows)
        return Matches.of(match for match in matches if match.row in allowed)

    def _words(self) -> KeywordIndex:
        return cast("KeywordIndex", self._retrievers.get("keyword"))

    def _newest(self, scope: Scope, limit: int) -> tuple[Hit, ...]:
        """Return the newest documents in scope: the answer to conditions without words."""
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

    def _rank(self, lists: Lists, question: Question, scope: Scope) -> Ranking:
        if self._settings.search.fusion == "rrf":
            ranked = [
                Ranked(name, self._allowed(matches, question, scope, lists.retrievers[name]))
                for name, matches in lists.found.items()
                if lists.retrievers[name].unit == "passages"
            ]
            return by_ranks(ranked, self._settings.search.rrf_k)
        evidence = self._evidence(lists, question, scope)
        found = {number for matches in lists.found.values() for number in matches.documents}
        context = neighbourhood.context(self._manifest, found)
        if context.following and evidence.words:
            whole = cast("KeywordIndex", self._retrievers.get("notes"))
            evidence = evidence._replace(titled=whole.titled(question))
        return rank(evidence, context, partial(documents.code_ratio, self._manifest))

    def _evidence(self, lists: Lists, question: Question, scope: Scope) -> Evidence:
        """Give each list its part in the ranking; one that has none of its own adds its share."""
        words = lists.found.get("keyword", Matches())
        vectors = lists.retrievers.get("vectors")
        semantic, weight, code_weight = Matches(), 1.0, 1.0
        if vectors is not None:
            semantic = self._allowed(lists.found["vectors"], question, scope, vectors)
            if "keyword" in lists.found:
                weight, code_weight = vectors.weight, getattr(vectors, "code_weight", 1.0)
                if not words:
                    least = getattr(vectors, "similarity_threshold", 0.0)
                    semantic = Matches.of(match for match in semantic if match.score >= least)
        return Evidence(
            words=words,
            notes=lists.found.get("notes", Matches()),
            semantic=semantic,
            weight=weight,
            code_weight=code_weight,
            mean_words=documents.mean_words(self._manifest),
            further=tuple(
                Further(
                    name,
                    one.explanation,
                    self._allowed(lists.found[name], question, scope, one),
                    one.weight,
                    one.unit == "documents",
                )
                for name, one in lists.retrievers.items()
                if name not in _OWN_PART
            ),
        )

    def _contenders(self, ranking: Ranking, limit: int) -> dict[int, _Group]:
        """Return the notes that can be among the best once they are boosted, by number."""
        last = limit + (_SPARE if neighbourhood.any_supersedes(self._manifest) else 0)
        owner, scores = ranking.owner, ranking.scores
        found: dict[int, _Group] = {}
        least = 0.0
        for row in sorted(scores, key=scores.__getitem__, reverse=True):
            score = scores[row]
            if score < least:
                break
            group = found.get(owner[row])
            if group is None:
                found[owner[row]] = _Group(owner[row], row, score)
                if len(found) == last:
                    least = score / boosts.most(self._settings.memory)
            elif score == group.score:
                group.row = min(row, group.row)  # the first of equals is shown
        return found

    def _boost(self, groups: Mapping[int, _Group], now: float) -> None:
        settings = self._settings.memory
        dates = self._manifest.cached(documents.dates) or documents.dates(
            self._manifest, groups.keys()
        )
        seen = self._accesses([dates[number][1] for number in groups if number in dates])
        for number, group in groups.items():
            created, key = dates.get(number, (0.0, ""))
            factors = [("recency", boosts.recency(settings, created, now))]
            if key in seen:
                group.access = seen[key]
                factors.append(("access", boosts.access(settings, group.access, now)))
            for name, factor in factors:
                if factor != 1.0:
                    group.score *= factor
                    group.boosts.append(Reason(name, "boost", factor))

    def _demote(self, groups: Mapping[int, _Group]) -> None:
        """Rank a superseded note below the one that supersedes it, which is lifted if need be."""
        if not neighbourhood.any_supersedes(self._manifest):
            return
        for old, (new, path) in neighbourhood.superseded(self._manifest, groups.keys()).items():
            group = groups[old]
            group.superseded_by = path
            group.score *= _SUPERSEDED
            group.boosts.append(Reason("superseded", f"by {path}", _SUPERSEDED))
            successor = groups.get(new)
            if successor is not None and 0 < successor.score <= group.score:
                lift = _ABOVE * group.score / successor.score
                successor.score *= lift
                successor.boosts.append(Reason("supersedes", "a note that matches better", lift))

    def _hits(self, best: Sequence[_Group], ranking: Ranking) -> tuple[Hit, ...]:
        rows = documents.documents(self._manifest, [group.document for group in best])
        others: dict[int, list[int]] = {group.document: [] for group in best}
        for row, owner in ranking.owner.items():
            if owner in others and row in ranking.scores:
                others[owner].append(row)
        places = documents.passages(
            self._manifest, [row for some in others.values() for row in some]
        )
        scale = max([1.0, *(group.score for group in best)])
        return tuple(
            Hit(
                document=rows[group.document],
                score=group.score / scale,
                reasons=(*ranking.reasons(group.row), *group.boosts),
                best=places[group.row],
                also=_also(group.row, others[group.document], places, ranking.scores, scale),
                access=group.access,
                superseded_by=group.superseded_by,
            )
            for group in best
            if group.document in rows and group.row in places
        )


def _also(
    shown: int,
    rows: Iterable[int],
    places: Mapping[int, PassageRow],
    scores: Mapping[int, float],
    scale: float,
) -> tuple[tuple[PassageRow, float], ...]:
    """Return the best passage of each other section, at most three."""
    taken = {places[shown].ordinal}
    found: list[tuple[PassageRow, float]] = []
    for row in sorted(rows, key=lambda row: (-scores[row], row)):
        place = places.get(row)
        if place is not None and place.ordinal not in taken:
            taken.add(place.ordinal)
            found.append((place, scores[row] / scale))
    return tuple(found[:_ALSO])
