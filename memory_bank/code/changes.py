"""Tell whether a file or symbol differs between two states of the code, and where it went.

A symbol is compared by its fingerprint, so that its layout, its comments and its place don't count;
a file of code by the fingerprint of all of it, another file by its lines.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate
from textwrap import dedent
from typing import Literal

from memory_bank.base import NamedTuple
from memory_bank.base.errors import count_same
from memory_bank.base.filenames import is_utf8
from memory_bank.code.code_at import FOLDER, CodeAt, CodePlace
from memory_bank.code.code_words import CodeWords
from memory_bank.code.languages.base import detect_language
from memory_bank.code.parse import parsing
from memory_bank.code.parse.parsed_file import Symbol
from memory_bank.git import objects
from memory_bank.git.commits import Change, Commit, CommitsAt
from memory_bank.git.history import merge_changes

State = Literal["fresh", "touched", "changed", "moved", "renamed", "gone", "unknown"]

_MOST_SEARCHED = 200
"""Maximum number of changed files in which a symbol that is gone is looked for."""

_MOST_RENAMED = 50
"""Maximum number of symbols whose code is compared without their names."""

_MASK = "renamed_symbol"
"""Name in place of that of a symbol, while code is compared without it."""


class Comparison(NamedTuple):
    """The result of a comparison."""

    state: State
    place: CodePlace | None = None
    """Where it is now; None if it is gone or was never there."""
    before: CodePlace | None = None
    """Where it was."""
    is_rewritten: bool = False
    """Whether moved code is another, too."""


class SymbolChanges:
    """Compares files and symbols of an older commit with those of `end`, or of now."""

    def __init__(self, code: CodeAt, at: CommitsAt, *, end: str) -> None:
        """Compare with the last of some commits; `end` is it, or NOW or STAGED on top of it."""
        self.code = code
        self.head = at.head
        self.end = end
        self._commits = at
        self._renames: dict[str, str] = {}
        self._changed: dict[str, dict[str, str]] = {}
        self._steps: dict[tuple[str, tuple[str, ...]], list[Change]] = {}
        self._new: dict[tuple[str, tuple[str, ...]], list[tuple[CodePlace, Symbol]]] = {}
        self._nameless: dict[tuple[CodePlace, str, bool], str] = {}

    def compare(self, base: str, written: CodePlace, *, by_name: bool = False) -> Comparison:
        """Compare a file or symbol at a commit with the same at the end.

        `by_name` is for a symbol that was cited without its file: it may be in any.
        """
        if by_name:
            return self._compare_by_name(base, written.name)
        path = self.code.find_file(base, written.path)
        place = written._replace(path=path or written.path)
        if not place.name:
            return self._compare_file(base, place)
        old = self.code.symbols(base, place)
        if not old and self._mentions(base, place):  # a field, or a `var` of Go
            return self._compare_file(base, place._replace(name=""))
        if not old:
            # the file may have had another name before it was cited by this one
            now = self.code.find_file(self.end, written.path)
            symbols = bool(now) and bool(self.code.symbols(self.end, written._replace(path=now)))
            return Comparison("fresh" if symbols else "unknown", written if symbols else None)
        place = place._replace(name=old[0].qualified)
        new = self.code.symbols(self.end, place)
        if new:
            return Comparison("fresh" if is_same_code(old, new) else "changed", place, place)
        return self._compare_substitute(place) or self._find_elsewhere(base, place, old)

    def list_commits(
        self,
        base: str,
        before: CodePlace,
        after: CodePlace | None = None,
        *,
        loses: Callable[[str, str, str], bool] | None = None,
    ) -> list[Commit]:
        """Return the commits that changed or removed a file or symbol, the newest first.

        None of them is a merge, unless only a merge explains the difference. `loses` tells of a
        path and two blobs whether the second lacks something that the first has: if any commit did
        that, only such ones are returned.
        """
        paths = tuple(dict.fromkeys([before.path, *([after.path] if after else [])]))
        if (base, paths) not in self._steps:
            self._steps[base, paths] = [
                change
                for change in self._commits.changes_below(*paths, merges=False, renames=False)
                if self._commits.is_after(change.commit.id, base)
            ]
        changes = self._steps[base, paths]
        if loses is not None:
            changes = [x for x in changes if loses(x.path, x.before, x.after)] or changes
        commits = self._list_guilty(changes, before, after)
        if not commits:
            merges = merge_changes(self.code.tree, self._commits, paths, since=base)
            commits = self._list_guilty(merges, before, after)
        return commits

    def _list_guilty(
        self, changes: Sequence[Change], before: CodePlace, after: CodePlace | None
    ) -> list[Commit]:
        """Return the commits among some changes that changed, added or removed a place."""
        if before.name:
            blobs = (
                (change.path, blob) for change in changes for blob in (change.before, change.after)
            )
            self.code.load((path, blob) for path, blob in blobs if blob)
        places = dict.fromkeys([before, *([after] if after else [])])
        commits = (
            change.commit
            for change in changes
            for place in places
            if self._is_changed(change, place)
        )
        return list(dict.fromkeys(commits))

    def _is_changed(self, change: Change, place: CodePlace) -> bool:
        if not place.name:
            below = change.path.startswith(f"{place.path}/")
            return below or (
                change.path == place.path
                and not self.is_same_file(change.path, change.before, change.after)
            )
        return change.path == place.path and not is_same_code(
            self.code.symbols_in(place, change.before), self.code.symbols_in(place, change.after)
        )

    def is_same_file(self, path: str, blob: str, other_blob: str) -> bool:
        """Tell whether two blobs of a file are the same but for layout and comments."""
        if blob == other_blob:
            return True
        if not blob or not other_blob or FOLDER in {blob, other_blob}:
            return False
        first, second = self.code.parsed(path, blob), self.code.parsed(path, other_blob)
        if first and second and first.fingerprint and second.fingerprint:
            return first.fingerprint == second.fingerprint
        lines = _strip_lines(self.code.data(blob))
        return lines is not None and lines == _strip_lines(self.code.data(other_blob))

    def _compare_file(self, base: str, place: CodePlace) -> Comparison:
        old = self.code.id(base, place.path)
        if not old:
            now = place._replace(path=self.code.find_file(self.end, place.path) or place.path)
            exists = bool(self.code.id(self.end, now.path))
            return Comparison("fresh", now) if exists else Comparison("unknown")
        new = self.code.id(self.end, place.path)
        if FOLDER in {old, new} and new:
            return Comparison("fresh", place, place)
        if new:
            state: State = "fresh" if self.is_same_file(place.path, old, new) else "changed"
            return Comparison(state, place, place)
        path = self._find_new_path(place.path) or self._find_same_content(base, place.path, old)
        new = self.code.id(self.end, path) if path else ""
        if not new or old == FOLDER:
            return Comparison("gone", None, place)
        if not self.is_same_file(place.path, old, new):
            return Comparison("changed", CodePlace(path), place)
        has_same_name = posixpath.basename(path) == posixpath.basename(place.path)
        return Comparison("moved" if has_same_name else "renamed", CodePlace(path), place)

    def _find_new_path(self, path: str) -> str:
        """Return the path to which git moved a file, if it exists at the end; else empty."""
        if path not in self._renames:
            self._renames[path] = self._follow_renames(path)
        new = self._renames[path]
        return new if new and self.code.id(self.end, new) else ""

    def _follow_renames(self, path: str) -> str:
        """Return the name of a removed file after all its renames; empty if there were none."""
        names = {path: None}
        while (name := self._commits.find_new_name(path)) and name not in names:
            names[name] = None
            path = name
        return path if len(names) > 1 else ""

    def _find_same_content(self, base: str, path: str, blob: str) -> str:
        """Return the only new file with the content of one that is gone; empty if there is none."""
        added = [
            present
            for present in self._list_present(base)
            if present != path and not self.code.id(base, present)
        ]
        ids = self.code.ids((self.end, path) for path in added)
        matching = [path for path in added if ids[self.end, path] == blob]
        return matching[0] if len(matching) == 1 else ""

    def _compare_by_name(self, base: str, name: str) -> Comparison:
        now = self.code.find_symbols(self.end, name)
        old = self.code.find_symbols(base, name)
        if not old:
            return Comparison("fresh" if now else "unknown", now[0] if now else None)
        if not now:
            return self._find_elsewhere(base, old[0], self.code.symbols(base, old[0]))
        old_symbols = [symbol for place in old for symbol in self.code.symbols(base, place)]
        new_symbols = [symbol for place in now for symbol in self.code.symbols(self.end, place)]
        # a name leads to the symbol in whatever file it is
        state: State = "fresh" if is_same_code(old_symbols, new_symbols) else "changed"
        return Comparison(state, now[0], old[0])

    def _find_elsewhere(self, base: str, place: CodePlace, old: Sequence[Symbol]) -> Comparison:
        """Compare a symbol that is no longer in its place with those that may be it now."""
        now = self.code.parsed(place.path, self.code.id(self.end, place.path))
        if now and now.refused:  # it may be there
            return Comparison("unknown", None, place)
        path = self._find_new_path(place.path)
        new = self.code.symbols(self.end, CodePlace(path, place.name)) if path else []
        if new and is_same_code(old, new):
            return Comparison("moved", CodePlace(path, new[0].qualified), place)
        files = self._list_candidates(base, place, path)
        if (base, files) not in self._new:
            self._new[base, files] = list(self._yield_new_symbols(base, files))
        new_symbols = self._new[base, files]
        fingerprints, own_paths = {symbol.fingerprint for symbol in old}, {place.path, path}
        callers = _list_callers(new_symbols)
        likely = [
            (candidate, symbol)
            for candidate, symbol in new_symbols
            if symbol.kind == old[0].kind
            and (
                _is_named_like(candidate, place)
                or candidate.path in own_paths
                or candidate in callers
            )
        ]
        equal = [candidate for candidate, symbol in likely if symbol.fingerprint in fingerprints]
        if nearest := _choose_nearest(equal, place):
            return Comparison("moved" if nearest.name == place.name else "renamed", nearest, place)
        if new:
            return Comparison("changed", CodePlace(path, new[0].qualified), place)
        if nearest := self._find_renamed(base, place, old[0], likely):
            return Comparison("renamed", nearest, place)
        return self._compare_namesake(place, old)

    def _is_set_in_place(self, place: CodePlace) -> bool:
        """Tell whether the file sets a variable of the name: no symbol, as a `var` of Go."""
        blob = self.code.id(self.end, place.path)
        data = self.code.data(blob) if blob and blob != FOLDER else None
        name = re.escape(place.name.encode("utf-8", "surrogateescape"))
        variable = rb"^(?:(?:var|let|const|export) |\t)?%b\b[^=\n(]{0,200}=[^=]" % name
        return bool(data and re.search(variable, data, re.MULTILINE))

    def _compare_substitute(self, place: CodePlace) -> Comparison | None:
        """Compare a symbol with what its file has in its place: a variable, or a private method."""
        if self._is_set_in_place(place):
            return Comparison("changed", place, place)
        return self._compare_private_method(place)

    def _mentions(self, commit: str, place: CodePlace) -> bool:
        """Tell whether the code of a file has the names of something that is no symbol of it."""
        blob = self.code.id(commit, place.path)
        data = self.code.data(blob) if blob and blob != FOLDER else None
        parsed = self.code.parsed(place.path, blob)
        if data is None or parsed is None:
            return False
        return CodeWords(data, parsed).words.issuperset(place.name.split("."))

    def _compare_private_method(self, place: CodePlace) -> Comparison | None:
        """Compare a method `_x` with JavaScript's `#x`, or the other way round, if it exists."""
        scope, dot, name = place.name.rpartition(".")
        if name[:1] not in ("_", "#"):
            return None
        private = place._replace(name=f"{scope}{dot}{'_#'[name[0] == '_']}{name[1:]}")
        if not self.code.symbols(self.end, private):
            return None
        return Comparison("renamed", private, place, is_rewritten=True)

    def _compare_namesake(self, place: CodePlace, old: Sequence[Symbol]) -> Comparison:
        """Compare with the only symbol of the same kind and qualified name in any file."""
        kinds = {symbol.kind for symbol in old}
        namesakes = [
            (namesake, symbols)
            for namesake in self.code.find_symbols(self.end, place.name)
            if namesake.name == place.name and (symbols := self.code.symbols(self.end, namesake))
            if {symbol.kind for symbol in symbols} == kinds
        ]
        if len(namesakes) != 1:
            return Comparison("gone", None, place)
        [(namesake, symbols)] = namesakes
        return Comparison("moved", namesake, place, is_rewritten=not is_same_code(old, symbols))

    def _list_candidates(self, base: str, place: CodePlace, renamed: str) -> tuple[str, ...]:
        """Return the files in which a symbol may be now, that of its former place first."""
        language = detect_language(place.path)
        own_paths = [place.path, *([renamed] if renamed else [])]
        paths = [
            path
            for path in self._list_present(base)
            if path not in own_paths and detect_language(path) == language
        ]
        if len(paths) > _MOST_SEARCHED:  # those that have its name
            word = place.name.rpartition(".")[2]
            with_name = set(self.code.list_files_with(self.end, word, paths[: 20 * _MOST_SEARCHED]))
            paths = [path for path in paths if path in with_name]
        files = (*own_paths, *paths)[:_MOST_SEARCHED]
        for commit in (base, self.end):
            ids = self.code.ids((commit, path) for path in files)
            self.code.load((path, ids[commit, path]) for path in files)
        return files

    def list_differing(self, base: str) -> dict[str, str]:
        """Map the files that differ between a commit and the end to A, M or D."""
        if base not in self._changed:
            changes = self._commits.list_differing(base)
            if changes is None:
                differing = objects.list_differing(self.code.tree, base, self.head) or {}
            else:
                differing = {path: change.status for path, change in changes.items()}
            if self.end != self.head:
                differing |= self.code.list_differing(self.head, self.end)
            self._changed[base] = {
                path: differing[path] for path in sorted(differing) if is_utf8(path)
            }
        return self._changed[base]

    def _list_present(self, base: str) -> list[str]:
        """Return the files that differ from those of a commit, and exist at the end."""
        return [path for path, letter in self.list_differing(base).items() if letter != "D"]

    def _yield_new_symbols(
        self, base: str, files: Sequence[str]
    ) -> Iterator[tuple[CodePlace, Symbol]]:
        """Yield the symbols that files have at the end, but did not have at a commit."""
        for path in files:
            before = self.code.parsed(path, self.code.id(base, path))
            former_names = {symbol.qualified for symbol in before.symbols} if before else set()
            after = self.code.parsed(path, self.code.id(self.end, path))
            for symbol in after.symbols if after else ():
                if symbol.qualified not in former_names:
                    yield CodePlace(path, symbol.qualified), symbol

    def _find_renamed(
        self, base: str, place: CodePlace, old: Symbol, likely: Sequence[tuple[CodePlace, Symbol]]
    ) -> CodePlace | None:
        """Return the only likely symbol with the same code but for its own name."""
        alike = [candidate for candidate, symbol in likely if _is_declared_alike(old, symbol)]
        alike.sort(key=lambda candidate: candidate.path != place.path)
        blob = self.code.id(base, place.path)
        equal = [
            candidate
            for candidate in alike[:_MOST_RENAMED]
            if self._is_same_code(place, blob, candidate)
        ]
        return _choose_nearest(equal, place)

    def _is_same_code(self, place: CodePlace, blob: str, new_place: CodePlace) -> bool:
        """Tell whether the symbol of another place has the same code but for its name."""
        for alone in (True, False):
            old = self._fingerprint_nameless(place, blob, alone=alone)
            new = self._fingerprint_nameless(
                new_place, self.code.id(self.end, new_place.path), alone=alone
            )
            if old and new:
                return old == new
        return False

    def _fingerprint_nameless(self, place: CodePlace, blob: str, *, alone: bool) -> str:
        """Return the fingerprint of a symbol's code with a mask in place of its name.

        `alone` parses its lines only, which is quicker; empty if it is no symbol then.
        """
        key = place, blob, alone
        if key not in self._nameless:
            data, symbols = self.code.data(blob), self.code.symbols_in(place, blob)
            language = detect_language(place.path)
            self._nameless[key] = ""
            if data is not None and symbols and language:
                masked = _fingerprint_masked(data, symbols[0], language, alone=alone)
                self._nameless[key] = masked
        return self._nameless[key]


def is_same_code(old: Iterable[Symbol], new: Iterable[Symbol]) -> bool:
    """Tell whether symbols of one name have the same code, in any order."""
    return sorted(symbol.fingerprint for symbol in old) == sorted(
        symbol.fingerprint for symbol in new
    )


def _list_callers(symbols: Iterable[tuple[CodePlace, Symbol]]) -> set[CodePlace]:
    """Return the symbols that call something, or have one inside that does."""
    callers = set()
    for place, symbol in symbols:
        if symbol.calls:
            names = accumulate(place.name.split("."), "{}.{}".format)
            callers |= {CodePlace(place.path, name) for name in names}
    return callers


def _fingerprint_masked(data: bytes, symbol: Symbol, language: str, *, alone: bool) -> str:
    """Return the fingerprint of a symbol with a mask in place of its name; empty if it has none."""
    lines = data.decode("utf-8", "surrogateescape").split("\n")
    name_pattern = re.compile(rf"(?<![\w$]){re.escape(symbol.name)}(?![\w$])")
    first, end = symbol.line - 1, min(symbol.end_line - 1, len(lines))
    lines[first:end] = [name_pattern.sub(_MASK, line) for line in lines[first:end]]
    text = dedent("\n".join(lines[first:end])) if alone else "\n".join(lines)
    parsed = parsing.parse(text.encode("utf-8", "surrogateescape"), language)
    for masked in parsed.symbols:
        if masked.name == _MASK and masked.line == (1 if alone else symbol.line):
            return masked.fingerprint
    return ""


def _is_declared_alike(old: Symbol, new: Symbol) -> bool:
    """Tell whether two symbols are declared alike and call the same, their own names aside."""

    def masked(symbol: Symbol) -> list[str]:
        return [text.replace(symbol.name, _MASK) for text in (symbol.signature, *symbol.calls)]

    return masked(old) == masked(new)


def _choose_nearest(places: Sequence[CodePlace], place: CodePlace) -> CodePlace | None:
    """Return the place that is most like a former one; None if several are as much like it."""

    def likeness(candidate: CodePlace) -> tuple[bool, bool, int]:
        return (
            candidate.name == place.name,
            candidate.path == place.path,
            _count_common_ends(candidate, place),
        )

    if not places:
        return None
    best = max(map(likeness, places))
    nearest = [candidate for candidate in dict.fromkeys(places) if likeness(candidate) == best]
    return nearest[0] if len(nearest) == 1 else None


def _is_named_like(place: CodePlace, other_place: CodePlace) -> bool:
    """Tell whether two symbols have one name, or are of one name in definitions of one name."""
    return place.name == other_place.name or _count_common_ends(place, other_place) > 1


def _count_common_ends(place: CodePlace, other_place: CodePlace) -> int:
    """Return how many parts at the end of two symbols' names are the same."""
    return count_same(place.name.split(".")[::-1], other_place.name.split(".")[::-1])


def _strip_lines(data: bytes | None) -> list[bytes] | None:
    """Return the lines of a file without white space at their ends, and without empty last ones."""
    if data is None:
        return None
    return [line.rstrip() for line in data.rstrip().split(b"\n")]
