"""What two sentences on the same subject say differently: numbers, negations, opposites, names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from memory_bank.bank.findings import Difference
from memory_bank.search.retrievers.keyword.analyzer import STOP_WORDS, stems

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
for numbers besides one that is the same. Other differences are 1."""

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
            written = f"{token} {unit}" if unit[:1].isalnum() else token
            yield _Counted(written, value, frozenset(filter(None, beside)))


def _beside(tokens: Sequence[str]) -> str:
    """Return the stem of the first word that is no stop word; empty behind a number."""
    for token in tokens:
        if _value(token) or token[0] in _MARKS:
            return ""
        if token.lower() not in STOP_WORDS or len(token) == 1:  # s, m, h, d are units
            return _stem(token)
    return ""


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
    denied, former = dict(_denied(new)), dict(_denied(old))
    for word in sorted((denied.keys() ^ former.keys()) & ours & theirs):
        yield Difference("negation", denied.get(word, ""), former.get(word, ""))
        return


def _denied(tokens: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the stem of each word that is denied, and the words that do."""
    lowered = [token.lower() for token in tokens]
    for at, low in enumerate(lowered):
        instead = low in ("instead", "rather") and lowered[at + 1 : at + 2] in (["of"], ["than"])
        if low in _NEGATIONS and lowered[at + 1 : at + 2] == ["only"]:
            continue
        if low in _NEGATIONS or low in _DENIALS or instead:
            after, before = tokens[at + 1 : at + 1 + _REACH], tokens[max(0, at - _REACH) : at][::-1]
            passive = low in _DENIALS or lowered[max(0, at - 1)] in _AUXILIARIES
            for side in (after, before) if passive else (after,):
                word = next((one for one in _clause(side) if one.lower() not in _LIGHT), "")
                if word:
                    yield (
                        _stem(word),
                        f"{tokens[at]} {word}" if side is after else f"{word} {tokens[at]}",
                    )


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
