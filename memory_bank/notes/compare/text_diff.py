"""Compare two texts by words: what differs, and how much they have in common.

Elements that are the same at both ends match; then those that both sequences have once, as long as
they are in the same order (patience diff, by B. Cohen); so on between them. Short runs without such
an element are compared by difflib. All steps are counted: beyond a number for each element, the
rest is said to differ, so that no text can make a comparison slow.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Literal, NamedTuple, TypeVar

from memory_bank.notes.compare.note_change import TextSpan

_STEPS = 64
"""Steps for each element of both sequences."""

_SMALL = 1024
"""Product of two lengths up to which difflib compares."""


class AlignedRun(NamedTuple):
    """A run of elements: the same in both sequences, or replaced (either side may be empty)."""

    kind: Literal["equal", "replaced"]
    start: int
    end: int
    other_start: int
    other_end: int


def runs(before: Sequence[Hashable], after: Sequence[Hashable]) -> list[AlignedRun]:
    """Return the runs that make `after` of `before`, in order; equal and replaced alternate."""
    found: list[AlignedRun] = []
    i = j = 0
    for start, other, size in _blocks(before, after):
        if i < start or j < other:
            found.append(AlignedRun("replaced", i, start, j, other))
        if size:
            found.append(AlignedRun("equal", start, start + size, other, other + size))
        i, j = start + size, other + size
    return found


def _blocks(
    before: Sequence[Hashable], after: Sequence[Hashable]
) -> Iterator[tuple[int, int, int]]:
    """Yield starts and sizes of matching blocks, adjacent ones joined; the last has size 0."""
    i = j = size = 0
    for start, other in sorted(_pairs(before, after)):
        if (start, other) == (i + size, j + size):
            size += 1
            continue
        if size:
            yield i, j, size
        i, j, size = start, other, 1
    if size:
        yield i, j, size
    yield len(before), len(after), 0


def _pairs(before: Sequence[Hashable], after: Sequence[Hashable]) -> list[tuple[int, int]]:
    """Return the positions of matching elements."""
    found: list[tuple[int, int]] = []
    steps = _STEPS * (len(before) + len(after))
    ranges = [(0, len(before), 0, len(after))]
    while ranges:
        i, end, j, other_end = ranges.pop()
        while i < end and j < other_end and before[i] == after[j]:
            found.append((i, j))
            i, j = i + 1, j + 1
        while i < end and j < other_end and before[end - 1] == after[other_end - 1]:
            end, other_end = end - 1, other_end - 1
            found.append((end, other_end))
        length, other_length = end - i, other_end - j
        if not length or not other_length:
            continue
        small = length * other_length <= _SMALL
        steps -= length * other_length if small else length + other_length
        if steps < 0:
            continue
        if small:
            found += _compared(before, after, (i, end, j, other_end))
        else:
            anchors = in_order(before[i:end], after[j:other_end])
            found += [(i + one, j + other) for one, other in anchors]
            ranges += _between(anchors, (i, end, j, other_end)) if anchors else []
    return found


def _compared(
    before: Sequence[Hashable], after: Sequence[Hashable], span: tuple[int, int, int, int]
) -> Iterator[tuple[int, int]]:
    i, end, j, other_end = span
    matcher = SequenceMatcher(None, before[i:end], after[j:other_end], autojunk=False)
    for start, other, size in matcher.get_matching_blocks():
        for step in range(size):
            yield i + start + step, j + other + step


def _between(
    anchors: Sequence[tuple[int, int]], span: tuple[int, int, int, int]
) -> Iterator[tuple[int, int, int, int]]:
    """Yield the ranges between anchors."""
    i, end, j, other_end = span
    first, other_first = i, j
    for one, other in anchors:
        yield first, i + one, other_first, j + other
        first, other_first = i + one + 1, j + other + 1
    yield first, end, other_first, other_end


def in_order(before: Sequence[Hashable], after: Sequence[Hashable]) -> list[tuple[int, int]]:
    """Return the longest increasing sequence of elements that both sides have exactly once."""
    counts, others = Counter(before), Counter(after)
    places = {element: place for place, element in enumerate(after) if others[element] == 1}
    pairs = [
        (place, places[element])
        for place, element in enumerate(before)
        if counts[element] == 1 and element in places
    ]
    ends: list[int] = []
    """The smallest last element of an increasing sequence, by its length."""
    last: list[int] = []
    back: list[int] = []
    for number, (_, other) in enumerate(pairs):
        length = bisect_left(ends, other)
        back.append(last[length - 1] if length else -1)
        ends[length : length + 1] = [other]
        last[length : length + 1] = [number]
    chain: list[tuple[int, int]] = []
    number = last[-1] if last else -1
    while number >= 0:
        chain.append(pairs[number])
        number = back[number]
    return chain[::-1]


_CJK = "\u3040-\u9fff\uac00-\ud7af"

_WORD = re.compile(rf"[{_CJK}]|[^\W{_CJK}]+")

_RAREST = 24
"""Number of words by which texts to compare are found: the rarest."""

_COMMON = 200
"""Number of texts that have a word which finds none."""

_COMPARED = 5

Words = Counter[str]

Key = TypeVar("Key", bound=Hashable)


def words_of(text: str) -> Words:
    """Return the words of a text in lower case with their numbers; a CJK character is a word."""
    return Counter(_WORD.findall(text[:MAX_CHARACTERS].lower()))


def share(one: Words, other: Words) -> float:
    """Return the share of words in common: 1 for the same words, whatever their order."""
    return 2 * (one & other).total() / ((one.total() + other.total()) or 1)


def pairs(before: Mapping[Key, Words], after: Mapping[Key, Words], least: float) -> dict[Key, Key]:
    """Map keys of texts to those of the most similar ones, at least `least`; each text is once.

    Texts are compared if they share rare words: at most five for each.
    """
    having: defaultdict[str, list[Key]] = defaultdict(list)
    for key, words in before.items():
        for word in words:
            having[word].append(key)
    scored: list[tuple[float, int, int]] = []
    olds, news = list(before), list(after)
    numbers = {key: number for number, key in enumerate(olds)}
    for number, words in enumerate(after.values()):
        known = sorted((len(having[word]), word) for word in words if word in having)
        seen: Counter[Key] = Counter()
        for count, word in known[:_RAREST]:
            seen.update(having[word] if count <= _COMMON else ())
        near = sorted(seen, key=lambda key: (-seen[key], numbers[key]))[:_COMPARED]
        for key in near:
            likeness = share(before[key], words)
            if likeness >= least:
                scored.append((-likeness, number, numbers[key]))
    found: dict[Key, Key] = {}
    taken: set[int] = set()
    for _, new, old in sorted(scored):
        if new not in taken and olds[old] not in found:
            found[olds[old]] = news[new]
            taken.add(new)
    return found


_TOKEN = re.compile(rf"\s+\Z|\s*(?:[{_CJK}]|\d+(?:[.,]\d+)+|[^\W{_CJK}]+|[^\w\s])")
"""White space belongs to the word behind it."""

MAX_CHARACTERS = 20_000
"""Length of both texts beyond which one replaces the other."""

_FEW = 2
"""Number of words."""


def diff(before: str, after: str) -> tuple[TextSpan, ...]:
    """Return the spans that make one text of another.

    Equal and inserted spans joined are `after`; equal and deleted ones are `before` up to white
    space.
    """
    if len(before) + len(after) > MAX_CHARACTERS:
        return joined([TextSpan("delete", before), TextSpan("insert", after)])
    old, new = _TOKEN.findall(before), _TOKEN.findall(after)
    found: list[_DiffPart] = []
    for run in runs([word.strip() for word in old], [word.strip() for word in new]):
        deleted = "".join(old[run.start : run.end])
        inserted = "".join(new[run.other_start : run.other_end])
        words = run.end - run.start
        found.append(_DiffPart(run.kind == "equal", deleted, inserted, words))
    return joined(span for part in _readable(found) for span in _spans(part))


def joined(spans: Iterable[TextSpan]) -> tuple[TextSpan, ...]:
    """Join adjacent spans of a kind, and drop empty ones; deleted text comes before inserted."""
    found: list[TextSpan] = []
    deleted = inserted = ""
    for kind, text in spans:
        if kind == "delete":
            deleted += text
        elif kind == "insert":
            inserted += text
        elif text:
            found += _change(deleted, inserted)
            deleted = inserted = ""
            if found and found[-1].kind == "equal":
                text = found.pop().text + text  # noqa: PLW2901
            found.append(TextSpan("equal", text))
    return (*found, *_change(deleted, inserted))


class _DiffPart(NamedTuple):
    equal: bool
    before: str
    after: str
    words: int


def _readable(parts: Sequence[_DiffPart]) -> Iterator[_DiffPart]:
    """Yield the parts; a word or two that stay between longer changes count as changed."""
    held: _DiffPart | None = None
    """The last change, which may grow."""
    for number, part in enumerate(parts):
        if not part.equal:
            held = _both(held, part) if held else part
        elif held and number + 1 < len(parts) and _is_small(part, held, parts[number + 1]):
            held = _both(held, part)
        else:
            yield from (held,) if held else ()
            held = None
            yield part
    yield from (held,) if held else ()


def _is_small(part: _DiffPart, left: _DiffPart, right: _DiffPart) -> bool:
    least = min(max(len(one.before), len(one.after)) for one in (left, right))
    return part.words <= _FEW and len(part.after.strip()) < least


def _both(one: _DiffPart, other: _DiffPart) -> _DiffPart:
    return _DiffPart(False, one.before + other.before, one.after + other.after, 0)


def _spans(part: _DiffPart) -> tuple[TextSpan, ...]:
    """Return a part's spans; white space before both sides of a change stays."""
    if part.equal:
        return (TextSpan("equal", part.after),)
    deleted, inserted = part.before.lstrip(), part.after.lstrip()
    if not deleted or not inserted:
        return TextSpan("delete", part.before), TextSpan("insert", part.after)
    blank = part.after[: len(part.after) - len(inserted)]
    return TextSpan("equal", blank), TextSpan("delete", deleted), TextSpan("insert", inserted)


def _change(deleted: str, inserted: str) -> list[TextSpan]:
    made = (TextSpan("delete", deleted), TextSpan("insert", inserted))
    return [span for span in made if span.text]
