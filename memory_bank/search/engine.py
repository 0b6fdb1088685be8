"""Ask the retrievers, fuse their lists, boost, and gather passages into notes."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from memory_bank.activity.access import NEVER, Access
from memory_bank.config import Settings
from memory_bank.errors import EmbedderUnavailable
from memory_bank.manifest import lookup
from memory_bank.manifest.lookup import NoteRow, PassageRow
from memory_bank.retrievers.base import Matches, Question, Retriever, Scope
from memory_bank.search import boosts
from memory_bank.search.hits import Ranking, Reason
from memory_bank.search.ranking import Evidence, rank
from memory_bank.sqlite import Connection, Memo

if TYPE_CHECKING:
    from memory_bank.retrievers.keyword.keyword_index import KeywordIndex

DEPTH = 400
"""Passages taken from the list of words."""
NOTES_DEPTH = 200
"""Notes taken from the list of whole notes."""
STRICT_DEPTH = 20_000
"""Passages that may have a required phrase, or lack an excluded one."""
NEAR_DEPTH = 200
"""Passages taken from the list of meaning."""
_SPARE = 16
"""Notes looked at beyond those asked for, in place of those that turn out superseded."""
_ALSO = 3
"""Further sections of a note that are named in its hit."""
_SUPERSEDED = 0.5
"""What the score of a note is multiplied with when another one supersedes it."""
_ABOVE = 1.01
"""How far above the superseded note its successor is lifted."""

Accesses = Callable[[Collection[str]], Mapping[str, Access]]


class Meaning(NamedTuple):
    """The vectors to ask and what their word weighs; or why there are none."""

    vectors: Retriever | None
    weight: float = 0.0
    code_weight: float = 0.0
    floor: float = 0.0
    """Likeness that a passage must have where no word of the question is found."""
    reason: str = ""


class Hit(NamedTuple):
    """A note in an answer: its best passage, and the best ones of its other sections."""

    note: NoteRow
    score: float
    """0 to 1; the best of an answer need not be 1."""
    reasons: tuple[Reason, ...]
    best: PassageRow
    also: tuple[tuple[PassageRow, float], ...]
    access: Access
    superseded_by: str = ""


class Found(NamedTuple):
    """What a search found, how, and why it fell back if it did."""

    hits: tuple[Hit, ...]
    mode: str
    fallback_reason: str = ""


class _Group:
    """A note that may be shown, with its best passage."""

    __slots__ = ("access", "boosts", "note", "row", "score", "superseded_by")

    def __init__(self, note: int, row: int, score: float) -> None:
        self.note = note
        self.row = row
        self.score = score
        self.boosts: list[Reason] = []
        self.access: Access = NEVER
        self.superseded_by = ""


class Engine:
    """Ranks the notes of one bank."""

    def __init__(
        self,
        base: Connection,
        keyword: "KeywordIndex",
        whole_notes: "KeywordIndex",
        settings: Settings,
        accesses: Accesses,
    ) -> None:
        """Search with the indexes of words and the `meaning` that each search brings along."""
        self._base = base
        self._keyword = keyword
        self._whole_notes = whole_notes
        self._settings = settings
        self._accesses = accesses
        self._dates = Memo(lookup.dates)

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
        ranking = self._rank(evidence, question)
        groups = self._contenders(ranking, limit)
        self._boost(groups, now)
        self._demote(groups)
        best = sorted(groups.values(), key=lambda group: (-group.score, group.note))[:limit]
        return Found(self._hits(best, ranking), used, reason)

    def _ask(
        self, question: Question, scope: Scope, meaning: Meaning, mode: str
    ) -> tuple[Evidence, str, str]:
        near, reason = Matches(), ""
        if mode == "semantic":
            near, reason = self._near(question, scope, meaning)
            if not reason:
                near = self._allowed(near, question, scope)
                return Evidence(meaning=near, weight=1.0, code_weight=1.0), mode, reason
        words = self._keyword.find(question, DEPTH, scope)
        notes = self._whole_notes.find(question, NOTES_DEPTH, scope)
        if mode == "hybrid":
            near, reason = self._near(question, scope, meaning)
        near = self._allowed(near, question, scope)
        if not words:
            near = Matches.of(match for match in near if match.score >= meaning.floor)
        evidence = Evidence(
            words=words,
            notes=notes,
            meaning=near,
            weight=meaning.weight,
            code_weight=meaning.code_weight,
            mean_words=lookup.mean_words(self._base),
        )
        return evidence, "lexical" if reason else mode, reason

    def _near(self, question: Question, scope: Scope, meaning: Meaning) -> tuple[Matches, str]:
        """Return what is near in meaning, or the reason why nothing can be found by it."""
        if meaning.reason or meaning.vectors is None:
            return Matches(), meaning.reason
        try:
            return meaning.vectors.find(question, NEAR_DEPTH, scope), ""
        except EmbedderUnavailable as error:
            return Matches(), error.reason

    def _allowed(self, matches: Matches, question: Question, scope: Scope) -> Matches:
        """Leave out passages without the phrases that must be there, or with excluded words."""
        if not question.strict or not matches:
            return matches
        strict = question._replace(text="", preferred=())
        allowed = set(self._keyword.find(strict, STRICT_DEPTH, scope).rows)
        return Matches.of(match for match in matches if match.row in allowed)

    def _newest(self, scope: Scope, limit: int) -> tuple[Hit, ...]:
        """Return the newest notes in scope: the answer to conditions without words."""
        if scope.only is None:
            return ()
        notes = lookup.newest(self._base, scope, limit)
        places = lookup.first_passages(self._base, [note.number for note in notes])
        seen = self._accesses([note.key for note in notes])
        reasons = (Reason("conditions", "meets them all; the newest first", 1.0),)
        return tuple(
            Hit(note, 1.0, reasons, places[note.number], (), seen.get(note.key, NEVER))
            for note in notes
            if note.number in places
        )

    def _rank(self, evidence: Evidence, question: Question) -> Ranking:
        if self._settings.search.fusion == "rrf":
            from memory_bank.search.fusion import Ranked, by_ranks  # start-up: few want it

            lists = [Ranked("keyword", evidence.words), Ranked("vectors", evidence.meaning)]
            return by_ranks(lists, self._settings.search.rrf_k)
        found = {*evidence.words.notes, *evidence.notes.notes, *evidence.meaning.notes}
        around = lookup.surroundings(self._base, found)
        if around.following and evidence.words:
            evidence = evidence._replace(titled=self._whole_notes.titled(question))
        return rank(evidence, around, partial(lookup.codeness, self._base))

    def _contenders(self, ranking: Ranking, limit: int) -> dict[int, _Group]:
        """Return the notes that can be among the best once they are boosted, by number."""
        last = limit + (_SPARE if lookup.supersedes(self._base) else 0)
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
        dates = self._dates.of(self._base) or lookup.dates(self._base, groups.keys())
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
        if not lookup.supersedes(self._base):
            return
        for old, (new, path) in lookup.superseded(self._base, groups.keys()).items():
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
        notes = lookup.notes(self._base, [group.note for group in best])
        others: dict[int, list[int]] = {group.note: [] for group in best}
        for row, note in ranking.owner.items():
            if note in others and row in ranking.scores:
                others[note].append(row)
        places = lookup.passages(self._base, [row for rows in others.values() for row in rows])
        scale = max([1.0, *(group.score for group in best)])
        return tuple(
            Hit(
                note=notes[group.note],
                score=group.score / scale,
                reasons=(*ranking.reasons(group.row), *group.boosts),
                best=places[group.row],
                also=_also(group.row, others[group.note], places, ranking.scores, scale),
                access=group.access,
                superseded_by=group.superseded_by,
            )
            for group in best
            if group.note in notes and group.row in places
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
