"""Find each section of a note in another version of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence

from memory_bank.notes.note import Section
from memory_bank.review.alignment import in_order
from memory_bank.review.likeness import pairs, words_of

_ALIKE = 0.6
"""Share of words in common from which a section under another heading is the same one."""

Headings = tuple[str, ...]


def paired(before: Sequence[Section], after: Sequence[Section]) -> dict[int, int]:
    """Map numbers of sections to those of the same sections in the version after.

    Sections are the same if they have the same headings and text, else the same headings, else the
    same text below the heading, else the most words in common.
    """
    found: dict[int, int] = {}
    for same in (_path_and_text, _path, _text):
        found |= _equal(before, after, found, same)
    taken = set(found.values())
    olds = {old: words_of(_below(one)) for old, one in enumerate(before) if old not in found}
    news = {new: words_of(_below(one)) for new, one in enumerate(after) if new not in taken}
    return found | pairs(olds, news, _ALIKE)


def named_anew(
    before: Sequence[Section], after: Sequence[Section], found: Mapping[int, int]
) -> frozenset[int]:
    """Return those of paired sections whose own heading changed, or that are below another one.

    A section below one that was renamed is not meant.
    """
    names: dict[Headings, Headings] = {}
    """Headings before, mapped to those after."""
    changed: set[int] = set()
    for old in sorted(found):
        headings, now = before[old].headings, after[found[old]].headings
        above = names.get(headings[:-1], headings[:-1])
        if (headings and now != (*above, headings[-1])) or bool(headings) != bool(now):
            changed.add(old)
        names.setdefault(headings, now)
    return frozenset(changed)


def moved(
    after: Sequence[Section], found: Mapping[int, int], named_anew: Collection[int]
) -> frozenset[int]:
    """Return those of the other paired sections that are behind others than before.

    As few as possible are; a section below one that moved, or was named anew, is not meant.
    """
    anew = {after[found[old]].headings for old in named_anew}
    olds = {new: old for old, new in found.items() if not _below_any(after[new], anew)}
    order = [olds[new] for new in sorted(olds)]
    others = set(order) - {order[place] for _, place in in_order(sorted(order), order)}
    above = {after[found[old]].headings for old in others} - {()}
    return frozenset(old for old in others if after[found[old]].headings[:-1] not in above)


def _below_any(section: Section, some: Collection[Headings]) -> bool:
    """Tell whether a section, or one that it is in, has one of some headings."""
    path = section.headings
    return any(path[:size] in some for size in range(1, len(path) + 1))


def _equal(
    before: Sequence[Section],
    after: Sequence[Section],
    found: Mapping[int, int],
    same: Callable[[Section], Hashable],
) -> dict[int, int]:
    """Pair the remaining sections with an equal value, in order; None is no value."""
    taken = set(found.values())
    waiting: defaultdict[Hashable, list[int]] = defaultdict(list)
    for new in range(len(after) - 1, -1, -1):
        if new not in taken:
            waiting[same(after[new])].append(new)
    waiting.pop(None, None)
    return {
        old: waiting[value].pop()
        for old, section in enumerate(before)
        if old not in found and waiting.get(value := same(section))
    }


def _path_and_text(section: Section) -> Hashable:
    return section.headings, _folded(section.text)


def _path(section: Section) -> Hashable:
    return section.headings


def _text(section: Section) -> Hashable:
    return _folded(_below(section)) or None


def _below(section: Section) -> str:
    """Return the text below a section's heading line."""
    if not section.level:
        return section.text
    return section.text.lstrip("\r\n").partition("\n")[2]


def _folded(text: str) -> str:
    return " ".join(text.split())
