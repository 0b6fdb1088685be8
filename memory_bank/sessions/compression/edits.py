"""What changed in a file, told in words: names added, text replaced, a rename, a new layout."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Literal, NamedTuple

from memory_bank.sessions.compression.changes import Action, FileChange, between
from memory_bank.sessions.compression.definitions import FileKind, Name, kind_of, names

Sort = Literal["new", "gone", "moved", "renamed", "layout", "comments", "names", "lines", "unknown"]
_WORDS = re.compile(r"[A-Za-z_$][\w$]*|\d+|\s+|.", re.DOTALL)
_WORD = re.compile(r"[A-Za-z_$][\w$-]*")
_COMMENT = re.compile(
    r"\s*(?:#(?!!|\[|include|define|if|endif)|//|/\*|\*(?:\s|/|$)|--\s|<!--|\"\"\"|''')"
)
_IMPORT = re.compile(
    r"\s*(?:import\b|from\s+\S+\s+import\b|use\s+[\w:]+|require\b|#include\b|using\s+\w|(?:const|let|var) .{1,80}= require\()"
)
_TRIFLE = re.compile(
    r"[\s{}()\[\];,:]*$|\s*(?:else|end|pass|return|break|continue|then|fi|done|do|try)\b:?;?\s*$"
)
_MOST_NAMES, _MOST_PAIRS, _SHORT, _MOST_WORDS = 4, 3, 60, 4000


class Change(NamedTuple):
    """A change of a file in words."""

    path: str
    kind: FileKind
    sort: Sort
    title: str
    """What was done, as an order: `Add retry()`; without the path, but for a new or removed file."""
    facts: tuple[str, ...]
    """What was done, as statements: `adds retry()`."""
    added: tuple[Name, ...] = ()
    removed: tuple[Name, ...] = ()
    renamed: tuple[str, str] = ("", "")


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


def described(change: FileChange) -> Change:
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
        return Change(path, kind, "gone", f"Remove {path}{told}", gone, (), removed)
    if change.action == "move" and change.moved_to:
        more = _lines(change, kind, added, removed, new).facts if change.added else ()
        facts = (f"moves {path} to {change.moved_to}", *more)
        title = f"Move {path} to {change.moved_to}"
        return Change(change.moved_to, kind, "moved", title, facts, added, removed)
    return _update(change, kind, added, removed, new)


def _update(
    change: FileChange,
    kind: FileKind,
    added: tuple[Name, ...],
    removed: tuple[Name, ...],
    new: tuple[Name, ...],
) -> Change:
    """Describe a change of a file that stays."""
    path = change.path
    if not change.added and not change.removed:
        return Change(path, kind, "unknown", "", ())
    pair = renamed(change.removed, change.added)
    if pair:
        told = f"{pair[0]} to {pair[1]}"
        title, facts = f"Rename {told}", (f"renames {told}",)
        return Change(path, kind, "renamed", title, facts, added, removed, pair)
    if _bare(change.removed) == _bare(change.added):
        return Change(path, kind, "layout", "Change only the layout", ("changes only the layout",))
    return _lines(change, kind, added, removed, new)


def _new_file(change: FileChange, kind: FileKind, added: tuple[Name, ...]) -> Change:
    path = change.path
    if added:
        told, facts = f" with {listed(added)}", (f"new file with {listed(added, 8)}",)
    else:
        line = _telling(change.added)
        told = f": {_quoted(line)}" if line else ", an empty file"
        facts = (
            f"new file of {len(change.added)} lines" + (f", first {_quoted(line)}" if line else ""),
        )
    return Change(path, kind, "new", f"Create {path}{told}", facts, added)


def _lines(
    change: FileChange,
    kind: FileKind,
    added: tuple[Name, ...],
    removed: tuple[Name, ...],
    new: tuple[Name, ...],
) -> Change:
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
    extra = [line for line in change.added if not _TRIFLE.match(line)]
    if not added and not pairs and extra:
        facts.append(f"adds {_quoted(_telling(extra))}{within}")
    if not removed and not pairs and not extra and change.removed:
        facts.append(f"removes {_quoted(_telling(change.removed))}{within}")
    title = _title(kind, added, removed, same, facts, within)
    sort: Sort = "names" if added or removed else "lines"
    if all(
        _COMMENT.match(line) or _TRIFLE.match(line) for line in (*change.added, *change.removed)
    ):
        sort = "comments" if kind in ("code", "test") else sort
    return Change(change.path, kind, sort, title, tuple(facts), added, removed)


def _title(
    kind: FileKind,
    added: tuple[Name, ...],
    removed: tuple[Name, ...],
    same: list[Name],
    facts: list[str],
    within: str,
) -> str:
    if added and removed:
        if len(added) == len(removed) == 1:
            return f"Replace {removed[0].shown} by {added[0].shown}"
        return f"Add {listed(added, 2)}, remove {listed(removed, 2)}"
    if added or removed:
        return f"{'Add' if added else 'Remove'} {listed(added or removed)}"
    told = next((fact for fact in facts if fact.startswith(("replaces", "adds", "removes"))), "")
    if told:
        verb, _, rest = told.removesuffix(within).partition(" ")
        verb = verb.removesuffix("s")
        if within:  # first, so that it stays when the title is cut
            return f"In {within.removeprefix(' in ')}, {verb} {rest}"
        return f"{verb.capitalize()} {rest}"
    return (
        f"Change {listed(same)}"
        if same
        else ("Change the text" if kind == "docs" else "Change lines")
    )


def _pairs(change: FileChange) -> Iterable[tuple[str, str]]:
    """Yield the lines that were replaced by others, if as many stand on both sides, or few."""
    removed = [line for line in change.removed if not _TRIFLE.match(line)]
    added = [line for line in change.added if not _TRIFLE.match(line)]
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


def only_imports(change: FileChange) -> bool:
    """Tell whether only imports changed."""
    lines = [line for line in (*change.added, *change.removed) if not _TRIFLE.match(line)]
    return bool(lines) and all(_IMPORT.match(line) for line in lines)


def _telling(lines: Sequence[str]) -> str:
    """Return the line that says most: the first that is no import, comment or bracket."""
    looked = [line for line in islice(lines, 400) if not _TRIFLE.match(line)]
    for line in looked:
        if not _IMPORT.match(line) and not _COMMENT.match(line):
            return line.strip()
    return looked[0].strip() if looked else ""


def _quoted(text: str) -> str:
    line = " ".join(text[:400].split())
    return f"“{line if len(line) <= _SHORT else line[: _SHORT - 1].rstrip() + '…'}”"


def listed(found: Sequence[Name], most: int = _MOST_NAMES) -> str:
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


def _unique(found: Iterable[Name]) -> tuple[Name, ...]:
    return tuple(Counter(islice(found, 500)))
