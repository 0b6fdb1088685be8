"""Find the tests that guard a symbol or a file, and what a test guards; best effort, by names."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence

from memory_bank.base import NamedTuple, in_json, lazy_pattern
from memory_bank.code.calls import CallGraph
from memory_bank.code.imports import ImportTargets
from memory_bank.code.index.database import IntentRow, SymbolRow
from memory_bank.code.index.symbol_table import SymbolTable
from memory_bank.code.languages.base import split_identifier
from memory_bank.code.parse.parsed_file import Symbol

INSIDE, OWN_FILE, CALLS, NAMED = (
    "is in its file", "is in its test file", "calls it", "is named after it",
)  # fmt: skip

FILE_NAME, IMPORTS, PACKAGE = "file is named after it", "imports it", "is in its package"
"""How a test is known to guard something."""

CONFIDENCE = {
    INSIDE: 1.0, OWN_FILE: 1.0, CALLS: 1.0, NAMED: 0.8, FILE_NAME: 0.4, IMPORTS: 0.3, PACKAGE: 0.2
}  # fmt: skip
"""The order of these, as numbers; no probabilities."""

_AFFIX = lazy_pattern(
    r"\A(?:tests?|specs?)_+|[_.-]{1,8}(?:tests?|specs?)\Z|\ATests?(?=[A-Z])|Tests?\Z|Spec\Z"
)

_WORD = lazy_pattern(r"[A-Za-z_]\w*")

_MODULE = lazy_pattern(r"(?:^|/)tests?(?:\.rs|/mod\.rs)$")

_HOW = tuple(CONFIDENCE)

_SHORTEST = 3
"""Letters of a name below which a test's title may have it by chance."""


@in_json("id", "title", "snippet", "test_file", "line", "how", "confidence")
class Guard(NamedTuple):
    """A test that guards something."""

    test: IntentRow
    how: str
    """A key of CONFIDENCE."""

    @property
    def id(self) -> str:
        """The id of the test."""
        return self.test.id

    @property
    def title(self) -> str:
        """What it says should happen."""
        return self.test.intent.title

    @property
    def snippet(self) -> str:
        """The source line that names it."""
        return self.test.intent.snippet

    @property
    def test_file(self) -> str:
        """Its file, below the work tree."""
        return self.test.path

    @property
    def line(self) -> int:
        """Its first line."""
        return self.test.intent.line

    @property
    def confidence(self) -> float:
        """How sure that is."""
        return CONFIDENCE[self.how]


class TestGuards:
    """The guards of one state of the table."""

    __test__ = False

    def __init__(self, table: SymbolTable, imports: ImportTargets, calls: CallGraph) -> None:
        self._table = table
        self._imports = imports
        self._calls = calls

    def of_symbol(self, symbol: SymbolRow) -> list[Guard]:
        """Return the tests that call a symbol or are named after it, the surest first."""
        guards: dict[str, Guard] = {}
        self._add_calling(guards, symbol)
        longer = self._list_longer_names(symbol)
        for test, _ in self._list_near_tests(symbol.path):
            if _is_named_after(test, symbol, longer):
                _add_guard(guards, test, NAMED)
        return sorted(guards.values(), key=_sort_key)

    def of_file(self, path: str) -> list[Guard]:
        """Return the tests that guard a file: its own, then by calls, names, imports."""
        guards: dict[str, Guard] = {}
        for test, how in self._list_near_tests(path):
            _add_guard(guards, test, how)
        for symbol in self._table.symbols("f.path = ? AND NOT s.test", path):
            self._add_calling(guards, symbol)
        return self._or_tests_of_package(guards, path)

    def _add_calling(self, guards: dict[str, Guard], symbol: SymbolRow) -> None:
        calls, _ = self._calls.tests_calling(symbol)
        for call in calls:
            if isinstance(call.row, IntentRow):
                _add_guard(guards, call.row, CALLS)

    def _list_near_tests(self, path: str) -> list[tuple[IntentRow, str]]:
        """Return the tests of a file, and of those that are named after it, or import it."""
        how = dict.fromkeys(self._imports.importers(path), IMPORTS)
        how.update(dict.fromkeys(self._yield_tests_named_after(path), FILE_NAME))
        how.update(dict.fromkeys(self._list_test_files(path), OWN_FILE))
        how[path] = INSIDE
        return [(row, how[row.path]) for row in self._table.tests_in("f.path", sorted(how))]

    def _list_longer_names(self, symbol: SymbolRow) -> list[list[str]]:
        """Return the parts of longer names in the file of a symbol that have those of its name."""
        own = split_identifier(symbol.symbol.name)
        rows = self._table.symbols("f.path = ? AND NOT s.test", symbol.path)
        parts = (split_identifier(row.symbol.name) for row in rows)
        return [part for part in parts if len(part) > len(own) and _contains(part, own)]

    def _list_test_files(self, path: str) -> list[str]:
        """Return the files that have a file's own tests by the rules of its language."""
        if path.endswith(".go"):
            return [f"{path.removesuffix('.go')}_test.go"]
        modules = self._imports.imported(path) if path.endswith(".rs") else ()
        return [module for module in modules if _MODULE.search(module)]  # of `mod tests;`

    def _or_tests_of_package(self, guards: dict[str, Guard], path: str) -> list[Guard]:
        """Return guards in order; if there are none, in Go those of the package."""
        if not guards and path.endswith(".go"):
            folder = posixpath.dirname(path)
            files = [file for file in self._table.files() if posixpath.dirname(file) == folder]
            for test in self._table.tests_in("f.path", files):
                _add_guard(guards, test, PACKAGE)
        return sorted(guards.values(), key=_sort_key)

    def _yield_tests_named_after(self, path: str) -> Iterator[str]:
        stem = _file_stem(path)
        for (test_path,) in self._table.rows(
            "SELECT DISTINCT f.path FROM tests JOIN files AS f ON f.id = file"
        ):
            is_named = test_path != path and _find_tested_stem(test_path) == stem
            if is_named and _is_close(test_path, path):
                yield test_path


def _find_tested_stem(path: str) -> str:
    """Return the stem of the file after which a file of tests is named; empty if it is not."""
    stem = _file_stem(path)
    text = _AFFIX.sub("", stem)
    if text != stem:
        return text
    inside = any(part in {"test", "tests", "spec", "__tests__"} for part in path.split("/")[:-1])
    return stem if inside else ""


def _file_stem(path: str) -> str:
    return path.rpartition("/")[2].rpartition(".")[0] or path


def _is_close(test: str, path: str) -> bool:
    """Tell whether a test's folder may be that of a file's tests: it names no other package."""
    skipped = {"test", "tests", "spec", "specs", "__tests__", "src", "lib", "unit", "java", "main"}
    folders = [part for part in test.split("/")[:-1] if part not in skipped]
    return all(part in path.split("/") for part in folders)


def _is_named_after(test: IntentRow, symbol: SymbolRow, longer: Sequence[Sequence[str]]) -> bool:
    """Tell whether a test's title or function is named after a symbol, as a word or its parts.

    A plain word has to be the whole name of a test of its type, and no longer name may be meant.
    """
    name, intent = symbol.symbol.name.strip("_"), test.intent
    if len(name) < _SHORTEST:
        return False
    names, name_parts = intent.symbol.split("."), split_identifier(name)
    texts = [part for part in (*intent.title.split(" > "), *names) if not part.isupper()]
    whole = [split_identifier(_AFFIX.sub("", text)) for text in texts]
    around = _split_enclosing_type(symbol.symbol)
    is_its = name_parts != around and any(_contains(full_name, around) for full_name in whole)
    if is_its and (name_parts in whole or [*around, *name_parts] in whole):
        return True
    words = _WORD.findall(intent.title)
    if _is_distinct(name) and (name in words or name in names):
        return True
    return len(name_parts) > 1 and any(
        _contains(parts, name_parts)
        and not any(_contains(parts, longer_name) for longer_name in longer)
        for parts in map(split_identifier, (*words, *names))
    )


def _split_enclosing_type(symbol: Symbol) -> list[str]:
    """Return the parts of the name of a method's type; none for another symbol."""
    return split_identifier(symbol.qualified.split(".")[-2]) if symbol.kind == "method" else []


def _is_distinct(name: str) -> bool:
    """Tell whether a name is no plain word: it has several parts or capitals."""
    return "_" in name or not name.islower()


def _contains(parts: Sequence[str], part: Sequence[str]) -> bool:
    """Tell whether some parts have others in a row."""
    last = len(parts) - len(part) + 1
    return any(parts[start : start + len(part)] == part for start in range(last))


def _add_guard(guards: dict[str, Guard], test: IntentRow, how: str) -> None:
    guard = guards.get(test.id)
    if guard is None or _HOW.index(guard.how) > _HOW.index(how):
        guards[test.id] = Guard(test, how)


def _sort_key(guard: Guard) -> tuple[int, str, int]:
    return _HOW.index(guard.how), guard.test.path, guard.test.intent.line
