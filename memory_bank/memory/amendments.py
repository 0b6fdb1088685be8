"""Find notes that may amend an older note on the same subject.

A note may amend the one that is nearest to it, by the rarity of the words that both have, if that
is older by dates that are known, and clearly nearer than the next: less clearly if the note begins
with words of change. `docs/benchmarks.md` has how often that is right.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from operator import mul
from typing import TYPE_CHECKING, cast

from memory_bank.bank.bank import Bank
from memory_bank.base import NamedTuple, lazy_pattern
from memory_bank.base.documents import Document, Span
from memory_bank.base.errors import EmbedderUnavailable, MemoryBankError
from memory_bank.notes.roots import Roots
from memory_bank.search.index import IndexView
from memory_bank.search.manifest import document_rows, link_rows
from memory_bank.search.retrievers.base import Question, Scope
from memory_bank.search.retrievers.keyword import analyzer
from memory_bank.search.retrievers.keyword.keyword_index import KeywordIndex

if TYPE_CHECKING:
    from memory_bank.search.engine import Hit
    from memory_bank.search.retrievers.vectors.vector_index import VectorIndex


class _Bound(NamedTuple):
    """What makes a pair: the least likeness, and how much nearer the older is than the next."""

    least: float
    apart: float


AMENDING, CHANGING, OTHER = _Bound(0.2, 1.4), _Bound(0.25, 1.6), _Bound(0.3, 2.5)
"""For a note that says that it amends, one with words of change, and a short one without."""

_AMENDING = lazy_pattern(
    r"\b(?:amend(?:s|ed|ing|ments?)?|supersed(?:es?|ed|ing)|replaces|revis(?:es?|ed|ion)"
    r"|revers(?:es?|ed)|no longer|withdrawn?|obsolete)\b"
)

_CHANGING = lazy_pattern(
    r"\b(?:replac(?:ed|ing)|any ?more|any longer|from now on|going forward|instead of|deprecat\w+"
    r"|void|former(?:ly)?|previous(?:ly)?|used to|now|since the"
    r"|(?:raised|lowered|changed|moved|switched|shortened|reduced|increased|extended) (?:from|to)"
    r"|updates? (?:the|our)|changes? (?:to|of|in) the|change to|new (?:rule|policy|limit)"
    r"|too (?:long|short|low|high|strict|late|much)|we (?:move|drop|switch|change|reverse))\b"
)

_INSTEAD = lazy_pattern(r"\b(?:instead of|from now on|any ?more|any longer)\b")
"""With all words of change, four first hits of 135 in project banks were put below a wrong one."""

_MONTHS, _ALIKE, _NEAR = 60 * 86400.0, 0.45, 0.35
"""Of two hits on one subject: seconds between their dates, the cosine of their passages, and the
share of the older one's score that the newer one has, from which the newer one comes first."""

_SHARED = 2
"""Fewest words that both have: in a bank of few notes, one in common makes notes look alike."""

_HEAD = 60
"""Words at the start of a note that tell whether it changes something."""

_SHORT = 1500
"""Characters of the longest note that may amend another one without saying so."""

_READ = 20_000
"""Characters of a note that are compared."""

_ASKED, _COMPARED = 40, 8
"""Words that are looked for, the rarest, and the notes found by them that are compared."""

_TITLE = lazy_pattern(r"^#{1,6}[ \t]+", re.MULTILINE)

_LINK = lazy_pattern(r"\[\[[^\[\]]*\]\]")
"""Two notes that link to a third one have its name in common, and perhaps no subject."""


class DatedNote:
    """A note, its words and its date."""

    def __init__(self, row: Document, text: str, created: float) -> None:
        """Take the text without front matter; `created` is 0 if no date is known."""
        self.row, self.text, self.created = row, text[:_READ], created

    @cached_property
    def words(self) -> frozenset[str]:
        """The stems of its words, without stop words and names of linked notes."""
        return _stem_text(self.text)

    @cached_property
    def head(self) -> str:
        """Its first words, in lower case."""
        return " ".join(_TITLE.sub("", self.text[: _HEAD * 20]).split()[:_HEAD]).lower()

    @property
    def changes(self) -> bool:
        """Whether its first words say plainly that it changes something."""
        return bool(_AMENDING.search(self.head) or _INSTEAD.search(self.head))

    @cached_property
    def bounds(self) -> Sequence[_Bound]:
        """What it takes to amend another note; nothing does for a long one without such words."""
        amendings = (
            (AMENDING, _AMENDING.search(self.head)),
            (CHANGING, _CHANGING.search(self.head)),
            (OTHER, len(self.text) < _SHORT),
        )
        return [bound for bound, holds in amendings if holds and self.created > 0]

    def amends(self, old: DatedNote, likeness: float, next_best: float) -> bool:
        """Return whether it may amend the note that is nearest to it."""
        if not 0 < old.created < self.created or len(self.words & old.words) < _SHARED:
            return False
        return any(
            likeness >= bound.least and likeness >= bound.apart * next_best for bound in self.bounds
        )


@lru_cache(maxsize=256)  # several questions find the same notes
def _stem_text(text: str) -> frozenset[str]:
    text = analyzer.clean_text(_LINK.sub(" ", text))
    parts = analyzer.identifier_parts(text)
    stems = (
        *analyzer.stem_words(text),
        *analyzer.stem_words(parts),
        *analyzer.split_bigrams(text).split(),
    )
    return frozenset(stems) - analyzer.STOP_WORDS


def map_amended(view: IndexView, notes: Sequence[DatedNote]) -> dict[int, int]:
    """Map the places of some of the notes to those of newer ones that may amend them.

    Pairs that a link connects are left out: a person has said how they relate.
    """
    first = min((note.created for note in notes if note.created > 0), default=0.0)
    newer = [at for at, note in enumerate(notes) if note.created > first and note.bounds]
    if not newer:
        return {}
    likeness = _Likeness(view, notes)
    pairs = dict[int, int]()
    for at in newer:
        old = likeness.nearest(at)
        if old is not None and (old not in pairs or notes[pairs[old]].created < notes[at].created):
            pairs[old] = at
    return _drop_linked(view, notes, pairs)


def find_amended_by_meaning(
    view: IndexView, notes: Sequence[DatedNote], hits: Sequence[Hit]
) -> dict[int, int]:
    """Map as `map_amended` does, of hits whose passages are about one subject by their vectors.

    The newer one is dated months later, says that it changes something, and is near in score; or
    its title begins with that of the older one.
    """
    pairs = _match_continued(notes, hits)
    newer = [at for at, note in enumerate(notes) if note.created > _MONTHS and note.changes]
    vectors = _read_vectors(view, [hit.best.row for hit in hits]) if newer else {}
    for new in newer:
        alike = [
            (_cosine(vectors, hits[old], hits[new]), old)
            for old, note in enumerate(notes)
            if not hits[old].weak
            and 0 < note.created <= notes[new].created - _MONTHS
            and hits[new].rank >= _NEAR * hits[old].rank
        ]
        likeness, old = max(alike, default=(0.0, 0))
        if likeness >= _ALIKE:
            pairs.setdefault(old, new)
    return _drop_linked(view, notes, pairs)


def _match_continued(notes: Sequence[DatedNote], hits: Sequence[Hit]) -> dict[int, int]:
    """Map good hits to those of months later whose titles begin with theirs, the last of each."""
    pairs = dict[int, int]()
    for new in sorted(range(len(notes)), key=lambda at: notes[at].created):
        for old, note in enumerate(notes):
            months = notes[new].created - note.created >= _MONTHS and note.created > 0
            if months and not hits[old].weak and _continues(notes[new].row.title, note.row.title):
                pairs[old] = new
    return pairs


def _continues(title: str, older_title: str) -> bool:
    """Return whether a title begins with another one, which has two words; a date says nothing."""
    words, begin = (re.findall(r"\w+", text.casefold()) for text in (title, older_title))
    rest = words[len(begin) :]
    return (
        len(begin) >= _SHARED
        and words[: len(begin)] == begin
        and not any(word[0].isdigit() for word in rest)
    )


def _read_vectors(view: IndexView, rows: Sequence[int]) -> dict[int, list[float]]:
    """Return the vectors of those passages that have one."""
    try:
        vectors = cast("VectorIndex | None", view.index.retrievers.get("vectors"))
    except EmbedderUnavailable:
        return {}
    return vectors.vectors_of(rows) if vectors is not None else {}


def _cosine(vectors: Mapping[int, Sequence[float]], older: Hit, newer: Hit) -> float:
    """Return the cosine of two hits' passages, 0 if one has no vector."""
    pair = vectors.get(older.best.row, ()), vectors.get(newer.best.row, ())
    return sum(map(mul, *pair)) if all(pair) else 0.0


def _drop_linked(
    view: IndexView, notes: Sequence[DatedNote], pairs: Mapping[int, int]
) -> dict[int, int]:
    """Leave out the pairs of notes that a link connects."""
    numbers = [note.row.number for note in notes]
    linked = link_rows.linked_pairs(view.manifest, numbers) if pairs else set()
    return {
        old: new
        for old, new in pairs.items()
        if not {(numbers[old], numbers[new]), (numbers[new], numbers[old])} & linked
    }


def find_amended(bank: Bank, path: str) -> str | None:
    """Return the path of the older note that a written note may amend, if any; never raises."""
    try:
        bank.catch_up(meaning=False)
    except MemoryBankError:
        return None  # a remark must not fail a write
    return find_amended_indexed(bank, path)


def find_amended_indexed(bank: Bank, path: str) -> str | None:
    """Return what `find_amended` does, for a note that is indexed."""

    def find(view: IndexView) -> str | None:
        row = document_rows.document_at(view.manifest, path)
        return row and find_older(bank.roots, view, row)

    try:
        return bank.read(find)
    except (MemoryBankError, UnicodeError):
        return None


def find_older(roots: Roots, view: IndexView, row: Document) -> str | None:
    """Return the path of the older note that a note may amend, if any."""
    if row.hidden:
        return None
    (note,) = date_notes(roots, view, [row])
    index = view.index.retrievers.get("notes")
    if not note.bounds or index is None:
        return None
    rarity = _measure_rarity(view, [note])
    words = sorted(note.words, key=lambda word: (-rarity[word], word))[:_ASKED]
    matches = index.find(Question(" ".join(words)), _COMPARED, Scope())
    rows = document_rows.read_documents(
        view.manifest, [document for document in matches.documents if document != row.number]
    )
    notes = date_notes(roots, view, [row for row in rows.values() if not row.hidden])
    pairs = map_amended(view, [note, *notes])
    return next((notes[old - 1].row.key for old, new in pairs.items() if new == 0), None)


def date_notes(roots: Roots, view: IndexView, rows: Iterable[Document]) -> list[DatedNote]:
    """Return notes with their texts and their dates: that in front matter, or of a commit."""
    rows = list(rows)
    numbers = [row.number for row in rows]
    dates = document_rows.read_dates(view.manifest, numbers)
    firsts = document_rows.first_passages(view.manifest, numbers)
    notes = []
    for row in rows:
        if row.number not in dates:  # another process has just removed it
            continue
        first = firsts[row.number].line if row.number in firsts else 1
        text = view.source.text(row.key, row.hash, Span(first, 1 << 40)) or ""
        committed = roots.of(row.key).commits_of(row.key)
        created = dates[row.number][0] or (row.created if committed else 0.0)
        notes.append(DatedNote(row, text, created))
    return notes


class _Likeness:
    """How alike notes are: the cosine of their words, each with its rarity in the bank."""

    def __init__(self, view: IndexView, notes: Sequence[DatedNote]) -> None:
        self.notes = notes
        self.squares = {word: rarity**2 for word, rarity in _measure_rarity(view, notes).items()}
        self.lengths = [self._length(note.words) for note in notes]

    def nearest(self, at: int) -> int | None:
        """Return the place of the note that the note at a place may amend."""
        ranked = sorted(
            ((self._alike(at, index), -index) for index in range(len(self.notes)) if index != at),
            reverse=True,
        )
        (best, place), next_best = ranked[0], ranked[1][0] if len(ranked) > 1 else 0.0
        return -place if self.notes[at].amends(self.notes[-place], best, next_best) else None

    def _alike(self, first: int, second: int) -> float:
        words = self.notes[first].words & self.notes[second].words
        return self._length(words) ** 2 / (self.lengths[first] * self.lengths[second] or 1.0)

    def _length(self, words: Collection[str]) -> float:
        return math.sqrt(sum(map(self.squares.__getitem__, words)))


def _measure_rarity(view: IndexView, notes: Iterable[DatedNote]) -> Mapping[str, float]:
    words = frozenset[str]().union(*(note.words for note in notes))
    size, note_counts = cast("KeywordIndex", view.index.retrievers.get("notes")).counts(words)
    return {word: math.log1p(size / max(1, note_counts.get(word, 1))) for word in words}
