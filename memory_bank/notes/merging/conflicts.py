"""Conflicts: what a merge leaves, with the form of a file, and those that stand in a note."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Generic, TypeVar

from memory_bank.base import NamedTuple, lazy_pattern
from memory_bank.base.errors import Hint, UnreadableNote
from memory_bank.notes.characters import BOM, BREAK

Value = TypeVar("Value")
Version = TypeVar("Version")
Name = TypeVar("Name", bound=Hashable)


class ThreeWay(NamedTuple, Generic[Version]):
    """The three versions that are merged, or the same part of each."""

    base: Version
    ours: Version
    theirs: Version


class NoText(Exception):
    """The bytes are not UTF-8, or binary."""


class Form(NamedTuple):
    """How a file is written; None for what an empty file doesn't tell."""

    mark: bytes = b""
    newline: str | None = None
    r"""The line end of all lines; empty if they differ: then lines are what `\n` ends."""
    ended: bool | None = None
    """Whether the last line has a line end."""


class Text(NamedTuple):
    """A file's text, to be split into lines at its line ends, and its form."""

    text: str
    form: Form


def read(data: bytes) -> Text:
    """Return a file's text without its mark; raise NoText."""
    mark = BOM if data.startswith(BOM) else b""
    try:
        text = data[len(mark) :].decode("utf-8")
    except UnicodeDecodeError as error:
        raise NoText(f"not UTF-8 (byte {error.start})") from error
    if "\0" in text:
        raise NoText("binary: it has NUL bytes")
    ends = set(BREAK.findall(text))
    newline = (ends.pop() if len(ends) == 1 else "") if ends else None
    ended = text.endswith(newline or "\n") if text else None
    return Text(text, Form(mark, newline, ended))


def split_lines(text: str, newline: str) -> list[str]:
    """Return the lines without line ends; the last one may lack it."""
    if not text:
        return []
    newline = newline or "\n"
    return text.removesuffix(newline).split(newline)


def merge_forms(base: Form, ours: Form, theirs: Form) -> Form:
    """Return the form with the changes of both sides; ours where they differ."""
    return Form(
        theirs.mark if ours.mark == base.mark else ours.mark,
        _merge_value(base.newline, ours.newline, theirs.newline),
        _merge_value(base.ended, ours.ended, theirs.ended),
    )


def _merge_value(base: Value | None, ours: Value | None, theirs: Value | None) -> Value | None:
    if ours is None or (ours == base and theirs is not None):
        return theirs
    return ours


MARKER_SIZE = 7
"""Length of git's marker lines, unless the attribute `conflict-marker-size` says otherwise."""


class ConflictingChange(NamedTuple):
    """Two changes of the same place, by their lines without line ends."""

    ours: tuple[str, ...]
    theirs: tuple[str, ...]
    base: tuple[str, ...] = ()


Lines = Sequence[str]
"""Lines without line ends."""

Part = str | ConflictingChange
"""A merged line, or a conflict."""


class Labels(NamedTuple):
    """What the markers of a conflict say."""

    ours: str = "ours"
    theirs: str = "theirs"
    size: int = MARKER_SIZE
    base: str = ""
    """If it is not empty, conflicts show the lines of the base, as git's style `zdiff3` does."""


def yield_conflict(ours: Lines, theirs: Lines, base: Lines = ()) -> Iterator[Part]:
    """Yield a conflict; lines that both start or end with are outside of it."""
    start = count_common_start(ours, theirs)
    end = count_common_start(ours[start:][::-1], theirs[start:][::-1])
    yield from ours[:start]
    mine, its = ours[start : len(ours) - end], theirs[start : len(theirs) - end]
    yield ConflictingChange(tuple(mine), tuple(its), tuple(base))
    yield from ours[len(ours) - end :]


def count_common_start(ours: Lines, theirs: Lines) -> int:
    """Return the number of first lines that are equal."""
    pairs = zip(ours, theirs, strict=False)
    return next(
        (count for count, (mine, its) in enumerate(pairs) if mine != its),
        min(len(ours), len(theirs)),
    )


def merge_order(base: Sequence[Name], ours: Sequence[Name], theirs: Sequence[Name]) -> list[Name]:
    """Return all names of both sides in ours' order, or in theirs' if only that has another one."""
    first, second = ours, theirs
    if not _is_moved(base, first) and _is_moved(base, second):
        first, second = second, first
    order, at = [*first], 0
    places = {name: number for number, name in enumerate(order)}
    for name in second:
        if name in places:
            at = order.index(name) + 1
            continue
        while at < len(order) and order[at] not in base and order[at] not in second:
            at += 1
        order.insert(at, name)
        at += 1
    return order


def _is_moved(base: Sequence[Name], order: Sequence[Name]) -> bool:
    shared = [name for name in order if name in base]
    return shared != [name for name in base if name in shared]


def count(parts: Iterable[Part]) -> int:
    """Return the number of conflicts."""
    return sum(isinstance(part, ConflictingChange) for part in parts)


def render_lines(parts: Iterable[Part], labels: Labels, end: str = "") -> Iterator[str]:
    r"""Yield the lines, conflicts as git marks them; `end` is `\r` where lines end with it."""
    for part in parts:
        if isinstance(part, str):
            yield part
            continue
        yield f"{'<' * labels.size} {labels.ours}{end}"
        yield from part.ours
        if labels.base:
            yield f"{'|' * labels.size} {labels.base}{end}"
            yield from part.base
        yield f"{'=' * labels.size}{end}"
        yield from part.theirs
        yield f"{'>' * labels.size} {labels.theirs}{end}"


UNRESOLVED = "unresolved merge conflict"

OPENING = "<<<<<<< "
"""What git starts the first line of a conflict with."""

_MARKER = lazy_pattern(r"<{7} .*|\|{7}(?: .*)?|={7}|>{7}(?: .*)?")

_BEFORE = {"|": {"<"}, "=": {"<", "<|"}, ">": {"<=", "<|="}}
"""What must stand before a marker, by first letters: git writes them in this order."""


class MergeConflict(NamedTuple):
    """One conflict of a text."""

    line: int
    """1-based line of the text that has its first marker."""
    markers: tuple[str, ...]
    """Its lines that are git's, in order."""


def find(text: str) -> list[MergeConflict]:
    """Return the conflicts of a text: each has all lines that git writes, in its order.

    In a fence of code they count too, since notes that have code are merged like others.
    """
    return list(_yield_conflicts(text)) if OPENING in text else []


def _yield_conflicts(text: str) -> Iterator[MergeConflict]:
    first, markers = 0, list[str]()
    for number, line in enumerate(BREAK.split(text), 1):
        if not _MARKER.fullmatch(line):
            continue
        if line[0] == "<":
            first, markers = number, [line]
        elif "".join(marker[0] for marker in markers) in _BEFORE[line[0]]:
            markers.append(line)
            if line[0] == ">":
                yield MergeConflict(first, tuple(markers))
                markers = []


def check(path: str, new: str, old: str = "") -> None:
    """Raise UnreadableNote for a note's new text that has a conflict, or a part of one of the old.

    A text that resolves all conflicts of the old one passes.
    """
    found = find(new)
    line = found[0].line if found else _find_leftover(new, old)
    if line:
        raise UnreadableNote(
            f"{path} has an {UNRESOLVED} (line {line}): nothing was written", Hint.RESOLVE_CONFLICT
        )


def _find_leftover(new: str, old: str) -> int:
    """Return the line of a marker that a conflict of the old text left behind; 0 if none is."""
    marked = Counter(marker for conflict in find(old) for marker in conflict.markers)
    if not marked:
        return 0
    lines = BREAK.split(new)
    before, after = Counter(BREAK.split(old)), Counter(lines)
    markers = {marker for marker in marked if after[marker] > before[marker] - marked[marker]}
    return next((number for number, line in enumerate(lines, 1) if line in markers), 0)
