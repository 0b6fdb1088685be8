"""Resolve calls to symbols, best effort, by name: no type is known.

A call means, in this order, a symbol of its own file that fits what the call is made on, one of a
file that its file imports, another one of its own file, or the only symbol of that name. Any other
call is left unresolved rather than guessed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from memory_bank.repo.code_database import SEPARATOR, IntentRow, SymbolRow, last_part
from memory_bank.repo.import_targets import ImportTargets
from memory_bank.repo.symbol_table import SymbolTable

SAME_FILE, IMPORTED, ONLY_ONE = "same file", "imported file", "only symbol of that name"
"""How a call was resolved, the surest first."""
HOW = (SAME_FILE, IMPORTED, ONLY_ONE)
_OWN = frozenset({"self", "this", "cls", "super", "Self", "@", "$this", "static", "parent"})
"""Words for the object or class around a call."""
_PACKAGES = frozenset({"go", "java"})
"""Languages in which the files of a folder see each other's symbols."""
_IMPLICIT = frozenset({"java", "c_sharp", "cpp", "ruby"})
"""Languages in which a method may call another one of its class on nothing."""
_CALLABLE = frozenset({"function", "method", "class", "type", "interface", "enum"})


class Call(NamedTuple):
    """A call that was resolved."""

    caller: SymbolRow | IntentRow
    called: SymbolRow
    written: str
    """The name as written in the call."""
    how: str
    """One of HOW."""


class Callee(NamedTuple):
    """A name that a symbol calls, and the symbol that it means, if that is known."""

    written: str
    called: SymbolRow | None = None
    how: str = ""


class CallGraph:
    """The calls of one state of the table."""

    def __init__(self, table: SymbolTable, imports: ImportTargets) -> None:
        """Resolve the calls of a table; nothing is read yet."""
        self._table = table
        self._imports = imports

    def callees(self, symbol: SymbolRow) -> list[Callee]:
        """Return what a symbol calls, in order."""
        return self._callees(symbol, symbol.symbol.calls, symbol.symbol.qualified)

    def called_by_test(self, test: IntentRow) -> list[Callee]:
        """Return what a test calls, in order."""
        return self._callees(test, test.intent.calls, test.intent.symbol)

    def callers(self, symbol: SymbolRow) -> list[Call]:
        """Return the calls of a symbol, the surest first, then by file and line.

        A call in a nested symbol, such as a method, is that symbol's only.
        """
        name = symbol.symbol.name
        same = self._named([name])[name]
        condition = "s.id IN (SELECT symbol FROM calls WHERE name = ?)"
        found = [
            call
            for one in self._table.symbols(condition, name)
            if one.number != symbol.number
            for call in self._to(symbol, same, one, one.symbol.calls, one.symbol.qualified)
        ]
        return sorted(found, key=_order)

    def tests_calling(self, symbol: SymbolRow) -> list[Call]:
        """Return the calls of a symbol in tests, the surest first, then by file and line."""
        name = symbol.symbol.name
        same = self._named([name])[name]
        condition = "t.id IN (SELECT test FROM test_calls WHERE name = ?)"
        found = [
            call
            for one in self._table.tests(condition, name)
            for call in self._to(symbol, same, one, one.intent.calls, one.intent.symbol)
        ]
        return sorted(found, key=_order)

    def _to(
        self,
        symbol: SymbolRow,
        same: Sequence[SymbolRow],
        caller: SymbolRow | IntentRow,
        calls: Iterable[str],
        inside: str,
    ) -> list[Call]:
        """Return the first call of a caller that means a symbol, if one does."""
        for written in calls:
            if last_part(written) == symbol.symbol.name:
                one, how = self._meant(written, caller, inside, same)
                if one is not None and _name(one) == _name(symbol):
                    return [Call(caller, symbol, written, how)]
        return []

    def _callees(
        self, caller: SymbolRow | IntentRow, calls: Sequence[str], inside: str
    ) -> list[Callee]:
        named = self._named({last_part(written) for written in calls})
        return [
            Callee(written, *self._meant(written, caller, inside, named[last_part(written)]))
            for written in calls
        ]

    def _named(self, names: Collection[str]) -> dict[str, list[SymbolRow]]:
        """Return the symbols of some names, of overloaded ones only the first."""
        found: dict[str, dict[tuple[str, str], SymbolRow]] = {name: {} for name in names}
        for one in self._table.symbols_in("s.name", sorted(names)):
            if one.symbol.kind in _CALLABLE:
                found[one.symbol.name].setdefault(_name(one), one)
        return {name: list(some.values()) for name, some in found.items()}

    def _meant(
        self, written: str, caller: SymbolRow | IntentRow, inside: str, same: Sequence[SymbolRow]
    ) -> tuple[SymbolRow | None, str]:
        """Return the symbol that a call in `inside` means, and how that is known."""
        if not same:
            return None, ""
        receiver, own = _receiver(written)
        here = [one for one in same if one.path == caller.path]
        if found := _here(here, receiver, inside, own=own or (not receiver and _implicit(caller))):
            return found, SAME_FILE
        imported = self._imports.imported(caller.path)
        there = [one for one in same if one.path in imported or _same_package(one, caller)]
        if there:
            none = frozenset[str]()
            taken = [one for one in there if _taken(one, imported.get(one.path, none))]
            some = taken or there
            if len(some) > 1:
                some = _fitting(some, receiver)
            return (some[0], IMPORTED) if len(some) == 1 else (None, "")
        others = [one for one in here if one.symbol.qualified != inside]
        if others:
            return others[0], SAME_FILE
        outside = [one for one in same if one.path != caller.path and not one.test]
        return (outside[0], ONLY_ONE) if len(outside) == 1 and not here else (None, "")


def _name(one: SymbolRow) -> tuple[str, str]:
    return one.path, one.symbol.qualified


def _same_package(one: SymbolRow, caller: SymbolRow | IntentRow) -> bool:
    """Tell whether a symbol is in a package of the caller's, which it need not import."""
    folder, other = one.path.rpartition("/")[0], caller.path.rpartition("/")[0]
    return caller.language in _PACKAGES and folder == other and one.path != caller.path


def _implicit(caller: SymbolRow | IntentRow) -> bool:
    """Tell whether a call on nothing may be one of a method of the same class."""
    return caller.language in _IMPLICIT


def _receiver(written: str) -> tuple[str, bool]:
    """Return what a call is made on, lower case, its last part; and whether that is its own object.

    A call on nothing has an empty receiver.
    """
    before = SEPARATOR.sub(".", written).rpartition(".")[0]
    return before.rpartition(".")[2].strip("()").casefold(), before in _OWN


def _here(here: Sequence[SymbolRow], receiver: str, inside: str, *, own: bool) -> SymbolRow | None:
    """Return the symbol of the caller's file that a call surely means, if there is one."""
    scope = inside.rpartition(".")[0]
    wanted: list[SymbolRow] = []
    if own:
        wanted = [one for one in here if one.symbol.qualified.rpartition(".")[0] == scope]
    elif receiver:
        wanted = [one for one in here if _parent(one) == receiver]
    if not receiver:
        nested = [one for one in here if one.symbol.qualified.startswith(f"{inside}.")]
        bare = [one for one in here if "." not in one.symbol.qualified]
        wanted = nested or wanted or bare
    return wanted[0] if wanted else None


def _taken(one: SymbolRow, names: Collection[str]) -> bool:
    """Tell whether an import takes a symbol's name, or that of its class."""
    return one.symbol.name in names or one.symbol.qualified.partition(".")[0] in names


def _fitting(some: Sequence[SymbolRow], receiver: str) -> list[SymbolRow]:
    """Return those symbols whose class or module has the name that a call is made on."""
    if not receiver:
        return [one for one in some if "." not in one.symbol.qualified]
    return [one for one in some if receiver in {_parent(one), _stem(one.path)}]


def _parent(one: SymbolRow) -> str:
    """Return the name of a symbol's class, in lower case."""
    return one.symbol.qualified.rpartition(".")[0].rpartition(".")[2].casefold()


def _stem(path: str) -> str:
    return path.rpartition("/")[2].partition(".")[0].casefold()


def _order(call: Call) -> tuple[int, str, int]:
    caller = call.caller
    line = caller.symbol.line if isinstance(caller, SymbolRow) else caller.intent.line
    return HOW.index(call.how), caller.path, line
