"""Sentences of users and agents: which tell something, decide something, or say what is next."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from memory_bank.base import plugins
from memory_bank.sessions.compression import definitions
from memory_bank.sessions.compression.definitions import pattern, rule

DECIDED, NEXT, COMMITTED = "decided: ", "next: ", "committed"
"""Starts of facts: a decision or rule, an open step, and that a commit has the changes."""

_MOST, _MOST_SENTENCES, _LONGEST = 12_000, 120, 600

_FENCE = plugins.pattern(
    r"^ {0,3}(`{3,}+|~{3,}+)[^\n]*\n.*?(?:^ {0,3}\1[^\n]*$|\Z)", re.DOTALL | re.MULTILINE
)

_BLOCK = plugins.pattern(r"^\s*(?:(?:[-*+•]|\d{1,3}[.)]|#{1,6})\s+|>\s?)")

_SKIPPED = plugins.pattern(r"^\s*(?:#{1,6}\s|\||[-=*_]{3,}\s*$)")

_END = plugins.pattern(r"(?<=[.!?…])[\"')\]”’*_`]{0,3}\s+|(?<=[。！？])")

_SHORTENED = plugins.pattern(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|no|dr|mr|z\.\s?b|bzw|usw|ca|d\.\s?h|p\.\s?ex)|(?:^|\s)\w)\.$",
    re.IGNORECASE,
)

_MARKS = plugins.pattern(
    r"(\*{1,3}|(?<!\w)__?|`{1,3}|~~)(?=[^\s*_`])([^\n]{1,400}?)(?<=[^\s*`])\1(?!\w)"
)

_LINK = plugins.pattern(r"!?\[([^\]\n]{1,200})\]\([^)\n]{1,400}\)")

_CLAUSE = plugins.pattern(
    r"[;:] | [–—-] |, (?=(?:and|but|so|since|because|which|while|otherwise|else|und|aber|weil|sodass|mais|pero|porque)\b)"
)

_LIST = plugins.pattern(
    r"^(?P<head>[^\n]{2,80})\n\s*+(?P<items>(?:[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+[^\n]+(?:\n|\Z))+)",
    re.MULTILINE,
)

_TO_DO = plugins.pattern(r"^[ \t]*[-*+] \[ \] ([^\n]+)", re.MULTILINE)

_LEAST_WORDS, _LEAST_CLAUSE = 5, 45


def sentences(text: str) -> list[str]:
    """Return the sentences of a text without marks of Markdown, code blocks, headings and tables."""
    return [one for line in _lines(text[:_MOST]) for one in _split(line)][:_MOST_SENTENCES]


def _lines(text: str) -> Iterator[str]:
    """Yield paragraphs and list items, each as one line."""
    kept = ""
    for line in _FENCE.sub("\n", text).splitlines():
        if not line.strip() or _SKIPPED.match(line):
            yield kept
            kept = ""
        elif _BLOCK.match(line):
            yield kept
            kept = _BLOCK.sub("", line).strip()
        elif kept and not re.search(r"[.:!?;]$", kept) and not line.lstrip()[:1].isupper():
            kept = f"{kept} {line.strip()}"  # a paragraph that was wrapped
        else:
            yield kept
            kept = line.strip()
    yield kept


def _split(line: str) -> Iterator[str]:
    start = 0
    for found in _END.finditer(line):
        if found.end() > start and not _SHORTENED.search(line[start : found.start()]):
            yield from filter(None, [plain(line[start : found.end()])])
            start = found.end()
    yield from filter(None, [plain(line[start:])])


def plain(text: str) -> str:
    """Return a text in one line without marks of Markdown."""
    return " ".join(_MARKS.sub(r"\2", _LINK.sub(r"\1", text)).split())[:_LONGEST]


def telling(text: str) -> str:
    """Return the first sentence that says something of the work; empty if there is none.

    One of few words is taken where no longer one says anything.
    """
    telling = [one for one in map(opened, sentences(text)) if one and not rule("empty").search(one)]
    found = [one for one in telling if size(one) >= _LEAST_WORDS] or telling
    return next((one for one in found if not rule("next").search(one)), found[0] if found else "")


def opened(sentence: str) -> str:
    """Return a sentence without first words such as `Done:`."""
    found = rule("opening").match(sentence)
    rest = sentence[found.end() :] if found else sentence
    return _capital(rest) if found else rest


def _capital(text: str) -> str:
    """Return a sentence with a capital letter, unless it begins with a name of code."""
    return text[:1].upper() + text[1:] if re.match(r"[^\W\d_]+[\s,:;]", text) else text


def step_of(sentence: str) -> str:
    """Return a sentence that plans without words such as `Next:`."""
    label = pattern(r"^(?:and )?(?:{label})(?: is| are)?\s*[:,–—-]\s+")
    return _capital(label.sub("", opened(sentence)))


def headline(sentence: str, most: int) -> str:
    """Return a sentence as a title: whole, its first clauses, or its first words."""
    said = sentence.rstrip(" .:;!")
    if len(said) <= most:
        return said
    ends = [at.start() for at in _CLAUSE.finditer(said) if _LEAST_CLAUSE <= at.start() <= most]
    if ends:
        return said[: ends[-1]].rstrip(" ,")
    return said[: most - 1].rsplit(" ", 1)[0].rstrip(" ,;:(") + "…"


def decided(text: str) -> list[str]:
    """Return the sentences that decide something or state a rule; questions do not."""
    return _found("decides", text)


def planned(text: str) -> list[str]:
    """Return the sentences that say what is still to be done, and the lists of such things."""
    text = _FENCE.sub("\n", text[:_MOST])
    listed = [plain(one) for one in _TO_DO.findall(text)]
    for found in _LIST.finditer(text):
        head = plain(_BLOCK.sub("", found["head"])).rstrip(" :.")
        if pattern("{label}").fullmatch(head):
            items = (_BLOCK.sub("", line) for line in found["items"].splitlines())
            listed += [plain(one) for one in items if one.strip()]
    return list(dict.fromkeys([*listed, *_found("next", text)]))


def _found(kind: str, text: str) -> list[str]:
    found = [
        sentence
        for sentence in sentences(text)
        if size(sentence) > 2  # noqa: PLR2004 - `and then` says nothing
        and not sentence.endswith("?")
        and rule(kind).search(opened(sentence))
    ]
    return list(dict.fromkeys(found))


def words(text: str) -> frozenset[str]:
    """Return the starts of the words that tell what a sentence is about."""
    found = re.findall(r"[^\W\d_][\w-]{3,}|\b\w+_\w+", _UNSPACED.sub(" ", text.casefold()))
    found += map("".join, pairwise(_UNSPACED.findall(text)))
    common = definitions.words("words", "common_in_steps")
    return frozenset(word[:5] for word in found if word not in common)


_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
"""Letters of languages without blanks between words."""


def size(text: str) -> int:
    """Return the number of words of a text; where no blanks divide them, two letters count as one."""
    return len(text.split()) + len(_UNSPACED.findall(text)) // 2


def covered(step: str, done: Sequence[str], share: float = 0.6) -> bool:
    """Tell whether one of some texts has that share of the words of a step."""
    wanted = words(opened(step))
    most = max((len(wanted & words(one)) for one in done), default=0)
    return len(wanted) > 1 and most >= share * len(wanted)
