"""Changes of files as edits, patches and diffs describe them, told in words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice, takewhile
from typing import Literal, cast

from memory_bank.sessions.compression.definitions import DefinedName, FileKind, kind_of, names, rule

Action = Literal["add", "update", "delete", "move"]

Sort = Literal[
    "new", "gone", "moved", "renamed", "layout", "comments", "debug", "names", "lines", "unknown"
]

_MOST_LINES = 20_000

_BEGIN, _MOVED = "*** Begin Patch", "*** Move to: "

_FILE = re.compile(r"^\*\*\* (Add|Update|Delete) File: (.*)$", re.MULTILINE)

_WORDS = re.compile(r"[A-Za-z_$][\w$]*|\d+|\s+|.", re.DOTALL)

_WORD = re.compile(r"[A-Za-z_$][\w$-]*")

_SOME = re.compile(r"\w.*[^\w\s].*\w|\w+\s+\w+")
"""More than one word: a line with less tells nothing."""

_LEAST_REMARK = 5
"""Fewest words of a comment that is told."""

_MOST_NAMES, _MOST_PAIRS, _SHORT, _MOST_WORDS = 4, 3, 60, 4000


@dataclass(frozen=True)
class FileChange:
    """What was done to one file, by one call of a tool or by several, and its words."""

    path: str
    """As the tool was given it."""
    action: Action
    removed: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    """Lines of the text around that stayed."""
    moved_to: str = ""

    @property
    def place(self) -> str:
        """Where the file is now."""
        return self.moved_to or self.path

    @cached_property
    def kind(self) -> FileKind:
        """What the file is for."""
        return kind_of(self.path)

    @cached_property
    def _names(self) -> tuple[tuple[DefinedName, ...], tuple[DefinedName, ...]]:
        """The names that added lines and removed lines define, each once."""
        new, old = (
            tuple(dict.fromkeys(islice(names(self.path, lines), 500)))
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

    @cached_property
    def within(self) -> str:
        """The function or class, or the section, in which lines changed."""
        return self._around or listed([one for one in self._names[0] if one not in self.gains], 2)

    @cached_property
    def _around(self) -> str:
        found = None
        if self.kind != "config":
            found = next(iter(names(self.path, reversed(self.kept[:400]))), None)
        return found.shown if found else ""

    @cached_property
    def renamed(self) -> tuple[str, str] | None:
        """The word and its new form, if lines differ in that word only."""
        old, new = "\n".join(self.removed), "\n".join(self.added)
        before, after = (_WORDS.findall(text[: 50 * _MOST_WORDS]) for text in (old, new))
        if not old or len(self.removed) != len(self.added) or len(before) != len(after):
            return None
        pairs = [(one, now) for one, now in zip(before, after, strict=True) if one != now]
        if len(set(pairs)) != 1 or len(old) > 50 * _MOST_WORDS:
            return None
        words = all(_WORD.fullmatch(word) and len(word) > 1 for word in pairs[0])
        defines = any(name.name == pairs[0][0] for name in names("x.py", self.removed))
        return pairs[0] if words and (len(pairs) > 1 or defines) else None

    @cached_property
    def sort(self) -> Sort:
        """What sort of change it is."""
        lines, code = (*self.added, *self.removed), self.kind in ("code", "test")
        found: tuple[tuple[Sort, object], ...] = (
            ("new", self.action == "add"),
            ("gone", self.action == "delete"),
            ("moved", self.action == "move" and self.moved_to),
            ("unknown", not lines),
            ("renamed", self.renamed),
            ("layout", _bare(self.removed) == _bare(self.added)),
            ("comments", code and all(_is("comment", line) for line in lines)),
            ("debug", self.added and all(_is("debug", line) for line in lines)),
            ("names", self.gains or self.loses),
        )
        return next((sort for sort, holds in found if holds), "lines")

    @property
    def title(self) -> str:
        """What was done, as an order: `Add retry()`; empty where only lines changed.

        It is without the path, but for a new or removed file.
        """
        return self._told[0]

    @property
    def facts(self) -> tuple[str, ...]:
        """What was done, as statements: `adds retry()`."""
        return self._told[1]

    @cached_property
    def _told(self) -> tuple[str, tuple[str, ...]]:
        path, gains, loses = self.path, self.gains, self.loses
        title, facts = "", tuple[str, ...]()
        match self.sort:
            case "new":
                line = _telling(self.added)
                title = f"Create {path}" + ("" if line or gains else ", an empty file")
                plain = f"new file of {len(self.added)} lines"
                facts = (f"{plain}, first {_quoted(line)}" if line else plain,)
                if gains:
                    title += f" with {listed(gains)}"
                    facts = (f"new file with {listed(gains, 8)}",)
            case "gone":
                title = f"Remove {path}" + (f", which defined {listed(loses)}" if loses else "")
                facts = (f"removes {path}",)
            case "moved":
                where = f"{path} to {self.moved_to}"
                title = f"Move {where}"
                facts = (f"moves {where}", *(self._lines() if self.added else ()))
            case "renamed" if self.renamed:
                told = " to ".join(self.renamed)
                title, facts = f"Rename {told}", (f"renames {told}",)
            case "layout":
                title, facts = "Change only the layout", ("changes only the layout",)
            case "names" | "comments" | "debug" | "lines":
                title, facts = _title(gains, loses), tuple(self._lines())
        return title, facts

    def _lines(self) -> Iterator[str]:
        """Yield what changed lines do: by names they define, else by their text."""
        within = f" in {self._around}" if self._around else ""
        same = [name for name in self._names[0] if name not in self.gains]
        if self.gains:
            yield f"adds {listed(self.gains, 8)}"
        if self.loses:
            yield f"removes {listed(self.loses, 8)}"
        if same and self.kind not in ("docs", "config"):
            yield f"changes the definition of {listed(same)}"
        pairs = list(_pairs(self))
        yield from (f"replaces {old} by {now}{within}" for old, now in pairs)
        extra = [line for line in self.added if not rule("trifle").match(line)]
        if not self.gains and not pairs and extra:
            yield f"adds {_quoted(_telling(extra))}{within}"
        if not self.loses and not pairs and not extra and self.removed:
            yield f"removes {_quoted(_telling(self.removed))}{within}"
        yield from (f"says: {said}" for said in _remarks(self))


def _title(gains: Sequence[DefinedName], loses: Sequence[DefinedName]) -> str:
    if not (gains and loses):
        return f"{'Add' if gains else 'Remove'} {listed(gains or loses)}" if gains or loses else ""
    if len(gains) == len(loses) == 1:
        return f"Replace {loses[0].shown} by {gains[0].shown}"
    return f"Add {listed(gains, 2)}, remove {listed(loses, 2)}"


def between(path: str, old: str, new: str, action: Action = "update") -> FileChange:
    """Return the change from one text to another: lines by their number of occurrences.

    It takes linear time, which a shortest edit script doesn't.
    """
    before, after = (text.splitlines()[:_MOST_LINES] for text in (old, new))
    had, has = Counter(before), Counter(after)
    removed, added = _taken(before, had - has), _taken(after, has - had)
    kept = filter(str.strip, _taken(before, had & has))
    return FileChange(path, action, tuple(removed), tuple(added), tuple(kept))


def _taken(lines: Iterable[str], counts: Counter[str]) -> Iterator[str]:
    """Yield the first lines of those that are counted, and count down."""
    for line in lines:
        if counts[line] > 0:
            counts[line] -= 1
            yield line


def of_lines(path: str, lines: Sequence[str], action: Action = "update") -> FileChange:
    """Return the change that the lines of a diff say: `-` removed, `+` added, blank kept."""
    old, new = ("\n".join(line[1:] for line in lines if line.startswith(sign)) for sign in "-+")
    last = max((at for at, line in enumerate(lines) if line.startswith(("-", "+"))), default=-1)
    kept = [line[1:] for line in lines[: last + 1] if line.startswith(" ") and line.strip()]
    kept += [line[2:].strip() for line in lines if line.startswith("@@") and line[2:].strip(" @")]
    change = between(path, old, new, action)
    return replace(change, kept=tuple(kept) + change.kept)


def is_patch(text: str) -> bool:
    """Tell whether a text has a patch in the form of `apply_patch`."""
    return _BEGIN in text


def of_patch(text: str) -> Iterator[FileChange]:
    """Yield the changes of a patch in the form of `apply_patch`."""
    body = text[text.find(_BEGIN) :].partition("\n*** End Patch")[0]
    found = _FILE.split(body)
    for action, path, changed in zip(found[1::3], found[2::3], found[3::3], strict=True):
        lines = changed.splitlines()[1:_MOST_LINES]
        moved = [line.removeprefix(_MOVED).strip() for line in lines if line.startswith(_MOVED)]
        how = cast("Action", "move" if moved else action.lower())
        yield replace(of_lines(path.strip(), lines, how), moved_to="".join(moved[-1:]))


def merged(path: str, changes: Sequence[FileChange]) -> FileChange:
    """Return several changes of one file as one; what was added and removed again is in none."""
    if len(changes) == 1:
        return replace(changes[0], path=path)
    first, last = changes[0], changes[-1]
    removed = "\n".join(line for change in changes for line in change.removed)
    added = "\n".join(line for change in changes for line in change.added)
    kept = tuple(islice((line for change in changes for line in change.kept), 2000))
    moved = next((change.moved_to for change in reversed(changes) if change.moved_to), "")
    action: Action = "add" if first.action == "add" else last.action
    if last.action == "delete" or moved:
        action = "delete" if last.action == "delete" else "move"
    return replace(between(path, removed, added, action), kept=kept, moved_to=moved)


def _is(kind: str, line: str) -> bool:
    return bool(rule(kind).match(line) or rule("trifle").match(line))


def _remarks(change: FileChange) -> Iterator[str]:
    """Yield what new comments in code say: they tell why."""
    kept = ""
    for line in [*change.added[:400], ""]:
        if found := rule("remark").match(line):
            kept = f"{kept} {found[1].strip()}".strip()
            continue
        if len(kept.split()) >= _LEAST_REMARK:
            yield kept
        kept = ""


def _pairs(change: FileChange) -> Iterator[tuple[str, str]]:
    """Yield the lines that were replaced by others, if as many stand on both sides, or few."""
    removed, added = (
        [line for line in lines if not rule("trifle").match(line)]
        for lines in (change.removed, change.added)
    )
    if len(removed) == len(added) <= _MOST_PAIRS:
        for old, now in zip(removed, added, strict=True):
            whole = len(old.strip()) + len(now.strip()) <= _SHORT
            both = (old, now) if whole else (_middle(old, now), _middle(now, old))
            yield _quoted(both[0]), _quoted(both[1])


def _middle(line: str, other: str) -> str:
    """Return the part of a line in which it differs from another, whole words."""
    line = line.strip()
    words, others = (_WORDS.findall(one.strip()[:600]) for one in (line, other))
    start = _alike(words, others)
    most = min(len(words), len(others)) - start
    end = len(words) - min(most, _alike(words[::-1], others[::-1]))
    found = "".join(words[start:end]).strip()
    if len(found) < len(line) / 4 and len(line) <= 2 * _SHORT:  # with some words around it
        found = "".join(words[max(0, start - 6) : max(end + 4, 0)]).strip()
    return found or line


def _alike(words: Sequence[str], others: Sequence[str]) -> int:
    """Return how many words are the same at the start."""
    pairs = zip(words, others, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _bare(lines: Sequence[str]) -> str:
    """Return lines without what a formatter changes: blanks, quotes' form, commas at the end."""
    text = "".join("".join(lines).split()).replace("'", '"')
    return re.sub(r",(?=[)\]}])", "", text)


def _telling(lines: Sequence[str]) -> str:
    """Return the line that says most: the first that is no import, comment or bracket."""
    looked = [line for line in islice(lines, 400) if not rule("trifle").match(line)]
    plain = (line for line in looked if not rule("import").match(line))
    telling = (line for line in plain if not rule("comment").match(line) and _SOME.search(line))
    return next(telling, looked[0] if looked else "").strip()


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


def moved(changes: Sequence[FileChange]) -> str:
    """Say which names one of some changes removes and another adds; empty if none."""
    for one in changes:
        lost = set(one.loses)
        for other in changes:
            if lost and other is not one and lost <= set(other.gains):
                shown = " and ".join(sorted(name.shown for name in lost)[:3])
                return f"Move {shown} from {one.place} to {other.place}"
    return ""
