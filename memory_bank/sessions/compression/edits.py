"""Changes of files as edits, patches and diffs describe them, in words, and paths of files."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import islice
from pathlib import Path
from posixpath import normpath
from typing import Literal, cast

from memory_bank.base import NamedTuple, lazy_pattern
from memory_bank.sessions.compression.sentences import compile_rows, compile_rule

FileKind = Literal["code", "test", "docs", "config", "data"]

_LINE = 300
"""Characters of a line that are looked at."""


class DefinedName(NamedTuple):
    """A name that a line defines."""

    kind: str
    name: str

    @property
    def shown(self) -> str:
        """The name in a sentence: `retry()`, `class Job`, `section Install`."""
        if self.kind == "function":
            return f"{self.name}()"
        if self.kind == "test":
            return f"test “{self.name}”"
        return f"{self.kind} {self.name}"


def file_kind(path: str) -> FileKind:
    """Return what a file is for, by its path."""
    kind = next((row["of"] for row, of in compile_rows("file") if of.search(path)), "code")
    return cast("FileKind", kind)


def yield_defined_names(path: str, lines: Iterable[str]) -> Iterator[DefinedName]:
    """Yield the names that lines of a file define."""
    code = file_kind(path) in ("code", "test")
    patterns = [(row["of"], of) for row, of in compile_rows("name")] if code else []
    for line in filter(str.strip, lines if patterns else ()):
        matches = ((entry, pattern.match(line[:_LINE])) for entry, pattern in patterns)
        yield from [DefinedName(entry, match[1].strip()) for entry, match in matches if match][:1]


Action = Literal["add", "update", "delete", "move"]

# Of an edit that are compared.
_MOST_LINES = 20_000

_BEGIN, _MOVED = "*** Begin Patch", "*** Move to: "

_FILE = lazy_pattern(r"^\*\*\* (Add|Update|Delete) File: (.*)$", re.MULTILINE)

_LEAST_REMARK = 5
"""Fewest words of a comment that is told."""

# That a title of an edit has (tests/benchmarks/compression.py).
_MOST_NAMES = 4


@dataclass(frozen=True)
class FileChange:
    """What was done to one file, by one call of a tool or by several, and its words."""

    path: str
    """As the tool was given it."""
    action: Action
    removed: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    moved_to: str = ""

    @property
    def place(self) -> str:
        """Where the file is now."""
        return self.moved_to or self.path

    @cached_property
    def kind(self) -> FileKind:
        """What the file is for."""
        return file_kind(self.path)

    @cached_property
    def _names(self) -> tuple[tuple[DefinedName, ...], tuple[DefinedName, ...]]:
        """The names that added lines and removed lines define, each once."""
        new, old = (
            tuple(dict.fromkeys(islice(yield_defined_names(self.path, lines), 500)))
            for lines in (self.added, self.removed)
        )
        return new, old

    @cached_property
    def gains(self) -> tuple[DefinedName, ...]:
        """The names that are defined anew."""
        return tuple(name for name in self._names[0] if name not in self._names[1])

    @cached_property
    def loses(self) -> tuple[DefinedName, ...]:
        """The names that are no longer defined."""
        return tuple(name for name in self._names[1] if name not in self._names[0])

    @property
    def new(self) -> bool:
        """Whether the file is new."""
        return self.action == "add"

    @property
    def title(self) -> str:
        """What was done, as an order: `Add retry()`; empty where only lines changed."""
        if self.new:
            return f"Create {self.path}" + (
                f" with {list_in_words(self.gains)}" if self.gains else ""
            )
        if self.action == "move":
            return f"Move {self.path} to {self.moved_to}"
        return f"Remove {self.path}" if self.action == "delete" else _title(self.gains, self.loses)

    @property
    def facts(self) -> Iterator[str]:
        """What was done, as statements: `adds retry()`, and what new comments say."""
        if self.action == "move":
            yield f"moves {self.path} to {self.moved_to}"
        if self.action == "delete":
            yield f"removes {self.path}"
        elif self.new or self.gains:
            gained = list_in_words(self.gains, 8)
            yield (f"new file{' with ' * bool(gained)}{gained}" if self.new else f"adds {gained}")
        if self.loses and self.action != "delete":
            yield f"removes {list_in_words(self.loses, 8)}"
        if defined_names := [name for name in self._names[0] if name not in self.gains]:
            yield f"changes the definition of {list_in_words(defined_names)}"
        yield from (f"says: {remark}" for remark in _remarks(self))


def _title(gains: Sequence[DefinedName], loses: Sequence[DefinedName]) -> str:
    if not (gains and loses):
        return (
            f"{'Add' if gains else 'Remove'} {list_in_words(gains or loses)}"
            if gains or loses
            else ""
        )
    if len(gains) == len(loses) == 1:
        return f"Replace {loses[0].shown} by {gains[0].shown}"
    return f"Add {list_in_words(gains, 2)}, remove {list_in_words(loses, 2)}"


def compare_texts(path: str, old: str, new: str, action: Action = "update") -> FileChange:
    """Return the change from one text to another: lines by their number of occurrences.

    It takes linear time, which a shortest edit script doesn't.
    """
    before, after = (text.splitlines()[:_MOST_LINES] for text in (old, new))
    counts, has = Counter(before), Counter(after)
    removed, added = _take_first_lines(before, counts - has), _take_first_lines(after, has - counts)
    return FileChange(path, action, tuple(removed), tuple(added))


def _take_first_lines(lines: Iterable[str], counts: Counter[str]) -> Iterator[str]:
    """Yield the first lines of those that are counted, and count down."""
    for line in lines:
        if counts[line] > 0:
            counts[line] -= 1
            yield line


def change_from_lines(path: str, lines: Sequence[str], action: Action = "update") -> FileChange:
    """Return the change that the lines of a diff say: `-` removed, `+` added, blank kept."""
    old, new = ("\n".join(line[1:] for line in lines if line.startswith(sign)) for sign in "-+")
    return compare_texts(path, old, new, action)


def is_patch(text: str) -> bool:
    """Tell whether a text has a patch in the form of `apply_patch`."""
    return _BEGIN in text


def changes_from_patch(text: str) -> Iterator[FileChange]:
    """Yield the changes of a patch in the form of `apply_patch`."""
    body = text[text.find(_BEGIN) :].partition("\n*** End Patch")[0]
    parts = _FILE.split(body)
    for action, path, changed in zip(parts[1::3], parts[2::3], parts[3::3], strict=True):
        lines = changed.splitlines()[1:_MOST_LINES]
        moved = [line.removeprefix(_MOVED).strip() for line in lines if line.startswith(_MOVED)]
        how = cast("Action", "move" if moved else action.lower())
        yield replace(change_from_lines(path.strip(), lines, how), moved_to="".join(moved[-1:]))


def merge_changes(path: str, changes: Sequence[FileChange]) -> FileChange:
    """Return several changes of one file as one; what was added and removed again is in none."""
    if len(changes) == 1:
        return replace(changes[0], path=path)
    first, last = changes[0], changes[-1]
    removed = "\n".join(line for change in changes for line in change.removed)
    added = "\n".join(line for change in changes for line in change.added)
    moved = next((change.moved_to for change in reversed(changes) if change.moved_to), "")
    action: Action = "add" if first.action == "add" else last.action
    if last.action == "delete" or moved:
        action = "delete" if last.action == "delete" else "move"
    return replace(compare_texts(path, removed, added, action), moved_to=moved)


def _remarks(change: FileChange) -> Iterator[str]:
    """Yield what new comments in code say: they tell why."""
    text = ""
    for line in [*change.added[:400], ""]:
        if match := compile_rule("remark").match(line):
            text = f"{text} {match[1].strip()}".strip()
            continue
        if len(text.split()) >= _LEAST_REMARK:
            yield text
        text = ""


def list_in_words(defined_names: Sequence[DefinedName], most: int = _MOST_NAMES) -> str:
    """Return names as a list of words: `a(), b() and 2 more`; a kind is said once in a row."""
    entries, last = list[str](), ""
    for name in defined_names[:most]:
        text = name.shown
        if name.kind == last == "class":
            text = name.name
        entries.append(text)
        last = name.kind
    if len(defined_names) > most:
        return f"{', '.join(entries)} and {len(defined_names) - most} more"
    return " and ".join(filter(None, (", ".join(entries[:-1]), entries[-1]))) if entries else ""


_WINDOWS = re.compile(r"[A-Za-z]:[\\/]|\\\\")


class Paths:
    """Names files by their paths below a project, or below the work tree an event is in."""

    def __init__(self, root: Path | None) -> None:
        self._roots = _forms(root) if root else ()

    def shown(self, path: str, cwd: str) -> str:
        """Return a path below the project; any other one is absolute, in the home folder with `~`.

        A relative path is below the event's folder.
        """
        if _relative(path) and not cwd:
            return normpath(_slashes(path))
        whole = normpath(f"{_slashes(cwd)}/{_slashes(path)}" if _relative(path) else _slashes(path))
        home = os.path.expanduser("~").rstrip("/")  # noqa: PTH111 - pathlib fails without a home
        if whole.startswith("~/"):
            whole = home + whole[1:]
        for root in (*self._roots, *_work_tree(_slashes(cwd))):
            if whole == root or whole.startswith(f"{root}/"):
                return whole[len(root) + 1 :] or "."
        if home and whole.startswith(f"{home}/"):
            return "~" + whole[len(home) :]
        return whole

    def short(self, text: str) -> str:
        """Return a text in which paths of the project begin below it."""
        for root in self._roots:
            if root and root in text:
                text = text.replace(f"{root}/", "")
        return text

    def outside(self, text: str) -> bool:
        """Tell whether a shown path is none of the project."""
        return text.startswith(("/", "~/", "../")) or bool(_WINDOWS.match(text))


def _relative(path: str) -> bool:
    return not path.startswith(("/", "~/")) and not _WINDOWS.match(path)


def _slashes(path: str) -> str:
    return path.replace("\\", "/") if _WINDOWS.match(path) or "/" not in path else path


def _forms(root: Path) -> tuple[str, ...]:
    prefix = str(root).replace("\\", "/").rstrip("/")
    real = os.path.realpath(root).replace("\\", "/").rstrip("/")
    return tuple(dict.fromkeys((prefix, real)))


@lru_cache(256)
def _work_tree(cwd: str) -> tuple[str, ...]:
    """Return the work tree around a folder, as far as it still exists."""
    if not cwd.startswith("/"):
        return (cwd.rstrip("/"),) if _WINDOWS.match(cwd) else ()
    folder = Path(cwd)
    for parent in (folder, *folder.parents):
        if (parent / ".git").exists():
            return (str(parent).rstrip("/"),)
    return ()
