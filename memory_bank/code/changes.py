"""Tell whether a file or symbol differs between two states of the code, and where it went.

A symbol is compared by its fingerprint, so that its layout, its comments and its place don't count;
a file of code by the fingerprint of all of it, another file by its lines.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import takewhile
from textwrap import dedent
from typing import Literal

from memory_bank.base import NamedTuple
from memory_bank.base.filenames import is_utf8
from memory_bank.code.code_at import FOLDER, CitedPlace, CodeAt
from memory_bank.code.code_words import CodeWords
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


class Compared(NamedTuple):
    """The result of a comparison."""

    state: State
    place: CitedPlace | None = None
    """Where it is now; None if it is gone or was never there."""
    before: CitedPlace | None = None
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
        self._at = at
        self._renames: dict[str, str] = {}
        self._changed: dict[str, dict[str, str]] = {}
        self._steps: dict[tuple[str, tuple[str, ...]], list[Change]] = {}
        self._new: dict[tuple[str, tuple[str, ...]], list[tuple[CitedPlace, Symbol]]] = {}
        self._nameless: dict[tuple[CitedPlace, str, bool], str] = {}

    def compare(self, base: str, written: CitedPlace, *, by_name: bool = False) -> Compared:
        """Compare a file or symbol at a commit with the same at the end.

        `by_name` is for a symbol that was cited without its file: it may be in any.
        """
        if by_name:
            return self._by_name(base, written.name)
        path = self.code.file_named(base, written.path)
        place = written._replace(path=path or written.path)
        if not place.name:
            return self._file(base, place)
        old = self.code.symbols(base, place)
        if not old and self._mentions(base, place):  # a field, or a `var` of Go
            return self._file(base, place._replace(name=""))
        if not old:
            # the file may have had another name before it was cited by this one
            now = self.code.file_named(self.end, written.path)
            symbols = bool(now) and bool(self.code.symbols(self.end, written._replace(path=now)))
            return Compared("fresh" if symbols else "unknown", written if symbols else None)
        place = place._replace(name=old[0].qualified)
        new = self.code.symbols(self.end, place)
        if new:
            return Compared("fresh" if is_same_code(old, new) else "changed", place, place)
        return self._in_its_stead(place) or self._follow(base, place, old)

    def commits(
        self,
        base: str,
        before: CitedPlace,
        after: CitedPlace | None = None,
        *,
        lost: Callable[[str, str, str], bool] | None = None,
    ) -> list[Commit]:
        """Return the commits that changed or removed a file or symbol, the newest first.

        None of them is a merge, unless only a merge explains the difference. `lost` tells of a file
        and two blobs of it whether the second lacks something; then those that did it are returned,
        if there are any.
        """
        paths = tuple(dict.fromkeys([before.path, *([after.path] if after else [])]))
        if (base, paths) not in self._steps:
            changes = self._at.below(*paths, merges=False, renames=False)
            self._steps[base, paths] = [x for x in changes if self._at.after(x.commit.id, base)]
        steps = self._steps[base, paths]
        if lost is not None:
            guilty = [change for change in steps if lost(change.path, change.before, change.after)]
            steps = guilty or steps
        changing = self._that_changed(steps, before, after)
        if not changing:
            merges = merge_changes(self.code.tree, self._at, paths, since=base)
            changing = self._that_changed(merges, before, after)
        return changing

    def _that_changed(
        self, steps: Sequence[Change], before: CitedPlace, after: CitedPlace | None
    ) -> list[Commit]:
        """Return the commits whose steps changed the code of a place, moved it there or away."""
        if before.name:
            blobs = ((step.path, blob) for step in steps for blob in (step.before, step.after))
            self.code.load((path, blob) for path, blob in blobs if blob)
        places = dict.fromkeys([before, *([after] if after else [])])
        commits = (
            step.commit for step in steps for place in places if self._is_changed(step, place)
        )
        return list(dict.fromkeys(commits))

    def _is_changed(self, step: Change, place: CitedPlace) -> bool:
        if not place.name:
            below = step.path.startswith(f"{place.path}/")
            return below or (
                step.path == place.path and not self.same_file(step.path, step.before, step.after)
            )
        return step.path == place.path and not is_same_code(
            self.code.symbols_in(place, step.before), self.code.symbols_in(place, step.after)
        )

    def same_file(self, path: str, text: str, other_text: str) -> bool:
        """Tell whether two blobs of a file are the same but for layout and comments."""
        if text == other_text:
            return True
        if not text or not other_text or FOLDER in {text, other_text}:
            return False
        first, second = self.code.parsed(path, text), self.code.parsed(path, other_text)
        if first and second and first.fingerprint and second.fingerprint:
            return first.fingerprint == second.fingerprint
        lines = _lines(self.code.data(text))
        return lines is not None and lines == _lines(self.code.data(other_text))

    def _file(self, base: str, place: CitedPlace) -> Compared:
        old = self.code.id(base, place.path)
        now = place._replace(path=self.code.file_named(self.end, place.path) or place.path)
        if not old:
            there = bool(self.code.id(self.end, now.path))
            return Compared("fresh" if there else "unknown", now if there else None)
        new = self.code.id(self.end, place.path)
        if FOLDER in {old, new} and new:
            return Compared("fresh", place, place)
        if new:
            state: State = "fresh" if self.same_file(place.path, old, new) else "changed"
            return Compared(state, place, place)
        path = self._renamed(place.path) or self._same_content(base, place.path, old)
        new = self.code.id(self.end, path) if path else ""
        if not new or old == FOLDER:
            return Compared("gone", None, place)
        if not self.same_file(place.path, old, new):
            return Compared("changed", CitedPlace(path), place)
        is_named = posixpath.basename(path) == posixpath.basename(place.path)
        return Compared("moved" if is_named else "renamed", CitedPlace(path), place)

    def _renamed(self, path: str) -> str:
        """Return the name to which git moved a file, if it is there; empty if unknown."""
        if path not in self._renames:
            self._renames[path] = self._last_name(path)
        new = self._renames[path]
        return new if new and self.code.id(self.end, new) else ""

    def _last_name(self, path: str) -> str:
        """Return the name of a removed file after all its renames; empty if there were none."""
        names = {path: None}
        while (name := self._at.renamed(path)) and name not in names:
            names[name] = None
            path = name
        return path if len(names) > 1 else ""

    def _same_content(self, base: str, path: str, blob: str) -> str:
        """Return the only new file with the content of one that is gone; empty if there is none."""
        new = [
            present
            for present in self._present(base)
            if present != path and not self.code.id(base, present)
        ]
        ids = self.code.ids((self.end, path) for path in new)
        news = [path for path in new if ids[self.end, path] == blob]
        return news[0] if len(news) == 1 else ""

    def _by_name(self, base: str, name: str) -> Compared:
        now = self.code.named(self.end, name)
        old = self.code.named(base, name)
        if not old:
            return Compared("fresh" if now else "unknown", now[0] if now else None)
        if not now:
            return self._follow(base, old[0], self.code.symbols(base, old[0]))
        was = [symbol for place in old for symbol in self.code.symbols(base, place)]
        has = [symbol for place in now for symbol in self.code.symbols(self.end, place)]
        # a name leads to the symbol in whatever file it is
        return Compared("fresh" if is_same_code(was, has) else "changed", now[0], old[0])

    def _follow(self, base: str, place: CitedPlace, old: Sequence[Symbol]) -> Compared:
        """Look for a symbol that is no longer in its place."""
        now = self.code.parsed(place.path, self.code.id(self.end, place.path))
        if now and now.refused:  # it may be there
            return Compared("unknown", None, place)
        path = self._renamed(place.path)
        new = self.code.symbols(self.end, CitedPlace(path, place.name)) if path else []
        if new and is_same_code(old, new):
            return Compared("moved", CitedPlace(path, new[0].qualified), place)
        files = self._candidates(base, place, path)
        if (base, files) not in self._new:
            self._new[base, files] = list(self._new_symbols(base, files))
        new_symbols = self._new[base, files]
        prints, own = {symbol.fingerprint for symbol in old}, {place.path, path}
        calling = _calling(new_symbols)
        likely = [
            (nearest, symbol)
            for nearest, symbol in new_symbols
            if symbol.kind == old[0].kind
            and (_is_named_like(nearest, place) or nearest.path in own or nearest in calling)
        ]
        equal = [nearest for nearest, symbol in likely if symbol.fingerprint in prints]
        if nearest := _nearest(equal, place):
            return Compared("moved" if nearest.name == place.name else "renamed", nearest, place)
        if new:
            return Compared("changed", CitedPlace(path, new[0].qualified), place)
        if nearest := self._with_other_name(base, place, old[0], likely):
            return Compared("renamed", nearest, place)
        return self._namesake(place, old)

    def _is_set_in_place(self, place: CitedPlace) -> bool:
        """Return whether the file sets a variable of the name: no symbol, as a `var` of Go."""
        blob = self.code.id(self.end, place.path)
        data = self.code.data(blob) if blob and blob != FOLDER else None
        name = re.escape(place.name.encode("utf-8", "surrogateescape"))
        variable = rb"^(?:(?:var|let|const|export) |\t)?%b\b[^=\n(]{0,200}=[^=]" % name
        return bool(data and re.search(variable, data, re.MULTILINE))

    def _in_its_stead(self, place: CitedPlace) -> Compared | None:
        """Compare a symbol with what its file has in its place: a variable, or a private method."""
        if self._is_set_in_place(place):
            return Compared("changed", place, place)
        return self._with_private_name(place)

    def _mentions(self, commit: str, place: CitedPlace) -> bool:
        """Return whether the code of a file has the names of something that is no symbol of it."""
        blob = self.code.id(commit, place.path)
        data = self.code.data(blob) if blob and blob != FOLDER else None
        parsed = self.code.parsed(place.path, blob)
        if data is None or parsed is None:
            return False
        return CodeWords(data, parsed).words.issuperset(place.name.split("."))

    def _with_private_name(self, place: CitedPlace) -> Compared | None:
        """Compare a method with JavaScript's `#x` in place of `_x`, or the other way round."""
        around, dot, name = place.name.rpartition(".")
        if name[:1] not in ("_", "#"):
            return None
        private = place._replace(name=f"{around}{dot}{'_#'[name[0] == '_']}{name[1:]}")
        if not self.code.symbols(self.end, private):
            return None
        return Compared("renamed", private, place, is_rewritten=True)

    def _namesake(self, place: CitedPlace, old: Sequence[Symbol]) -> Compared:
        """Look for the only symbol of the same kind and qualified name, in whatever file it is."""
        kinds = {symbol.kind for symbol in old}
        namesakes = [
            (other_place, symbols)
            for other_place in self.code.named(self.end, place.name)
            if other_place.name == place.name
            and (symbols := self.code.symbols(self.end, other_place))
            if {symbol.kind for symbol in symbols} == kinds
        ]
        if len(namesakes) != 1:
            return Compared("gone", None, place)
        [(other_place, symbols)] = namesakes
        return Compared("moved", other_place, place, is_rewritten=not is_same_code(old, symbols))

    def _candidates(self, base: str, place: CitedPlace, renamed: str) -> tuple[str, ...]:
        """Return the files in which a symbol may be now, that of its former place first."""
        language = parsing.detect_language(place.path)
        own = [place.path, *([renamed] if renamed else [])]
        paths = [
            path
            for path in self._present(base)
            if path not in own and parsing.detect_language(path) == language
        ]
        if len(paths) > _MOST_SEARCHED:  # those that have its name
            word = place.name.rpartition(".")[2]
            having = set(self.code.with_word(self.end, word, paths[: 20 * _MOST_SEARCHED]))
            paths = [path for path in paths if path in having]
        files = (*own, *paths)[:_MOST_SEARCHED]
        for commit in (base, self.end):
            ids = self.code.ids((commit, path) for path in files)
            self.code.load((path, ids[commit, path]) for path in files)
        return files

    def different(self, base: str) -> dict[str, str]:
        """Map the files that differ between a commit and the end to A, M or D."""
        if base not in self._changed:
            changes = self._at.difference(base)
            if changes is None:
                differing = objects.list_differing(self.code.tree, base, self.head) or {}
            else:
                differing = {path: change.status for path, change in changes.items()}
            if self.end != self.head:
                differing |= self.code.differences(self.head, self.end)
            self._changed[base] = {
                path: differing[path] for path in sorted(differing) if is_utf8(path)
            }
        return self._changed[base]

    def _present(self, base: str) -> list[str]:
        """Return the files that differ from a commit, and are there at the end."""
        return [path for path, letter in self.different(base).items() if letter != "D"]

    def _new_symbols(self, base: str, files: Sequence[str]) -> Iterator[tuple[CitedPlace, Symbol]]:
        """Yield the symbols of files that these did not have at a commit."""
        for path in files:
            before = self.code.parsed(path, self.code.id(base, path))
            former_names = {symbol.qualified for symbol in before.symbols} if before else set()
            after = self.code.parsed(path, self.code.id(self.end, path))
            for symbol in after.symbols if after else ():
                if symbol.qualified not in former_names:
                    yield CitedPlace(path, symbol.qualified), symbol

    def _with_other_name(
        self, base: str, place: CitedPlace, old: Symbol, among: Sequence[tuple[CitedPlace, Symbol]]
    ) -> CitedPlace | None:
        """Return the only new symbol with the same code but for its own name."""
        alike = [candidate for candidate, symbol in among if _is_declared_alike(old, symbol)]
        alike.sort(key=lambda candidate_place: candidate_place.path != place.path)
        blob = self.code.id(base, place.path)
        equal = [
            candidate
            for candidate in alike[:_MOST_RENAMED]
            if self._is_same_code(place, blob, candidate)
        ]
        return _nearest(equal, place)

    def _is_same_code(self, place: CitedPlace, blob: str, other_place: CitedPlace) -> bool:
        """Tell whether the symbol of another place has the same code but for its name."""
        for alone in (True, False):
            old = self._without_name(place, blob, alone=alone)
            new = self._without_name(
                other_place, self.code.id(self.end, other_place.path), alone=alone
            )
            if old and new:
                return old == new
        return False

    def _without_name(self, place: CitedPlace, blob: str, *, alone: bool) -> str:
        """Return the fingerprint of a symbol's code with a mask in place of its name.

        `alone` parses its lines only, which is quicker; empty if it is no symbol then.
        """
        key = place, blob, alone
        if key not in self._nameless:
            data, symbols = self.code.data(blob), self.code.symbols_in(place, blob)
            language = parsing.detect_language(place.path)
            is_parsed = data is not None and symbols and language
            self._nameless[key] = (
                _masked_code(data or b"", symbols[0], language or "", alone=alone)
                if is_parsed
                else ""
            )
        return self._nameless[key]


def is_same_code(old: Iterable[Symbol], new: Iterable[Symbol]) -> bool:
    """Tell whether symbols of one name have the same code, in any order."""
    return sorted(symbol.fingerprint for symbol in old) == sorted(
        symbol.fingerprint for symbol in new
    )


def _calling(symbols: Iterable[tuple[CitedPlace, Symbol]]) -> set[CitedPlace]:
    """Return the symbols that call something, or have one inside that does."""
    places = set()
    for place, symbol in symbols:
        parts = place.name.split(".") if symbol.calls else []
        places |= {
            CitedPlace(place.path, ".".join(parts[:end])) for end in range(1, len(parts) + 1)
        }
    return places


def _masked_code(data: bytes, symbol_row: Symbol, language: str, *, alone: bool) -> str:
    """Return the fingerprint of a symbol with a mask in place of its name; empty if it has none."""
    lines = data.decode("utf-8", "surrogateescape").split("\n")
    own = re.compile(rf"(?<![\w$]){re.escape(symbol_row.name)}(?![\w$])")
    last = min(symbol_row.end_line - 1, len(lines))
    for number in range(symbol_row.line - 1, last):
        lines[number] = own.sub(_MASK, lines[number])
    text = dedent("\n".join(lines[symbol_row.line - 1 : last])) if alone else "\n".join(lines)
    parsed = parsing.parse(text.encode("utf-8", "surrogateescape"), language)
    symbols = [
        symbol
        for symbol in parsed.symbols
        if symbol.name == _MASK and symbol.line == (1 if alone else symbol_row.line)
    ]
    return symbols[0].fingerprint if symbols else ""


def _is_declared_alike(old: Symbol, new: Symbol) -> bool:
    """Tell whether two symbols are declared alike and call the same, their own names aside."""

    def masked(symbol: Symbol) -> list[str]:
        return [text.replace(symbol.name, _MASK) for text in (symbol.signature, *symbol.calls)]

    return masked(old) == masked(new)


def _nearest(places: Sequence[CitedPlace], place: CitedPlace) -> CitedPlace | None:
    """Return the place that is most like a former one; None if several are alike."""

    def likeness(candidate: CitedPlace) -> tuple[bool, bool, int]:
        return (
            candidate.name == place.name,
            candidate.path == place.path,
            _common_end(candidate, place),
        )

    if not places:
        return None
    best = max(map(likeness, places))
    nearest = [candidate for candidate in dict.fromkeys(places) if likeness(candidate) == best]
    return nearest[0] if len(nearest) == 1 else None


def _is_named_like(place: CitedPlace, other_place: CitedPlace) -> bool:
    """Tell whether two symbols have one name, or are of one name in definitions of one name."""
    return place.name == other_place.name or _common_end(place, other_place) > 1


def _common_end(place: CitedPlace, other_place: CitedPlace) -> int:
    """Return how many of the last parts of two symbols' names are the same."""
    names = reversed(place.name.split(".")), reversed(other_place.name.split("."))
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(*names, strict=False)))


def _lines(data: bytes | None) -> list[bytes] | None:
    """Return the lines of a file without white space at their ends, and without empty last ones."""
    if data is None:
        return None
    return [line.rstrip() for line in data.rstrip().split(b"\n")]
