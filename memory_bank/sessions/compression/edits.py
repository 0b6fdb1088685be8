"""Changes of files as edits, patches and diffs describe them, told in words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal, NamedTuple

from memory_bank.sessions.compression.definitions import DefinedName, FileKind, kind_of, names
from memory_bank.sessions.compression.rules import rule

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


Sort = Literal[
    "new", "gone", "moved", "renamed", "layout", "comments", "debug", "names", "lines", "unknown"
]

_WORDS = re.compile(r"[A-Za-z_$][\w$]*|\d+|\s+|.", re.DOTALL)

_WORD = re.compile(r"[A-Za-z_$][\w$-]*")

_SOME = re.compile(r"\w.*[^\w\s].*\w|\w+\s+\w+")
"""More than one word: a line with less tells nothing."""

_LEAST_REMARK = 5
"""Fewest words of a comment that is told."""

_MOST_NAMES, _MOST_PAIRS, _SHORT, _MOST_WORDS = 4, 3, 60, 4000


class WordedChange(NamedTuple):
    """A change of a file in words."""

    path: str
    kind: FileKind
    sort: Sort
    title: str
    """What was done, as an order: `Add retry()`; empty where only lines changed, for these are no
    title. Without the path, but for a new or removed file."""
    facts: tuple[str, ...]
    """What was done, as statements: `adds retry()`."""
    added: tuple[DefinedName, ...] = ()
    removed: tuple[DefinedName, ...] = ()
    renamed: tuple[str, str] = ("", "")
    within: str = ""
    """The function or class, or the section, in which lines changed."""


def merged(path: str, changes: Sequence[FileChange]) -> FileChange:
    """Return several changes of one file as one; what was added and removed again is in none."""
    if len(changes) == 1:
        found = changes[0]
        return FileChange(
            path, found.action, found.removed, found.added, found.kept, found.moved_to
        )
    removed = "\n".join(line for change in changes for line in change.removed)
    added = "\n".join(line for change in changes for line in change.added)
    net = between(path, removed, added)
    kept = tuple(islice((line for change in changes for line in change.kept), 2000))
    moved = next((change.moved_to for change in reversed(changes) if change.moved_to), "")
    action: Action = changes[0].action if changes[0].action == "add" else changes[-1].action
    if changes[-1].action == "delete":
        action = "delete"
    elif moved:
        action = "move"
    return FileChange(path, action, net.removed, net.added, kept, moved)


def described(change: FileChange) -> WordedChange:
    """Tell a change of a file in words."""
    path, kind = change.path, kind_of(change.path)
    new = _unique(names(path, change.added))
    old = _unique(names(path, change.removed))
    added = tuple(name for name in new if name not in old)
    removed = tuple(name for name in old if name not in new)
    if change.action == "add":
        return _new_file(change, kind, added)
    if change.action == "delete":
        told = f", which defined {listed(removed)}" if removed else ""
        gone = (f"removes {path}",)
        return WordedChange(path, kind, "gone", f"Remove {path}{told}", gone, (), removed)
    if change.action == "move" and change.moved_to:
        more = _lines(change, kind, added, removed, new).facts if change.added else ()
        facts = (f"moves {path} to {change.moved_to}", *more)
        title = f"Move {path} to {change.moved_to}"
        return WordedChange(change.moved_to, kind, "moved", title, facts, added, removed)
    return _update(change, kind, added, removed, new)


def _update(
    change: FileChange,
    kind: FileKind,
    added: tuple[DefinedName, ...],
    removed: tuple[DefinedName, ...],
    new: tuple[DefinedName, ...],
) -> WordedChange:
    """Describe a change of a file that stays."""
    path = change.path
    if not change.added and not change.removed:
        return WordedChange(path, kind, "unknown", "", ())
    pair = renamed(change.removed, change.added)
    if pair:
        told = f"{pair[0]} to {pair[1]}"
        title, facts = f"Rename {told}", (f"renames {told}",)
        return WordedChange(path, kind, "renamed", title, facts, added, removed, pair)
    if _bare(change.removed) == _bare(change.added):
        facts = ("changes only the layout",)
        return WordedChange(path, kind, "layout", "Change only the layout", facts)
    return _lines(change, kind, added, removed, new)


def _new_file(change: FileChange, kind: FileKind, added: tuple[DefinedName, ...]) -> WordedChange:
    path = change.path
    if added:
        told, facts = f" with {listed(added)}", (f"new file with {listed(added, 8)}",)
    else:
        line = _telling(change.added)
        told = "" if line else ", an empty file"
        facts = (
            f"new file of {len(change.added)} lines" + (f", first {_quoted(line)}" if line else ""),
        )
    return WordedChange(path, kind, "new", f"Create {path}{told}", facts, added)


def _lines(
    change: FileChange,
    kind: FileKind,
    added: tuple[DefinedName, ...],
    removed: tuple[DefinedName, ...],
    new: tuple[DefinedName, ...],
) -> WordedChange:
    """Describe changed lines: by names they define, else by their text."""
    facts, within = list[str](), _within(change)
    same = [name for name in new if name not in added]
    if added:
        facts.append(f"adds {listed(added, 8)}")
    if removed:
        facts.append(f"removes {listed(removed, 8)}")
    if same and kind not in ("docs", "config"):
        facts.append(f"changes the definition of {listed(same)}")
    pairs = list(_pairs(change))
    facts += [f"replaces {old} by {now}{within}" for old, now in pairs]
    extra = [line for line in change.added if not rule("trifle").match(line)]
    if not added and not pairs and extra:
        facts.append(f"adds {_quoted(_telling(extra))}{within}")
    if not removed and not pairs and not extra and change.removed:
        facts.append(f"removes {_quoted(_telling(change.removed))}{within}")
    changed = (*change.added, *change.removed)
    sort: Sort = "names" if added or removed else "lines"
    if kind in ("code", "test") and all(map(_is_comment, changed)):
        sort = "comments"
    elif change.added and all(map(_is_debug, changed)):
        sort = "debug"
    facts += [f"says: {said}" for said in _remarks(change)]
    inside = within.removeprefix(" in ") or listed(same, 2)
    title = _title(added, removed)
    return WordedChange(change.path, kind, sort, title, tuple(facts), added, removed, within=inside)


def _title(added: tuple[DefinedName, ...], removed: tuple[DefinedName, ...]) -> str:
    if added and removed:
        if len(added) == len(removed) == 1:
            return f"Replace {removed[0].shown} by {added[0].shown}"
        return f"Add {listed(added, 2)}, remove {listed(removed, 2)}"
    if added or removed:
        return f"{'Add' if added else 'Remove'} {listed(added or removed)}"
    return ""


def _is_comment(line: str) -> bool:
    return bool(rule("comment").match(line) or rule("trifle").match(line))


def _is_debug(line: str) -> bool:
    return bool(rule("debug").match(line) or rule("trifle").match(line))


def _remarks(change: FileChange) -> Iterator[str]:
    """Yield what new comments in code say: they tell why."""
    kept = ""
    for line in [*change.added[:400], ""]:
        found = rule("remark").match(line)
        if found:
            kept = f"{kept} {found[1].strip()}".strip()
        elif kept:
            if len(kept.split()) >= _LEAST_REMARK:
                yield kept
            kept = ""


def _pairs(change: FileChange) -> Iterable[tuple[str, str]]:
    """Yield the lines that were replaced by others, if as many stand on both sides, or few."""
    removed = [line for line in change.removed if not rule("trifle").match(line)]
    added = [line for line in change.added if not rule("trifle").match(line)]
    if not removed or len(removed) != len(added) or len(removed) > _MOST_PAIRS:
        return
    for old, now in zip(removed, added, strict=True):
        if len(old.strip()) + len(now.strip()) <= _SHORT:
            yield _quoted(old), _quoted(now)
        else:
            yield _quoted(_middle(old, now)), _quoted(_middle(now, old))


def _middle(line: str, other: str) -> str:
    """Return the part of a line in which it differs from another, whole words."""
    line, other = line.strip(), other.strip()
    words, others = _WORDS.findall(line[:600]), _WORDS.findall(other[:600])
    start = 0
    while start < min(len(words), len(others)) and words[start] == others[start]:
        start += 1
    end = 0
    most = min(len(words), len(others)) - start
    while end < most and words[-1 - end] == others[-1 - end]:
        end += 1
    found = "".join(words[start : len(words) - end]).strip()
    if len(found) < len(line) / 4 and len(line) <= 2 * _SHORT:  # with some words around it
        found = "".join(words[max(0, start - 6) : len(words) - max(0, end - 4)]).strip()
    return found or line


def _within(change: FileChange) -> str:
    """Say in which function or class lines stand, if the text around tells it."""
    found = next(iter(names(change.path, reversed(change.kept[:400]))), None)
    if found is None or kind_of(change.path) == "config":
        return ""
    return f" in {found.shown}"


def renamed(removed: Sequence[str], added: Sequence[str]) -> tuple[str, str] | None:
    """Return the word and its new form, if lines differ in that word only."""
    old, new = "\n".join(removed), "\n".join(added)
    if not removed or len(removed) != len(added) or len(old) > 50 * _MOST_WORDS:
        return None
    before, after = _WORDS.findall(old), _WORDS.findall(new)
    if len(before) != len(after):
        return None
    found = {(one, other) for one, other in zip(before, after, strict=True) if one != other}
    if len(found) != 1:
        return None
    pair = found.pop()
    names_both = all(_WORD.fullmatch(word) and len(word) > 1 for word in pair)
    times = sum(one != other for one, other in zip(before, after, strict=True))
    defines = any(name.name == pair[0] for name in names("x.py", removed))
    return pair if names_both and (times > 1 or defines) else None


def _bare(lines: Sequence[str]) -> str:
    """Return lines without what a formatter changes: blanks, quotes' form, commas at the end."""
    text = "".join("".join(lines).split()).replace("'", '"')
    return re.sub(r",(?=[)\]}])", "", text)


def _telling(lines: Sequence[str]) -> str:
    """Return the line that says most: the first that is no import, comment or bracket."""
    looked = [line for line in islice(lines, 400) if not rule("trifle").match(line)]
    for line in looked:
        if (
            not rule("import").match(line)
            and not rule("comment").match(line)
            and _SOME.search(line)
        ):
            return line.strip()
    return looked[0].strip() if looked else ""


def _quoted(text: str) -> str:
    line = " ".join(text[:400].split())
    return f"“{line if len(line) <= _SHORT else line[: _SHORT - 1].rstrip() + '…'}”"


def listed(found: Sequence[DefinedName], most: int = _MOST_NAMES) -> str:
    """Return names as a list of words: `a(), b() and 2 more`; a kind is said once in a row."""
    shown, last = list[str](), ""
    for name in found[:most]:
        text = name.shown
        if name.kind == last and name.kind not in ("function", "constant", "test", "instruction"):
            text = name.name
        shown.append(text)
        last = name.kind
    if len(found) > most:
        return f"{', '.join(shown)} and {len(found) - most} more"
    return " and ".join(filter(None, (", ".join(shown[:-1]), shown[-1]))) if shown else ""


def _unique(found: Iterable[DefinedName]) -> tuple[DefinedName, ...]:
    return tuple(Counter(islice(found, 500)))


def moved(words: Sequence[WordedChange]) -> str:
    """Say which names one of some changes removes and another adds; empty if none."""
    for word in words:
        lost = set(word.removed)
        for other in words:
            if lost and other is not word and lost <= set(other.added):
                shown = " and ".join(sorted(name.shown for name in lost)[:3])
                return f"Move {shown} from {word.path} to {other.path}"
    return ""
