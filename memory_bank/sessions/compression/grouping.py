"""Which things that happened make one observation together."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from memory_bank.sessions.compression.definitions import kind_of
from memory_bank.sessions.compression.edits import only_imports
from memory_bank.sessions.compression.items import Item

_DECIDES = re.compile(
    r"\b(?:we(?:'ve| have)? (?:decided|chose|agreed|settled)|(?:let'?s|we(?:'ll| will)|please) (?:use|choose|go with|adopt|keep|switch to)\b"
    r"|decided? (?:to|on|for|that)|decision\b|choose \S+|chose \S+|opt(?:ed)? for|settle(?:d)? on|go with\b"
    r"|(?:instead of|rather than|in favou?r of)\b)",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?。])\s+|\n+")
_COMPANIONS = 4
"""Most tests, pages and settings that belong to the change of one file of code."""
_MOST_SENTENCES = 40


def sentence_of_decision(text: str) -> str:
    """Return the sentence of a text that decides something; empty if there is none."""
    for sentence in _SENTENCE.split(text[:8000])[:_MOST_SENTENCES]:
        if _DECIDES.search(sentence) and not sentence.rstrip().endswith("?"):
            return sentence.strip()
    return ""


def grouped(items: Sequence[Item], asked: Mapping[int, str]) -> list[Item]:
    """Return the items of which each becomes an observation, with their changes in words."""
    found = list(items)
    for item in found:
        if item.changes and not item.words:
            item.describe()
    for number in dict.fromkeys(item.prompt for item in found):
        edits = [
            one for one in found if one.prompt == number and one.sort == "edit" and not one.commit
        ]
        gone = _same_change(edits) + _moves([one for one in edits if one.words])
        edits = [one for one in edits if one not in gone]
        commits = [one for one in found if one.prompt == number and one.commit and one.words]
        gone += _decision([*commits, *edits], found, number, asked.get(number, ""))
        gone += _companions([one for one in edits if one not in gone])
        found = [one for one in found if one not in gone]
    return found


def _join(item: Item, others: Sequence[Item]) -> list[Item]:
    for other in others:
        item.absorb(other)
    return list(others)


def _same_change(edits: Sequence[Item]) -> list[Item]:
    """Join edits of several files that do the same: a rename, the same replacement."""
    first, gone = dict[tuple[str, ...], Item](), list[Item]()
    for item in edits:
        word = item.words[0] if len(item.words) == 1 and not item.resolved else None
        if word is None or word.sort not in ("renamed", "lines", "layout", "comments"):
            continue
        key = word.renamed if word.sort == "renamed" else (word.sort, word.title)
        known = first.setdefault(key, item)
        if known is not item:
            gone += _join(known, [item])
    return gone


def _moves(edits: Sequence[Item]) -> list[Item]:
    """Join two edits of which one removes the names that the other adds."""
    gone = list[Item]()
    for item in edits:
        lost = {name for word in item.words for name in word.removed}
        for other in edits:
            if item is other or item in gone or other in gone or not lost:
                continue
            if lost <= {name for word in other.words for name in word.added}:
                shown = " and ".join(sorted(name.shown for name in lost)[:3])
                other.title = f"Move {shown} from {item.words[0].path} to {other.words[0].path}"
                gone += _join(other, [item])
    return gone


def _decision(edits: Sequence[Item], items: Sequence[Item], number: int, prompt: str) -> list[Item]:
    """Join the edits of a prompt that decides something, but for those that resolve a failure."""
    sentence = sentence_of_decision(prompt)
    if not sentence:
        return []
    plain = [item for item in edits if not item.resolved]
    if not plain:
        plain = [one for one in items if one.prompt == number and one.sort in ("look", "agent")][:1]
    if not plain:
        return []
    plain[0].decision = sentence
    return _join(plain[0], plain[1:])


def _companions(edits: Sequence[Item]) -> list[Item]:
    """Join tests, pages, settings and imports to the change of code that they belong to."""
    code = [one for one in edits if _is_code(one) and not _imports(one)]
    others = [one for one in edits if one not in code and not one.resolved and not one.title]
    gone = list[Item]()
    for item in others:
        stem = _stem(item.modified[0])
        owners = [one for one in code if stem in {_stem(path) for path in one.modified}]
        if not owners and len(code) == 1 and len(others) <= _COMPANIONS:
            owners = code
        if owners:
            gone += _join(owners[0], [item])
    alone = [one for one in others if one not in gone and not _is_code(one)]
    pages = [one for one in alone if all(kind_of(path) != "test" for path in one.modified)]
    return gone + _join(pages[0], pages[1:]) if pages else gone


def _is_code(item: Item) -> bool:
    return any(kind_of(path) == "code" for path in item.modified)


def _imports(item: Item) -> bool:
    return bool(item.changes) and all(
        only_imports(change) for found in item.changes.values() for change in found
    )


def _stem(path: str) -> str:
    name = path.rpartition("/")[2].partition(".")[0]
    return re.sub(r"^test_|_test$|_spec$|Tests?$|Spec$", "", name).casefold()
