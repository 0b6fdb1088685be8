"""Find the tests that guard a symbol or a file, and what a test guards; best effort, by names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from memory_bank.repo.call_graph import ONLY_ONE, CallGraph
from memory_bank.repo.code_database import IntentRow, SymbolRow
from memory_bank.repo.import_targets import ImportTargets
from memory_bank.repo.symbol_table import SymbolTable

CALLS, CALLS_NAME, NAMED, IMPORTS, FILE_NAME = (
    "calls it", "calls its name", "is named after it", "imports it", "file is named after it",
)  # fmt: skip
"""How a test is known to guard something."""
CONFIDENCE = {CALLS: 1.0, NAMED: 0.8, CALLS_NAME: 0.6, FILE_NAME: 0.4, IMPORTS: 0.3}
"""The order of these, as numbers; no probabilities."""

_AFFIX = re.compile(
    r"\A(?:tests?|specs?)_+|[_.-]+(?:tests?|specs?)\Z|\ATests?(?=[A-Z])|Tests?\Z|Spec\Z"
)
_WORD = re.compile(r"[A-Za-z_]\w*")
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_SHORTEST = 3
"""Letters of a name below which a test's title may have it by chance."""


class Guard(NamedTuple):
    """A test that guards something."""

    test: IntentRow
    how: str
    """A key of CONFIDENCE."""

    @property
    def confidence(self) -> float:
        """How sure that is."""
        return CONFIDENCE[self.how]


class Guarded(NamedTuple):
    """A symbol that a test guards."""

    symbol: SymbolRow
    how: str
    """A key of CONFIDENCE."""


class TestGuards:
    """The guards of one state of the table."""

    __test__ = False

    def __init__(self, table: SymbolTable, imports: ImportTargets, calls: CallGraph) -> None:
        """Look up tests in a table; nothing is read yet."""
        self._table = table
        self._imports = imports
        self._calls = calls

    def of_symbol(self, symbol: SymbolRow) -> list[Guard]:
        """Return the tests that guard a symbol, the surest first, then by file and line.

        Only where no test calls it or has its name are they those whose file is named after
        that of the symbol, or imports it.
        """
        found: dict[int, Guard] = {}
        for call in self._calls.tests_calling(symbol):
            if isinstance(call.caller, IntentRow):
                how = CALLS_NAME if call.how == ONLY_ONE else CALLS
                _add(found, call.caller, how)
        near = self._near(symbol.path)
        for test, _ in near:
            if _names(test, symbol):
                _add(found, test, NAMED)
        if not found:
            for test, how in near:
                if how == FILE_NAME or symbol.symbol.name in self._names_taken(test, symbol.path):
                    _add(found, test, how)
        return sorted(found.values(), key=_order)

    def of_file(self, path: str) -> list[Guard]:
        """Return the tests that guard a file, the surest first: by calls, names, imports."""
        found: dict[int, Guard] = {}
        for symbol in self._table.symbols("f.path = ? AND NOT s.test", path):
            for call in self._calls.tests_calling(symbol):
                if isinstance(call.caller, IntentRow) and call.caller.path != path:
                    _add(found, call.caller, CALLS_NAME if call.how == ONLY_ONE else CALLS)
        for test, how in self._near(path):
            _add(found, test, how)
        return sorted(found.values(), key=_order)

    def guarded_by(self, test: IntentRow) -> list[Guarded]:
        """Return the symbols that a test guards, the surest first."""
        found: dict[int, Guarded] = {}
        files = {*self._imports.imported(test.path), *self._files_named_after(test.path)}
        for one in self._table.symbols_in("f.path", sorted(files)) if files else ():
            if not one.test and _names(test, one):
                found[one.number] = Guarded(one, NAMED)
        for callee in self._calls.called_by_test(test):
            one_called = callee.called
            if one_called is not None and not one_called.test and one_called.path != test.path:
                how = CALLS_NAME if callee.how == ONLY_ONE else CALLS
                known = found.get(one_called.number)
                if known is None or CONFIDENCE[known.how] < CONFIDENCE[how]:
                    found[one_called.number] = Guarded(one_called, how)
        return sorted(
            found.values(),
            key=lambda one: (-CONFIDENCE[one.how], one.symbol.path, one.symbol.symbol.line),
        )

    def _near(self, path: str) -> list[tuple[IntentRow, str]]:
        """Return the tests of files that are named after a file, or import it."""
        named = set(self._tests_named_after(path))
        files = sorted(named.union(self._imports.importers(path)) - {path})
        tests = self._table.tests_in("f.path", files) if files else []
        return [(one, FILE_NAME if one.path in named else IMPORTS) for one in tests]

    def _names_taken(self, test: IntentRow, path: str) -> Iterable[str]:
        return self._imports.imported(test.path).get(path, frozenset())

    def _tests_named_after(self, path: str) -> Iterator[str]:
        stem = _stem(path)
        for (one,) in self._table.rows(
            "SELECT DISTINCT f.path FROM tests JOIN files AS f ON f.id = file"
        ):
            if one != path and _tested(one) == stem and _close(one, path):
                yield one

    def _files_named_after(self, test: str) -> Iterator[str]:
        stem = _tested(test)
        for path in self._table.files():
            if stem and path != test and _stem(path) == stem and _close(test, path):
                yield path


def _tested(path: str) -> str:
    """Return the stem of the file after which a file of tests is named; empty if it is not."""
    stem = _stem(path)
    found = _AFFIX.sub("", stem)
    if found != stem:
        return found
    inside = any(part in {"test", "tests", "spec", "__tests__"} for part in path.split("/")[:-1])
    return stem if inside else ""


def _stem(path: str) -> str:
    return path.rpartition("/")[2].rpartition(".")[0] or path


def _close(test: str, path: str) -> bool:
    """Tell whether a test's folder may be that of a file's tests: it names no other package."""
    skipped = {"test", "tests", "spec", "specs", "__tests__", "src", "lib", "unit", "java", "main"}
    folders = [part for part in test.split("/")[:-1] if part not in skipped]
    return all(part in path.split("/") for part in folders)


def _names(test: IntentRow, symbol: SymbolRow) -> bool:
    """Tell whether a test's title or function is named after a symbol, as a word or its parts."""
    name = symbol.symbol.name.strip("_")
    if len(name) < _SHORTEST:
        return False
    intent = test.intent
    texts = [intent.title, intent.symbol.rpartition(".")[2]]
    groups = [_AFFIX.sub("", part) for part in re.split(r"[ .>]+|::", intent.title)]
    groups += [_AFFIX.sub("", part) for part in intent.symbol.split(".")]
    if name in groups or any(name in _WORD.findall(text) for text in texts):
        return _distinct(name) or name in groups
    wanted = _parts(name)
    return len(wanted) > 1 and any(_has(_parts(group), wanted) for group in groups)


def _distinct(name: str) -> bool:
    """Tell whether a name is no ordinary word: it has several parts or capitals."""
    return "_" in name or not name.islower()


def _parts(name: str) -> list[str]:
    return [part.lower() for part in _PART.findall(name)]


def _has(parts: list[str], wanted: list[str]) -> bool:
    """Tell whether some parts have others in a row."""
    last = len(parts) - len(wanted) + 1
    return any(parts[start : start + len(wanted)] == wanted for start in range(last))


def _add(found: dict[int, Guard], test: IntentRow, how: str) -> None:
    known = found.get(test.number)
    if known is None or known.confidence < CONFIDENCE[how]:
        found[test.number] = Guard(test, how)


def _order(guard: Guard) -> tuple[float, str, int]:
    return -guard.confidence, guard.test.path, guard.test.intent.line
