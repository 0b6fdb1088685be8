"""Sentences of other notes on the same subject as new ones: what may be repeated or contradicted.

No model is asked: sentences share a subject by the rarity of the stems that both have. The
constants were fitted on planted pairs; `tests/benchmarks/contradictions.py` measures them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, cast

from memory_bank.bank.findings import SameSubject
from memory_bank.base.documents import Span
from memory_bank.memory.differences import differences, plain
from memory_bank.notes.compare.claims import claims_of
from memory_bank.search.manifest import document_graph, document_rows
from memory_bank.search.manifest.document_rows import DocumentRow, PassageRow
from memory_bank.search.retrievers.base import Question, Scope
from memory_bank.search.retrievers.keyword.analyzer import STOP_WORDS, identifier_parts, stems

if TYPE_CHECKING:
    from memory_bank.bank.open_index import View
    from memory_bank.search.retrievers.keyword.keyword_index import KeywordIndex

REPEATS = 2.8
"""Least score of a sentence that is said to be repeated."""

CONTRADICTS = 2.0
"""Least score of a sentence that is said to be contradicted, where something differs."""

_LEAST = 1.4

_DIFFERS = 0.6
"""What the weight of a difference adds."""

_RARE = 0.3
"""Weight of the words in common, in words that only one note has; at most `_MOST_RARE` count."""

_MOST_RARE = 5.0

_MANY = 0.3
"""Loss for each time that a text has e times as many sentences as `_FEW`: some match by chance."""

_FEW = 4

_FEWEST_COMMON = 2

_LEAST_RARE = 0.7
"""Least rarity of the words in common, in words that only one note has."""

_FEWEST_WORDS = 4

_ASKED = 60
"""New sentences that are compared; of more, the longest."""

_PASSAGES = 8
"""Passages that are read for each."""

_WORDS = 24
"""Words of a sentence for which the index is queried."""

_MOST = 2
"""Remarks on a text, and on each other note."""

_MOST_SHOWN = 240


_NO_SENTENCE = re.compile(
    r"[ \t>]*(?:\||##|(?:[-*+][ \t]+)?(?:\[\[[^\[\]]*\]\]|\[[^\[\]]*\]\([^()]*\))\s*\Z)"
)
"""What is no sentence: a row of a table, a heading below the title, or a link and nothing else."""


_WORD = re.compile(r"[^\W_]+")

_END = re.compile(r"(?<=[.!?;])\s+(?=[A-Z])")


class Sentence(NamedTuple):
    """A sentence, list item or heading and its 1-based line."""

    text: str
    line: int


class _Compared(NamedTuple):
    """A sentence with its stems."""

    sentence: Sentence
    words: frozenset[str]


def sentences(text: str, first: int = 1) -> list[Sentence]:
    """Return the sentences and titles of Markdown without code and tables; `first`: its line."""
    found = []
    for claim in claims_of(text, heading=text.lstrip().startswith("#")):
        if claim.kind in ("prose", "heading") and not _NO_SENTENCE.match(claim.text):
            parts = _END.split(plain(claim.text))  # a list item may have several
            found += [Sentence(one[:_MOST_SHOWN], first + claim.row) for one in parts]
    return [one for one in found if len(one.text.split()) >= _FEWEST_WORDS]


def on_same_subject(
    view: View, new: Iterable[Sentence], *, without: Collection[str] = ()
) -> tuple[SameSubject, ...]:
    """Return the best remarks on new sentences, at most two, the surest first.

    Notes at paths in `without`, archived and superseded ones are left out. The caller's index is up
    to date.
    """
    asked = sorted((_compared(one) for one in new), key=lambda one: -len(one.words))[:_ASKED]
    index = cast("KeywordIndex", view.index.retrievers.get("notes"))
    passages = view.index.retrievers.get("keyword")
    if passages is None:
        return ()
    found: dict[int, PassageRow] = {}
    rows = {}
    for one in asked:
        if len(one.words) >= _FEWEST_COMMON:
            query = " ".join(one.sentence.text.split()[:_WORDS])
            rows[one] = passages.find(Question(query), _PASSAGES, Scope()).rows
            found |= document_rows.passages(
                view.manifest, [row for row in rows[one] if row not in found]
            )
    notes = _notes(view, {one.document for one in found.values()}, without)
    read = {
        row: _read(view, notes[one.document], one)
        for row, one in found.items()
        if one.document in notes
    }
    words = {word for side in (asked, *read.values()) for one in side for word in one.words}
    size, counts = index.counts(words)
    if any(document_rows.document_at(view.manifest, path) for path in without):
        size -= 1  # the note of these sentences makes no word common
        own = {word for one in asked for word in one.words}
        counts = {word: count - (word in own) for word, count in counts.items()}
    rarity = _Rarity(size, counts)
    loss = _MANY * math.log(max(1.0, len(asked) / _FEW))
    made = [
        remark
        for one, places in rows.items()
        for row in places
        for other in read.get(row, ())
        if (remark := _remark(one, other, notes[found[row].document], rarity, loss))
    ]
    return tuple(_best(made))


def unless_said_before(
    now: Iterable[SameSubject], before: Iterable[SameSubject]
) -> Iterator[SameSubject]:
    """Yield remarks without those that could be made before a change of wording."""
    known = {(one.path, one.other) for one in before}
    return (one for one in now if (one.path, one.other) not in known)


def how(remark: SameSubject) -> str:
    """Return what differs in a few words; empty for a repetition."""
    return "; ".join(
        f"{one.new}, there {one.old}"
        if one.new and one.old
        else f"“{one.new or one.old}” only {'here' if one.new else 'there'}"
        for one in remark.differs[:_MOST]
    )


def side_by_side(remark: SameSubject, place: str) -> tuple[str, str, str]:
    """Return lines that say what may be wrong, the new sentence and the older one."""
    verb, why = remark.kind.removesuffix("s"), how(remark)
    return (
        f"may {verb} {place}:{remark.other_line}{f' ({why})' if why else ''}",
        f"  new:   {remark.text}",
        f"  there: {remark.other}",
    )


def _best(found: Sequence[SameSubject]) -> Iterator[SameSubject]:
    """Yield the surest remark for each sentence and each other note, at most two."""
    lines, paths = set[int](), set[str]()
    for one in sorted(found, key=lambda one: (-one.score, one.line, one.path, one.other_line)):
        if len(lines) < _MOST and one.line not in lines and one.path not in paths:
            lines.add(one.line)
            paths.add(one.path)
            yield one


class _Rarity:
    """How rare words are among notes."""

    def __init__(self, size: int, counts: Mapping[str, int]) -> None:
        self._size = size
        self._counts = counts
        self.of_one = self._of(1)

    def __call__(self, words: Iterable[str]) -> float:
        """Return the sum of the words' rarities."""
        return sum(self._of(self._counts.get(word, 0)) for word in words)

    def _of(self, count: int) -> float:
        count = min(max(count, 0), self._size)
        return math.log(1 + (self._size - count + 0.5) / (count + 0.5))


def _remark(
    new: _Compared, old: _Compared, note: DocumentRow, rarity: _Rarity, loss: float
) -> SameSubject | None:
    both = new.words & old.words
    common = rarity(both)
    if len(both) < _FEWEST_COMMON or common < _LEAST_RARE * rarity.of_one:
        return None
    sizes = rarity(new.words), rarity(old.words)
    score = 4 * common / sum(sizes) + common / min(sizes)
    score += _RARE * min(_MOST_RARE, common / rarity.of_one) - loss
    if score < _LEAST:
        return None
    differs = [
        one
        for one in differences(new.sentence.text, old.sentence.text)
        if one.kind != "number"  # whose unit is no subject
        or len(both - _words(f"{one.new} {one.old}")) >= _FEWEST_COMMON
    ]
    score += _DIFFERS * (max((one.weight for one in differs), default=1) - 1)
    if score < (CONTRADICTS if differs else REPEATS):
        return None
    return SameSubject(
        "contradicts" if differs else "repeats",
        new.sentence.line,
        new.sentence.text,
        note.key,
        note.title,
        old.sentence.line,
        old.sentence.text,
        tuple(differs),
        round(score - (CONTRADICTS if differs else REPEATS), 3),
    )


def _compared(sentence: Sentence) -> _Compared:
    return _Compared(sentence, _words(sentence.text))


def _words(text: str) -> frozenset[str]:
    """Return the stems of a text without stop words."""
    kept = " ".join(word for word in _WORD.findall(text) if word.lower() not in STOP_WORDS)
    return frozenset((*stems(kept), *stems(identifier_parts(kept))))


def _notes(
    view: View, numbers: Collection[int], without: Collection[str]
) -> dict[int, DocumentRow]:
    """Return the documents that are current and no others."""
    superseded = document_graph.superseded(view.manifest, numbers)
    return {
        number: row
        for number, row in document_rows.documents(view.manifest, numbers).items()
        if number not in superseded
        and row.key not in without
        and row.data.get("status") not in ("archived", "superseded")
    }


def _read(view: View, note: DocumentRow, passage: PassageRow) -> list[_Compared]:
    text = view.source.text(note.key, note.hash, Span(passage.line, passage.end_line)) or ""
    return [_compared(one) for one in sentences(text, passage.line)]
