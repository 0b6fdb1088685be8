"""Changes of files as edits, patches and unified diffs describe them: lines removed and added."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Literal

_MOST_LINES = 20_000
_BEGIN = "*** Begin Patch"
Action = Literal["add", "update", "delete", "move"]
_MARKS: tuple[tuple[str, Action], ...] = (
    ("*** Add File: ", "add"),
    ("*** Update File: ", "update"),
    ("*** Delete File: ", "delete"),
)


@dataclass(frozen=True, slots=True)
class FileChange:
    """What one call of a tool did to one file."""

    path: str
    """As the tool was given it."""
    action: Action
    removed: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    """Lines of the text around that stayed."""
    moved_to: str = ""


def between(path: str, old: str, new: str, action: Action = "update") -> FileChange:
    """Return the change from one text to another: lines by their number of occurrences.

    It takes linear time, which a shortest edit script doesn't.
    """
    before = list(islice(old.splitlines(), _MOST_LINES))
    after = list(islice(new.splitlines(), _MOST_LINES))
    extra, missing = Counter(after), Counter(before)
    extra.subtract(before)
    missing.subtract(after)
    removed, added = _taken(before, missing), _taken(after, extra)
    gone = Counter(removed)
    kept = [line for line in before if line.strip() and not _take(gone, line)]
    return FileChange(path, action, tuple(removed), tuple(added), tuple(kept))


def _taken(lines: list[str], counts: Counter[str]) -> list[str]:
    return [line for line in lines if _take(counts, line)]


def _take(counts: Counter[str], line: str) -> bool:
    if counts[line] <= 0:
        return False
    counts[line] -= 1
    return True


def of_lines(path: str, lines: list[str], action: Action = "update") -> FileChange:
    """Return the change that the lines of a diff say: `-` removed, `+` added, blank kept."""
    removed = [line[1:] for line in lines if line.startswith("-")]
    added = [line[1:] for line in lines if line.startswith("+")]
    last = max((at for at, line in enumerate(lines) if line.startswith(("-", "+"))), default=-1)
    kept = [line[1:] for line in lines[: last + 1] if line.startswith(" ") and line.strip()]
    kept += [line[2:].strip() for line in lines if line.startswith("@@") and line[2:].strip(" @")]
    change = between(path, "\n".join(removed), "\n".join(added), action)
    return FileChange(path, action, change.removed, change.added, tuple(kept) + change.kept)


def is_patch(text: str) -> bool:
    """Tell whether a text has a patch in the form of `apply_patch`."""
    return _BEGIN in text


def of_patch(text: str) -> Iterator[FileChange]:
    """Yield the changes of a patch in the form of `apply_patch`."""
    path, action, moved, lines = "", _MARKS[1][1], "", list[str]()
    for line in islice(text[text.find(_BEGIN) :].splitlines()[1:], _MOST_LINES):
        mark = next((found for found in _MARKS if line.startswith(found[0])), None)
        if mark or line.startswith("*** End Patch"):
            if path:
                yield _patched(path, action, moved, lines)
            path, moved, lines = "", "", []
            if mark is None:
                return
            path, action = line[len(mark[0]) :].strip(), mark[1]
        elif line.startswith("*** Move to: "):
            moved = line[len("*** Move to: ") :].strip()
        else:
            lines.append(line)
    if path:
        yield _patched(path, action, moved, lines)


def _patched(path: str, action: Action, moved: str, lines: list[str]) -> FileChange:
    change = of_lines(path, lines, "move" if moved else action)
    return FileChange(path, change.action, change.removed, change.added, change.kept, moved)
