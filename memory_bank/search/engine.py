"""Ask the retrievers, fuse their lists, boost, and gather passages into notes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from memory_bank.activity.access import NEVER, Access
from memory_bank.config import Settings
from memory_bank.errors import EmbedderUnavailable
from memory_bank.manifest import lookup
from memory_bank.manifest.lookup import NoteRow, PassageRow
from memory_bank.retrievers.base import Match, Question, Retriever, Scope
from memory_bank.search import boosts
from memory_bank.search.fusion import Ranked, by_ranks
from memory_bank.search.hits import Candidate, Reason
from memory_bank.search.ranking import Evidence, rank
from memory_bank.sqlite import Connection

DEPTH = 400
"""Passages taken from the list of words."""
NOTES_DEPTH = 200
"""Notes taken from the list of whole notes."""
STRICT_DEPTH = 20_000
"""Passages that may have a required phrase, or lack an excluded one."""
NEAR_DEPTH = 200
"""Passages taken from the list of meaning."""
_ALSO = 3
"""Further sections of a note that are named in its hit."""
_SUPERSEDED = 0.5
"""What the score of a note is multiplied with when another one supersedes it."""
_ABOVE = 1.01
"""How far above the superseded note its successor is lifted."""

Accesses = Callable[[Collection[str]], Mapping[str, Access]]


@dataclass(frozen=True, slots=True)
class Meaning:
    """The vectors to ask and what their word weighs; or why there are none."""

    vectors: Retriever | None
    weight: float = 0.0
    code_weight: float = 0.0
    floor: float = 0.0
    """Likeness that a passage must have where no word of the question is found."""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Hit:
    """A note in an answer: its best passage, and the best ones of its other sections."""

    note: NoteRow
    score: float
    """0 to 1; the best of an answer need not be 1."""
    reasons: tuple[Reason, ...]
    best: PassageRow
    also: tuple[tuple[PassageRow, float], ...]
    access: Access
    superseded_by: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """What a search found, how, and why it fell back if it did."""

    hits: tuple[Hit, ...]
    mode: str
    fallback_reason: str = ""


@dataclass(slots=True)
class _Group:
    """The candidates of one note."""

    best: Candidate
    others: list[Candidate]
    score: float
    reasons: list[Reason]
    access: Access = NEVER
    superseded_by: str = ""


class Engine:
    """Ranks the notes of one bank."""

    def __init__(
        self,
        base: Connection,
        keyword: Retriever,
        whole_notes: Retriever,
        settings: Settings,
        accesses: Accesses,
    ) -> None:
        """Search with the indexes of words and the `meaning` that each search brings along."""
        self._base = base
        self._keyword = keyword
        self._whole_notes = whole_notes
        self._settings = settings
        self._accesses = accesses

    def search(
        self,
        question: Question,
        scope: Scope,
        meaning: Meaning,
        *,
        mode: str,
        limit: int,
        now: float,
    ) -> Found:
        """Return the best notes in scope for a question, at most `limit`."""
        if scope.only is not None and not scope.only:
            return Found((), mode)
        if not question.text.strip() and not question.strict:
            return Found(self._newest(scope, limit), mode)
        evidence, used, reason = self._ask(question, scope, meaning, mode)
        if self._settings.search.fusion == "rrf":
            candidates = self._by_ranks(evidence)
        else:
            candidates = self._by_scores(evidence)
        groups = _by_note(candidates.values())
        self._boost(groups, now)
        self._demote(groups)
        best = sorted(groups.items(), key=lambda item: (-item[1].score, item[0]))[:limit]
        return Found(self._hits(best), used, reason)

    def _ask(
        self, question: Question, scope: Scope, meaning: Meaning, mode: str
    ) -> tuple[Evidence, str, str]:
        near: Sequence[Match] = ()
        reason = meaning.reason if mode != "lexical" else ""
        if mode != "lexical" and meaning.vectors is not None:
            try:
                near = meaning.vectors.find(question, NEAR_DEPTH, scope)
            except EmbedderUnavailable as error:
                reason = error.reason
        if reason:
            mode = "lexical"
        if question.strict:
            near = self._allowed(near, question, scope)
        if mode == "semantic":
            return Evidence(meaning=near, weight=1.0, code_weight=1.0), mode, reason
        words = self._keyword.find(question, DEPTH, scope)
        if not words:
            near = [match for match in near if match.score >= meaning.floor]
        evidence = Evidence(
            words=words,
            notes=self._whole_notes.find(question, NOTES_DEPTH, scope),
            meaning=near,
            weight=meaning.weight,
            code_weight=meaning.code_weight,
            mean_words=lookup.mean_words(self._base),
        )
        return evidence, mode, reason

    def _allowed(
        self, matches: Sequence[Match], question: Question, scope: Scope
    ) -> Sequence[Match]:
        """Leave out passages without the phrases that must be there, or with excluded words."""
        strict = replace(question, text="", preferred=())
        allowed = {match.row for match in self._keyword.find(strict, STRICT_DEPTH, scope)}
        return [match for match in matches if match.row in allowed]

    def _newest(self, scope: Scope, limit: int) -> tuple[Hit, ...]:
        """Return the newest notes in scope: the answer to conditions without words."""
        if scope.only is None:
            return ()
        notes = lookup.newest(self._base, scope, limit)
        rows = lookup.first_rows(self._base, [note.number for note in notes])
        places = {place.note: place for place in lookup.passages(self._base, list(rows.values()))}
        seen = self._accesses([note.key for note in notes])
        reasons = (Reason("conditions", "meets them all; the newest first", 1.0),)
        return tuple(
            Hit(note, 1.0, reasons, places[note.number], (), seen.get(note.key, NEVER))
            for note in notes
            if note.number in places
        )

    def _by_scores(self, evidence: Evidence) -> dict[int, Candidate]:
        found = {match.note for match in (*evidence.words, *evidence.meaning)}
        whole = {match.note for match in evidence.notes} - found
        around = lookup.surroundings(self._base, found | whole)
        first_rows = lookup.first_rows(self._base, whole)
        return rank(evidence, around, partial(lookup.codeness, self._base), first_rows)

    def _by_ranks(self, evidence: Evidence) -> dict[int, Candidate]:
        lists = [Ranked("keyword", evidence.words), Ranked("vectors", evidence.meaning)]
        return by_ranks(lists, self._settings.search.rrf_k)

    def _boost(self, groups: Mapping[int, _Group], now: float) -> None:
        settings = self._settings.memory
        dates = lookup.dates(self._base, list(groups))
        seen = self._accesses([key for _, key in dates.values()])
        for number, (created, key) in dates.items():
            group = groups[number]
            group.access = seen.get(key, NEVER)
            factors = {
                "recency": boosts.recency(settings, created, now),
                "access": boosts.access(settings, group.access, now),
            }
            for name, factor in factors.items():
                if factor != 1.0:
                    group.score *= factor
                    group.reasons.append(Reason(name, "boost", factor))

    def _demote(self, groups: Mapping[int, _Group]) -> None:
        """Rank a superseded note below the one that supersedes it, which is lifted if need be."""
        for old, (new, path) in lookup.superseded(self._base, list(groups)).items():
            group = groups[old]
            group.superseded_by = path
            group.score *= _SUPERSEDED
            group.reasons.append(Reason("superseded", f"by {path}", _SUPERSEDED))
            successor = groups.get(new)
            if successor is not None and 0 < successor.score <= group.score:
                lift = _ABOVE * group.score / successor.score
                successor.score *= lift
                successor.reasons.append(Reason("supersedes", "a note that matches better", lift))

    def _hits(self, best: Sequence[tuple[int, _Group]]) -> tuple[Hit, ...]:
        notes = lookup.notes(self._base, [number for number, _ in best])
        rows = [c.row for _, group in best for c in (group.best, *group.others)]
        places = {place.row: place for place in lookup.passages(self._base, rows)}
        scale = max([1.0, *(group.score for _, group in best)])
        return tuple(
            Hit(
                note=notes[number],
                score=group.score / scale,
                reasons=tuple(group.reasons),
                best=places[group.best.row],
                also=_also(group, places, scale),
                access=group.access,
                superseded_by=group.superseded_by,
            )
            for number, group in best
            if number in notes and group.best.row in places
        )


def _by_note(candidates: Collection[Candidate]) -> dict[int, _Group]:
    groups: dict[int, _Group] = {}
    for candidate in sorted(candidates, key=lambda c: (-c.score, c.row)):
        group = groups.get(candidate.note)
        if group is None:
            groups[candidate.note] = _Group(candidate, [], candidate.score, list(candidate.reasons))
        else:
            group.others.append(candidate)
    return groups


def _also(
    group: _Group, places: Mapping[int, PassageRow], scale: float
) -> tuple[tuple[PassageRow, float], ...]:
    """Return the best passage of each other section, at most three."""
    taken = {places[group.best.row].section} if group.best.row in places else set()
    found: list[tuple[PassageRow, float]] = []
    for candidate in group.others:
        place = places.get(candidate.row)
        if place is not None and place.section not in taken:
            taken.add(place.section)
            found.append((place, candidate.score / scale))
    return tuple(found[:_ALSO])
