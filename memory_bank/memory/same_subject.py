"""Sentences of other notes on the same subject as new ones: what may be repeated or contradicted.

No model is asked: sentences share a subject by the rarity of the stems that both have. The
constants were fitted on planted pairs; `tests/benchmarks/contradictions.py` measures them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, cast

from memory_bank.bank.findings import Difference, SameSubject
from memory_bank.base.documents import Span
from memory_bank.notes.compare.claims import claims_of
from memory_bank.search.index import View
from memory_bank.search.manifest import document_graph, document_rows
from memory_bank.search.manifest.document_rows import DocumentRow, PassageRow
from memory_bank.search.retrievers.base import Question, Scope
from memory_bank.search.retrievers.keyword.analyzer import STOP_WORDS, identifier_parts, stems
from memory_bank.search.retrievers.keyword.keyword_index import KeywordIndex

_NUMBERS = {
    word: str(number)
    for number, word in enumerate(
        "zero _ two three four five six seven eight nine ten eleven twelve".split()  # noqa: SIM905
    )
}

_TOKEN = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d]\w*(?:-\d[\w.]*|['’][^\W\d_]+)?|[%€$,;:.()—–]")
"""A number, a word (with the number in its name: `gpt-5.5`), or a sign."""

_LINK = re.compile(r"!?\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]|!?\[([^\[\]]*)\]\([^()\s]*\)")

_NOT = re.compile(r"n['’]t\b")

_NEGATIONS = frozenset(["not", "no", "never", "none", "neither", "nor", "cannot"])

_DENIALS = frozenset(
    """
    avoid avoids banned cancel cancelled deprecate deprecated disallowed ditch ditched ditching drop
    dropped drops forbid forbidden forbids gone obsolete prohibited refuse refused refuses reject
    rejected remove removed removes stop stopped stops unsupported
    """.split()  # noqa: SIM905
)
"""Words that deny what stands beside them."""

_REPLACING = frozenset(
    """
    again anymore back instead leave left longer move moved moves now rather remain remains replace
    replaced replaces stay stays switch switched switches
    """.split()  # noqa: SIM905
)
"""Words by which one thing takes the place of another, or keeps it."""

_OPPOSITES = tuple(
    tuple(pair.split("/"))
    for pair in """
    accept/reject after/before allow/forbid allowed/forbidden always/never ascending/descending
    async/sync asynchronous/synchronous automatic/manual automatically/manually decrease/increase
    disable/enable disabled/enabled exclude/include first/last immutable/mutable inside/outside
    least/most less/more local/remote lower/raise mandatory/optional max/min maximum/minimum
    optional/required private/public stateful/stateless with/without
    """.split()  # noqa: SIM905
)

_LABELS = frozenset(
    """
    adr appendix chapter figure issue line milestone page part phase pr req section sprint stage
    step table task ticket v version week
    """.split()  # noqa: SIM905
)
"""Words before a number that names one of a sequence and counts nothing."""

_NEAR = 2
"""Words between a number and the one that says what it counts."""

_SIDES = (1.4, 1.5, 2.2)
"""How sure a difference of numbers is, by how many sides of both have the same word; the first is
for numbers besides one that is the same."""

_MOST_NUMBERS = 3
"""Numbers of a sentence beyond which it is a row of measurements."""

_AUXILIARIES = frozenset(
    "am are be been can could did do does has have is may might must need shall should was were will would".split()  # noqa: SIM905, E501
)
"""Words before `not` whose subject is denied too."""

_LIGHT = STOP_WORDS | {"longer", "anymore"}

_MARKS = frozenset(",;:.()—–")

_REACH = 4
"""Words between a negation and what it denies."""

_YEARS = re.compile(r"(?:19|20)\d\d")


def differences(new: str, old: str) -> tuple[Difference, ...]:
    """Return how a sentence differs from an older one, for sentences that share their subject."""
    one, other = _tokens(new), _tokens(old)
    found = (_number, _negation, _opposite, _name)
    return tuple(made for ask in found for made in ask(one, other))


def plain(text: str) -> str:
    """Return a sentence without the signs of Markdown, on one line."""
    shown = _LINK.sub(lambda found: found[1] or found[2] or "", text)
    return " ".join(re.sub(r"[*`]+|^[ \t>]*(?:[-+*]|\d+[.)]|#{1,6})[ \t]+", "", shown).split())


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(_NOT.sub(" not", plain(text)))


def _value(token: str) -> str:
    """Return a number in digits; empty for another word."""
    found = _NUMBERS.get(token.lower(), token)
    return found if found[0].isdigit() else ""


def _stem(token: str) -> str:
    return next(iter(stems(token)), token.lower())


class _Counted(NamedTuple):
    written: str
    value: str
    beside: frozenset[str]
    """Stems of the words on both sides."""


def _counted(tokens: Sequence[str]) -> Iterator[_Counted]:
    """Yield each number that counts something."""
    for at, token in enumerate(tokens):
        value = _value(token)
        before = tokens[at - 1].lower() if at else ""
        if value and before.removesuffix("s") not in _LABELS and not _YEARS.fullmatch(value):
            sides = (tokens[at + 1 : at + 1 + _NEAR], tokens[max(0, at - _NEAR) : at][::-1])
            beside = (_beside(side) for side in sides)
            unit = tokens[at + 1] if at + 1 < len(tokens) else ""
            written = f"{token} {unit}" if unit[:1].isalnum() and _says(unit) else token
            yield _Counted(written, value, frozenset(filter(None, beside)))


def _beside(tokens: Sequence[str]) -> str:
    """Return the stem of the first word that is no stop word; empty behind a number."""
    for token in tokens:
        if _value(token) or token[0] in _MARKS:
            return ""
        if _says(token):
            return _stem(token)
    return ""


def _says(token: str) -> bool:
    """Tell whether a word is no stop word; s, m, h and d are units."""
    return token.lower() not in STOP_WORDS or len(token) == 1


def _number(new: Sequence[str], old: Sequence[str]) -> Iterator[Difference]:
    """Yield a number of the same thing, or of another thing besides one that is the same."""
    ours, theirs = list(_counted(new)), list(_counted(old))
    if max(len(ours), len(theirs)) > _MOST_NUMBERS:
        return
    values = {one.value for one in ours}, {one.value for one in theirs}
    same = any(
        one.value == other.value and one.beside & other.beside for one in ours for other in theirs
    )
    best = max(
        (
            (len(one.beside & other.beside), -at, one.written, other.written)
            for at, one in enumerate(ours)
            for other in theirs
            if one.value not in values[1] and other.value not in values[0]
        ),
        default=(0, 0, "", ""),
    )
    if best[0] or (same and best[2]):
        yield Difference("number", best[2], best[3], _SIDES[best[0]])


def _negation(new: Sequence[str], old: Sequence[str]) -> Iterator[Difference]:
    """Yield a word that both sentences have and only one denies."""
    ours, theirs = ({_stem(token) for token in side} for side in (new, old))
    denied, former = ({one.stem: one for one in _denied(side)} for side in (new, old))
    both = [denied[word] for word in denied.keys() - former.keys() if word in theirs]
    other = [former[word] for word in former.keys() - denied.keys() if word in ours]
    agreed = denied.keys() & former.keys() & ours & theirs
    if ((both and other) or agreed) and all(one.whole for one in both + other):
        return  # `tools don't write them` and `no tool writes it` agree
    for one in sorted(both + other)[:1]:
        yield Difference("negation", one.written * (one in both), one.written * (one in other))


class _Denied(NamedTuple):
    stem: str
    written: str
    """The word and what denies it."""
    whole: bool
    """Whether its sentence is denied, not only this word beside another (`by git, not by id`)."""


def _denied(tokens: Sequence[str]) -> Iterator[_Denied]:
    """Yield each word that is denied."""
    lowered = [token.lower() for token in tokens]
    for at, low in enumerate(lowered):
        instead = low in ("instead", "rather") and lowered[at + 1 : at + 2] in (["of"], ["than"])
        if low in _NEGATIONS and lowered[at + 1 : at + 2] == ["only"]:
            continue
        if low in _NEGATIONS or low in _DENIALS or instead:
            after, before = tokens[at + 1 : at + 1 + _REACH], tokens[max(0, at - _REACH) : at][::-1]
            passive = low in _DENIALS or lowered[max(0, at - 1)] in _AUXILIARIES
            if word := _object(after, whole=low in _DENIALS):
                yield _Denied(_stem(word), f"{tokens[at]} {word}", passive or low != "not")
            if passive and (word := _object(before)):
                yield _Denied(_stem(word), f"{word} {tokens[at]}", True)


def _object(tokens: Sequence[str], *, whole: bool = False) -> str:
    """Return the first word that says something; the last one of its `whole` row of such words.

    Who removes a `private key parameter` denies the parameter.
    """
    found = ""
    for token in _clause(tokens):
        if token.lower() not in _LIGHT:
            found = token
        if found and (not whole or token.lower() in _LIGHT):
            break
    return found


def _clause(tokens: Sequence[str]) -> Iterator[str]:
    for token in tokens:
        if token[0] in _MARKS:
            return
        yield token


def _opposite(new: Sequence[str], old: Sequence[str]) -> Iterator[Difference]:
    ours, theirs = ({token.lower() for token in side} for side in (new, old))
    for pair in _OPPOSITES:
        for one, other in (pair, pair[::-1]):
            if one in ours - theirs and other in theirs - ours:
                yield Difference("opposite", one, other)
                return


def _name(new: Sequence[str], old: Sequence[str]) -> Iterator[Difference]:
    """Yield names of which one takes the other's place, as a word beside one of them says."""
    known = [{_stem(token) for token in side} for side in (new, old)]
    ours, theirs = (
        [
            at
            for at, token in enumerate(side)
            if at and _is_name(token) and _stem(token) not in there
        ]
        for side, there in ((new, known[1]), (old, known[0]))
    )
    if not ours or not theirs:
        return
    for side, places in ((new, ours), (old, theirs)):
        for at in places:
            around = side[max(0, at - _REACH) : at + 1 + _REACH]
            if _REPLACING & {token.lower() for token in around}:
                yield Difference("name", new[ours[0]], old[theirs[0]])
                return


def _is_name(token: str) -> bool:
    return token[0].isupper() and not token.isupper()


REPEATS = 2.8
"""Least score of a sentence that is said to be repeated."""

CONTRADICTS = 2.0
"""Least score of a sentence that is said to be contradicted, where something differs."""

_LEAST = 1.4

_DIFFERS, _WORDS_DIFFER = 0.6, 0.7
"""What the weight of a difference adds, and the weight of one that is no number: words differ
by chance more often."""

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
    r"[ \t>]*(?:\||##|<!--|(?:[-*+][ \t]+)?(?:\[\[[^\[\]]*\]\]|\[[^\[\]]*\]\([^()]*\))\s*\Z)"
)
"""What is no sentence: a row of a table, a lower heading, a comment, or only a link."""


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


def summary(remark: SameSubject, place: str) -> str:
    """Return what may be wrong, and with which line of the other note's file."""
    verb, why = remark.kind.removesuffix("s"), how(remark)
    return f"may {verb} {place}:{remark.other_line}{f' ({why})' if why else ''}"


def side_by_side(remark: SameSubject, place: str) -> tuple[str, str, str]:
    """Return lines that say what may be wrong, the new sentence and the older one."""
    return (summary(remark, place), f"  new:   {remark.text}", f"  there: {remark.other}")


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
    weights = [one.weight if one.kind == "number" else _WORDS_DIFFER for one in differs]
    score += _DIFFERS * (max(weights, default=1) - 1)
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
