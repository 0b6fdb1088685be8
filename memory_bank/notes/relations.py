"""Determine the type of a link from the words around it.

In the text, every link is collapsed to `LINK` and code to `CODE`: words inside them are names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from memory_bank.base import lazy_pattern

LINK = "\x01"

CODE = "\x02"

DEFAULT = "related_to"

_WORDS = {  # `+` joins a verb and the word that must follow
    "refactors": "refactor refactors refactored refactoring",
    "plans": "plan plans planned planning",
    "debugs": "debug debugs debugged debugging fix fixes fixed fixing",
    "mentions": "mention mentions mentioned mentioning see cf",
    "supersedes": "supersede supersedes superseded superseding supercede supercedes superceded"
    " replace replaces replaced replacing"
    " obsoletes obsoleted",
    "extends": "extend extends extended extending build+on builds+on built+on building+on",
    "contradicts": "contradict contradicts contradicted contradicting conflict+with conflicts+with"
    " disagree+with disagrees+with",
    "depends_on": "depend+on depends+on depended+on depending+on rely+on relies+on relied+on"
    " relying+on require requires required requiring",
    "implements": "implement implements implemented implementing",
    "tests": "test tests tested testing",
}

# The inverse types, for the passive: "superseded by".
_PASSIVE = {
    "refactors": "refactored_by",
    "plans": "planned_by",
    "debugs": "debugged_by",
    "mentions": "mentioned_by",
    "supersedes": "superseded_by",
    "extends": "extended_by",
    "contradicts": "contradicted_by",
    "depends_on": "required_by",
    "implements": "implemented_by",
    "tests": "tested_by",
}

TYPES = frozenset({*_WORDS, *_PASSIVE.values()})

_TYPE_OF = {word: kind for kind, words in _WORDS.items() for word in words.split()}

_VERBS = frozenset(word.partition("+")[0] for word in _TYPE_OF)

# Characters before and after a link in which words tell its type.
_REACH_BEFORE = 40

_REACH_AFTER = 20

# Letters of a word that may be one of these.
_LONGEST_WORD = 24

_LETTERS = lazy_pattern(r"[^\W\d_]+")

_WORD = lazy_pattern(r"[^\W\d_](?:[\w'\u2019]*[^\W_])?")

_SENTENCE_END = lazy_pattern(
    r"(?<!\be\.g)(?<!\bi\.e)(?<!\bcf)(?<!\bvs)[.!?\u2026|][)\]\"'\u201d\u2019*_]*\s"
    r"|[\u3002\uff01\uff1f]"
)

_NEGATION = lazy_pattern(
    r"(?:\b(?:not|never|no longer|without|nor|cannot)|n['\u2019]t)\s+(?:\w+\s+)?$", re.IGNORECASE
)

# "[[A]] is now superseded by [[B]]" is about A and B, not about the note.
_SUBJECT = lazy_pattern(
    rf"{LINK}\s+(?:(?:is|was|are|were|be|been|being|has|have|had|will|now|also|then|later)\s+)*$",
    re.IGNORECASE,
)

# "depends on:: [[a]]" and "Depends on: [[a]]" apply to their own line only.
_EARLIER_LINE = lazy_pattern(rf"[^\n:]*:[^\n]*{LINK}[^\n]*\n")

_MONTH = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"

# "superseded by", and what may stand between: "Superseded: 2019-12-19 by", "replaced in May by".
_BY = lazy_pattern(
    rf"\w+ed(?:[^\w.!?;{LINK}{CODE}]|\d|(?<=\d)\.|(?<=\d)(?:st|nd|rd|th)\b"
    rf"|\b(?:on|in|of|now|then|later|partly|partially|entirely|fully|(?:{_MONTH})[a-z]*)\b)*"
    r"\bby\b|replaced\s+with\b",
    re.IGNORECASE,
)

# "replaced the queue by [[x]]" does not say what [[x]] is to the note.
_ENDS_WITH_BY = lazy_pattern(r"\b(?:by|with)\s+(?:the\s+)?[*_]*$", re.IGNORECASE)

_IS_DONE_BY = lazy_pattern(
    r"\s+(?:(?:is|was|are|were|has been|have been|being)\s+)?(?:now\s+)?([^\W\d_]+ed)\s+by\s+"
)

_KEY = r"([^\W\d_][\w /-]{0,39})"

_LINE_FIELD = lazy_pattern(rf"\s*(?:\[.\]\s+)?[*_~]*{_KEY}[*_~]*::[*_~]*(?=[\s{LINK}])")

_INLINE_FIELD = lazy_pattern(rf"[(\[][*_]*{_KEY}[*_]*::[*_]*(?=[\s{LINK}])[^()\[\]]*\Z")

# Characters before a link in which its field may begin.
_INLINE_REACH = 240

# "Next: [[b]]" as a whole line is a field, too. The number of links is bounded, so that a long line
# is read as prose.
_LABELLED = lazy_pattern(
    rf"[ \t]*(?:[-*+][ \t]+)?[*_]*{_KEY}[*_]*:[*_]*[ \t]*{LINK}"
    rf"(?:[ \t,]+{LINK}){{0,50}}[ \t]*(?=[\r\n]|\Z)"
)


class Fields:
    """The fields of lines with links; must be queried in the order of the links."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._line = -1
        self._key = ""
        self._key_end = 0
        self._label = ""

    def at(self, line: int, at: int) -> str:
        """Read `relation:: [[a]]` and `(relation:: [[a]])` as Dataview does, and `Next: [[a]]`."""
        if line != self._line:
            self._read_line(line)
        if match := _INLINE_FIELD.search(self._text, max(line, at - _INLINE_REACH), at):
            return normalise_type(match[1])
        return self._key if self._key and self._key_end <= at else self._label

    def _read_line(self, line: int) -> None:
        """Read the field at the start of a line, once for all its links."""
        self._line = line
        key = _LINE_FIELD.match(self._text, line)
        self._key, self._key_end = (normalise_type(key[1]), key.end()) if key else ("", 0)
        label = _LABELLED.match(self._text, line)
        self._label = _read_before(label[1]) or normalise_type(label[1]) if label else ""


def find_relation(fields: Fields, text: str, line: int, start: int, end: int) -> str:
    """Return the type of the link at `start` to `end`, on the line that starts at `line`."""
    return (
        fields.at(line, start)
        or _read_before(text[max(0, start - _REACH_BEFORE - _LONGEST_WORD) : start])
        or _read_after(text[end : end + _REACH_AFTER + _LONGEST_WORD])
        or DEFAULT
    )


def normalise_type(key: str) -> str:
    """Normalise a relation's name: lower case, with underscores between words."""
    return re.sub(r"[\s/_-]+", "_", key.strip().lower()).strip("_")


def _read_before(text: str) -> str:
    """Return the type of the nearest known word before the link in its sentence."""
    if _VERBS.isdisjoint(_LETTERS.findall(text.lower())):
        return ""
    first = 0
    for stop in _SENTENCE_END.finditer(text):
        first = stop.end()
    verbs = list(_yield_verbs(text, max(first, len(text) - _REACH_BEFORE)))
    if not verbs:
        return ""
    kind, word, start = verbs[-1]
    head = text[first:start]
    if _EARLIER_LINE.match(text, start):
        return DEFAULT
    if _NEGATION.search(head) or (word.endswith(("s", "ed")) and _SUBJECT.search(head)):
        return DEFAULT
    if _BY.match(text, start):
        return _PASSIVE[kind]
    return DEFAULT if word.endswith("ed") and _ENDS_WITH_BY.search(text, start) else kind


def _yield_verbs(text: str, first: int) -> Iterator[tuple[str, str, int]]:
    """Yield type, word and offset of each known word from an offset on."""
    words = [(match[0].lower(), match.start()) for match in _WORD.finditer(text)]
    for (word, start), (following, _) in pairwise([*words, ("", 0)]):
        kind = _TYPE_OF.get(word) or _TYPE_OF.get(f"{word}+{following}")
        if kind and start >= first:
            yield kind, word, start


def _read_after(text: str) -> str:
    """Read "[[x]] is superseded by this note" as `supersedes`; ignore "… by [[y]]"."""
    match = _IS_DONE_BY.match(text)
    if not match or match.start(1) > _REACH_AFTER:
        return ""
    stop = _SENTENCE_END.search(text, match.end())
    position = text.find(LINK, match.end(), stop.start() if stop else len(text))
    return _TYPE_OF.get(match[1].lower(), "") if position < 0 else ""
