"""Candidates for hits: the best passage of each document or part, boosts, superseded ones."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from operator import attrgetter
from types import MappingProxyType

from memory_bank.base import NamedTuple
from memory_bank.base.setting_sections import Memory
from memory_bank.search.manifest import document_rows, entries, link_rows
from memory_bank.search.manifest.manifest import IS_SUPERSEDING, Manifest
from memory_bank.search.ranking import (
    LEAST,
    MATCHES,
    access_boost,
    estimate_likelihood,
    is_weak,
    recency_boost,
    upper_bound,
)
from memory_bank.search.retrievers.base import NEVER, Access, Ranking, Reason, Scope

_EXTRA_CANDIDATES = 16
"""Candidates beyond the limit, since successors move up."""

_SUCCESSOR_FACTOR = 1.01
"""Factor from the score of a superseded note to that of its successor, if that was lower."""

_NEAR_ENDED = 0.4
"""Share of the score of a note that no longer holds from which a note that holds comes first."""

_SESSION_FACTOR = 0.8
"""Factor for the score of a session or observation; recency's boost doesn't make up for it."""

_DEPRECATED_FACTOR = 0.7
"""Factor for the score of a note that says that it is deprecated, and not what replaces it."""

_NO_PARTS: Mapping[int, int] = MappingProxyType({})

Factors = Callable[[Collection[str]], Mapping[str, float]]
"""Returns factors of documents by their keys; 1 is left out."""

Stale = Callable[[Mapping[int, int]], Mapping[int, str]]
"""Returns why passages are stale, given as row and document; only those that are."""

Accesses = Callable[[Collection[str]], Mapping[str, Access]]


class Candidate:
    """A document, or a part of one, that may become a hit, with its best passage."""

    __slots__ = (
        "access", "boosts", "document", "factor", "likelihood", "linked", "row", "score", "stale",
        "superseded_by", "timely", "weak", "worded",
    )  # fmt: skip

    def __init__(self, document: int, row: int, score: float) -> None:
        """Take the score of the best passage."""
        self.document = document
        self.row = row
        self.score = score
        self.factor = 1.0
        """The product of all boosts."""
        self.timely = 1.0
        """The part of it that is for age and use: they say nothing of what the document answers."""
        self.boosts: list[Reason] = []
        self.linked = 0.0
        """The share of its score that it has from links."""
        self.access: Access = NEVER
        self.superseded_by = ""
        self.stale: str | None = None
        """Why its cited code changed; empty if it did not, None where nobody looked."""
        self.likelihood = 0.0
        self.weak = True
        """Whether it is too unlikely for an answer."""
        self.worded = True
        """Whether it has a word of the question, if words are asked for."""

    @property
    def shown(self) -> bool:
        """Whether it is in the answer: it has a word of the question, or is likely enough."""
        return self.worded or self.likelihood >= LEAST

    def boost(self, source: str, detail: str, factor: float, *, timely: bool = False) -> None:
        """Multiply the score by a factor, with its reason; `timely` is one for age or use."""
        self.score *= factor
        if timely:
            self.timely *= factor
        self.factor *= factor
        self.boosts.append(Reason(source, detail, factor))

    def link(self, reason: Reason) -> None:
        """Add what it gets from a link, with its reason."""
        self.score += reason.score
        self.linked += reason.score
        self.boosts.append(reason)


def select(
    manifest: Manifest,
    ranking: Ranking,
    settings: Memory,
    limit: int,
    parts: Mapping[int, int] = _NO_PARTS,
    most: float = 1.0,
) -> list[Candidate]:
    """Return the documents that can be among the best after boosts.

    `parts` maps passages to a part of their document, which is then a candidate of its own.
    `most` is the largest factor besides those of `boosts`.
    """
    last = limit + (_EXTRA_CANDIDATES if link_rows.any_supersedes(manifest) else 0)
    span = upper_bound(settings) * most
    if entries.any_observation(manifest):
        span /= _SESSION_FACTOR
    owner, scores = ranking.owner, ranking.scores
    candidates: dict[tuple[int, int | None], Candidate] = {}
    least = 0.0
    for row in sorted(scores, key=scores.__getitem__, reverse=True):
        score = scores[row]
        if score < least:
            break
        unit = owner[row], parts.get(row)
        candidate = candidates.get(unit)
        if candidate is None:
            candidates[unit] = Candidate(owner[row], row, score)
            if len(candidates) == last:
                least = score / span
        elif score == candidate.score:
            # of equal scores, the first passage is shown
            candidate.row = min(row, candidate.row)
    return list(candidates.values())


def boost(
    manifest: Manifest,
    candidates: Collection[Candidate],
    accesses: Accesses,
    settings: Memory,
    now: float,
    *,
    by_section: bool = False,
) -> None:
    """Boost candidates by their age and their accesses.

    With `by_section`, accesses of a section that has a name are those of that name.
    """
    numbers = {candidate.document for candidate in candidates}
    dates = document_rows.read_dates(manifest, numbers)
    names = (
        entries.map_names(manifest, [candidate.row for candidate in candidates])
        if by_section
        else {}
    )
    keys = [dates[number][1] for number in numbers if number in dates]
    accessed = accesses([*keys, *names.values()])
    for candidate in candidates:
        created, key = dates.get(candidate.document, (0.0, ""))
        key = names.get(candidate.row, key)
        factors = [("recency", recency_boost(settings, created, now))]
        if key in accessed:
            candidate.access = accessed[key]
            factors.append(("access", access_boost(settings, candidate.access, now)))
        for name, factor in factors:
            if factor != 1.0:
                candidate.boost(name, "boost", factor, timely=True)


def boost_files(manifest: Manifest, candidates: Collection[Candidate], factors_of: Factors) -> None:
    """Boost candidates by the factors of their files."""
    rows = document_rows.read_documents(manifest, {candidate.document for candidate in candidates})
    factors = factors_of([row.key for row in rows.values()])
    for candidate in candidates if factors else ():
        row = rows.get(candidate.document)
        if row is not None and row.key in factors:
            candidate.boost("kind", "of its file", factors[row.key])


def rank_sessions(manifest: Manifest, candidates: Collection[Candidate]) -> None:
    """Rank notes of sessions below others that match as well: these were written to be kept."""
    numbers = {candidate.document for candidate in candidates}
    recorded = entries.filter_observed(manifest, numbers)
    for candidate in candidates if recorded else ():
        if candidate.document in recorded:
            candidate.boost("session", "below other notes", _SESSION_FACTOR)


STALE_WEIGHT = 0.9
"""What the score of a passage is multiplied with whose cited code changed."""


def order(candidate: Candidate) -> tuple[bool, float, int, int]:
    """Return what candidates are sorted by: those that are not weak first, then by score.

    Weak ones are sorted by their likelihood alone: that one is new is no reason to read it first.
    """
    worth = candidate.likelihood if candidate.weak else candidate.score
    return candidate.weak, -worth, candidate.document, candidate.row


def rank_stale(candidates: Collection[Candidate], stale: Stale, limit: int) -> None:
    """Rank passages lower whose cited code changed, as far as they can be among the first.

    A lower rank lets others enter, so the first ones are judged until each of them is.
    """
    while True:
        best = sorted(candidates, key=lambda candidate: -candidate.score)[:limit]
        unjudged = [candidate for candidate in best if candidate.stale is None]
        if not unjudged:
            return
        reasons = stale({candidate.row: candidate.document for candidate in unjudged})
        for candidate in unjudged:
            candidate.stale = reasons.get(candidate.row, "")
            if candidate.stale:
                candidate.boost("stale", candidate.stale, STALE_WEIGHT)


def rank_deprecated(manifest: Manifest, candidates: Collection[Candidate]) -> None:
    """Rank notes that say that they are deprecated below others that match as well."""
    deprecated = document_rows.find_deprecated(
        manifest, {candidate.document for candidate in candidates}
    )
    for candidate in candidates if deprecated else ():
        if candidate.document in deprecated:
            candidate.boost("deprecated", "it says so", _DEPRECATED_FACTOR)


def rank_superseded(
    candidates: Collection[Candidate], successors: Mapping[int, tuple[int, str]]
) -> None:
    """Mark superseded documents, and raise a judged successor that matches above them.

    It matches if it is at least a near match and has a word of the question. The superseded one
    stays where it is.
    """
    of: dict[int, list[Candidate]] = {}
    for candidate in candidates:
        of.setdefault(candidate.document, []).append(candidate)
    best = {document: max(parts, key=attrgetter("score")) for document, parts in of.items()}
    # the best first, so that the successor of a successor is raised above that
    for old in sorted(best, key=lambda document: (-best[document].score, document)):
        if old not in successors:
            continue
        new, path = successors[old]
        for candidate in of[old]:
            candidate.superseded_by = path
        successor = best.get(new)
        if successor is None or successor.likelihood < MATCHES or not successor.worded:
            continue
        if 0 < successor.score <= best[old].score:
            factor = _SUCCESSOR_FACTOR * best[old].score / successor.score
            successor.boost("supersedes", "a note that matches better", factor)


def rank_ended(candidates: Collection[Candidate], statuses: Mapping[int, str]) -> None:
    """Raise the best note that holds and is near in score above each one that no longer does.

    `statuses` are those of the documents that no longer hold: deprecated, rejected.
    """
    best = {
        candidate.document: candidate for candidate in sorted(candidates, key=attrgetter("score"))
    }
    current = [
        candidate
        for document, candidate in best.items()
        if document not in statuses
        and candidate.worded
        and candidate.likelihood >= MATCHES
        and not candidate.superseded_by
    ]
    for old in sorted(statuses, key=lambda document: (-best[document].score, document)):
        score = best[old].score
        nearest = max(current, key=attrgetter("score"), default=None)
        if nearest is not None and _NEAR_ENDED * score <= nearest.score <= score:
            reason = f"holds, and the note that matches better is {statuses[old]}"
            nearest.boost("status", reason, _SUCCESSOR_FACTOR * score / nearest.score)


class Asked(NamedTuple):
    """What of a question and of the index says how much a match means."""

    words: int
    passages: int
    by_words: bool


def judge(candidates: Collection[Candidate], ranking: Ranking, asked: Asked) -> None:
    """Compute how likely each candidate answers a question.

    The first hit is the most relevant one, also where ranks decide the order.
    """
    shares = [
        ranking.relevance.get(candidate.row, 0.0) * candidate.factor + candidate.linked
        for candidate in candidates
    ]
    places = [
        (share, -candidate.document, -candidate.row)
        for share, candidate in zip(shares, candidates, strict=True)
    ]
    best = max(places, default=None)
    for share, place, candidate in zip(shares, places, candidates, strict=True):
        candidate.likelihood = estimate_likelihood(
            share / candidate.timely,
            asked.words,
            asked.passages,
            first=place == best,
            by_words=asked.by_words,
        )
        candidate.weak = is_weak(candidate.likelihood)


SHARE = 0.3
"""Of the score of a hit that a note gets which is found only by its link with that."""

RAISE = 0.2
"""The share that a note gets on top of its own score: with more, it passes hits that answer."""

BEST = 5
"""Hits whose links are followed."""

_MOST_LINKS = 40
"""Linked notes of a hit from which on its links say little: an index links to everything."""


def add_linked(manifest: Manifest, candidates: list[Candidate], scope: Scope) -> None:
    """Raise the candidates that are linked with the best ones, and add notes that are.

    A note gets the share of the best hit that it is linked with, in either direction.
    """
    best = sorted(candidates, key=lambda candidate: -candidate.score)[:BEST]
    linked = _linked_with(manifest, [candidate.document for candidate in best])
    by_document = {candidate.document: candidate for candidate in candidates}
    gains: dict[int, tuple[float, int]] = {}
    for hit in best:
        for document in linked.get(hit.document, ()):
            gain = (RAISE if document in by_document else SHARE) * hit.score
            if gain > gains.get(document, (0.0, 0))[0]:
                gains[document] = gain, hit.document
    missing = [number for number in gains if number not in by_document and scope.holds(0, number)]
    places = document_rows.first_passages(manifest, missing)
    for number in missing:
        if number in places:
            by_document[number] = Candidate(number, places[number].row, 0.0)
            by_document[number].worded = False
            candidates.append(by_document[number])
    names = document_rows.read_documents(manifest, {source for _, source in gains.values()})
    for document, (gain, source) in gains.items():
        if document in by_document and source in names:
            reason = Reason("linked", f"linked with {names[source].key}", gain)
            by_document[document].link(reason)


def _linked_with(manifest: Manifest, documents: list[int]) -> dict[int, list[int]]:
    """Map some documents to those that they link to or that link to them."""
    sql = (
        "SELECT DISTINCT {0}, {1} FROM links JOIN documents ON documents.id = {1}"
        f" WHERE {{0}} IN ({{{{}}}}) AND {{1}} IS NOT NULL AND NOT {IS_SUPERSEDING}"
        " AND NOT hidden AND links.document <> links.dest"
    )
    linked: dict[int, list[int]] = {}
    for columns in (("links.document", "links.dest"), ("links.dest", "links.document")):
        for document, neighbour in manifest.chunked(sql.format(*columns), documents):
            linked.setdefault(document, []).append(neighbour)
    return {
        number: neighbours
        for number, neighbours in linked.items()
        if len(neighbours) <= _MOST_LINKS
    }
