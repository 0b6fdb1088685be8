"""The calls between symbols, as far as names tell what is called."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import chain
from typing import NamedTuple

from memory_bank.code.call_targets import (
    HOW,
    Caller,
    CallTargets,
    Named,
    Target,
    caller_of,
    may_call,
)
from memory_bank.code.imports import ImportTargets
from memory_bank.code.index.database import IntentRow, SymbolRow, last_part
from memory_bank.code.index.symbol_table import SymbolTable

_MOST_NAMES = 500
"""Names by which a symbol is imported that are looked for."""

_CALLABLE = frozenset({"function", "method", "class", "type", "interface", "enum"})


MAY_CALL = "may call it"
"""How a call is told of which only the name says what it may mean."""


class ResolvedCall(NamedTuple):
    """A call that was resolved."""

    caller: SymbolRow | IntentRow
    called: SymbolRow
    written: str
    """The name as written in the call."""
    how: str
    """One of HOW, or MAY_CALL."""


class Callee(NamedTuple):
    """A name that a symbol calls, and the symbol that it means, if that is known."""

    written: str
    called: SymbolRow | None = None
    how: str = ""
    alike: int = 0
    """The number of symbols of that name, if it is not known which one is meant."""


class Callers(NamedTuple):
    """The calls of a symbol."""

    known: list[ResolvedCall]
    unclear: list[ResolvedCall]
    """Those of something of its name; what they mean is not known, so `how` is MAY_CALL."""


class CallGraph:
    """The calls of one state of the table."""

    def __init__(self, table: SymbolTable, imports: ImportTargets) -> None:
        """Resolve the calls of a table; nothing is read yet."""
        self._table = table
        self._imports = imports
        self._targets = CallTargets(imports)

    def callees(self, symbol: SymbolRow) -> list[Callee]:
        """Return what a symbol calls of this code, in order."""
        caller = caller_of(symbol)
        names = {written: self._names(written, caller) for written in symbol.symbol.calls}
        named = self._named(set(chain.from_iterable(names.values())))
        found = []
        for written in symbol.symbol.calls:
            same = [one for name in sorted(names[written]) for one in named[name]]
            target = self._meant(written, caller, _by_file(same))
            if target:
                found.append(Callee(written, target.symbol, target.how))
            elif not self._targets.leaves(written, caller):
                found.append(Callee(written, alike=_alike(written, caller, same)))
        return [one for one in found if one.called or one.alike]

    def callers(self, symbol: SymbolRow) -> Callers:
        """Return the calls of a symbol, the surest first, then by file and line.

        A method and those that implement or override it are one, so that a call of either counts
        for both. A call in a nested symbol, such as a method, is that symbol's only.
        """
        names = self._called_as(symbol)
        calling = f"SELECT symbol FROM calls WHERE name IN ({','.join('?' * len(names))})"
        some = self._table.symbols(f"s.id IN ({calling})", *names)
        return self._calling(symbol, names, [one for one in some if one.number != symbol.number])

    def tests_calling(self, symbol: SymbolRow) -> Callers:
        """Return the calls of a symbol in tests, as `callers` does."""
        names = self._called_as(symbol)
        calling = f"SELECT test FROM test_calls WHERE name IN ({','.join('?' * len(names))})"
        return self._calling(symbol, names, self._table.tests(f"t.id IN ({calling})", *names))

    def meant(self, written: str, caller: Caller) -> Target | None:
        """Return what a name means where it is written."""
        return self._meant(written, caller, _by_file(self._all(self._names(written, caller))))

    def _calling(
        self,
        symbol: SymbolRow,
        names: Collection[str],
        callers: Sequence[SymbolRow] | Sequence[IntentRow],
    ) -> Callers:
        same = _by_file(self._all([symbol.symbol.name]))
        one = self._one(symbol, same)
        found, unclear = list[ResolvedCall](), list[ResolvedCall]()
        for row in callers:
            caller = caller_of(row)
            calls = [call for call in _calls(row) if last_part(call) in names]
            targets = [(call, self._meant(call, caller, same)) for call in calls]
            to = [(call, each.how) for call, each in targets if each and _name(each.symbol) in one]
            if to:
                call, how = min(to, key=lambda each: HOW.index(each[1]))
                found.append(ResolvedCall(row, symbol, call, how))
            else:
                lost = [call for call, each in targets if each is None]
                lost = [call for call in lost if not self._targets.leaves(call, caller)]
                may = next((call for call in lost if _may_mean(call, caller, symbol)), None)
                if may and symbol.symbol.kind != "constant":  # such a call hardly means a constant
                    unclear.append(ResolvedCall(row, symbol, may, MAY_CALL))
        return Callers(sorted(found, key=_order), sorted(unclear, key=_order))

    def _called_as(self, symbol: SymbolRow) -> list[str]:
        """Return the names by which calls may mean a symbol; those of macros have a sign."""
        names = self._imports.aliases(symbol.symbol.name)
        return sorted(names | {f"{name}!" for name in names})[:_MOST_NAMES]

    def _names(self, written: str, caller: Caller) -> set[str]:
        """Return the names of symbols that a call may mean."""
        names = self._targets.names_of(written, caller)
        return names | {name.removesuffix("!") for name in names}

    def _one(self, symbol: SymbolRow, same: Named) -> set[tuple[str, str]]:
        """Return the names of a symbol, of what it overrides, and of what overrides it."""
        bases = {
            _name(one): {_name(base) for base in self._targets.base_methods(one, same)}
            for one in (symbol, *chain.from_iterable(same.values()))
        }
        own = _name(symbol)
        return {own, *bases[own], *(one for one, above in bases.items() if own in above)}

    def _meant(self, written: str, caller: Caller, same: Named) -> Target | None:
        return self._targets.of(written, caller, same) if same else None

    def _all(self, names: Collection[str]) -> list[SymbolRow]:
        return [one for some in self._named(names).values() for one in some]

    def _named(self, names: Collection[str]) -> dict[str, list[SymbolRow]]:
        """Return the symbols of some names, of overloaded ones only the first."""
        found: dict[str, dict[tuple[str, str, str], SymbolRow]] = {name: {} for name in names}
        for one in self._table.symbols_in("s.name", sorted(names)):
            if one.symbol.kind in _CALLABLE:
                found[one.symbol.name].setdefault((*_name(one), one.symbol.kind), one)
        return {name: list(some.values()) for name, some in found.items()}


def _calls(row: SymbolRow | IntentRow) -> Sequence[str]:
    return row.symbol.calls if isinstance(row, SymbolRow) else row.intent.calls


def _by_file(some: Iterable[SymbolRow]) -> Named:
    found: dict[str, list[SymbolRow]] = {}
    for one in some:
        found.setdefault(one.path, []).append(one)
    return found


def _may_mean(written: str, caller: Caller, symbol: SymbolRow) -> bool:
    """Tell whether a call that leads nowhere may mean a symbol, by its name and kind."""
    name = last_part(written)
    if not may_call(caller.language, symbol, is_macro=name.endswith("!")):
        return False
    return symbol.symbol.name in (name, name.removesuffix("!"))


def _alike(written: str, caller: Caller, same: Sequence[SymbolRow]) -> int:
    """Return how many symbols a call may mean; those that override one count with it."""
    some = [one for one in same if _may_mean(written, caller, one)]
    types = {one.symbol.qualified.rpartition(".")[0].rpartition(".")[2] for one in some}
    return sum(types.isdisjoint(one.symbol.bases.split()) for one in some)


def _name(one: SymbolRow) -> tuple[str, str]:
    return one.path, one.symbol.qualified


def _order(call: ResolvedCall) -> tuple[int, str, int]:
    caller = call.caller
    line = caller.symbol.line if isinstance(caller, SymbolRow) else caller.intent.line
    return (*HOW, MAY_CALL).index(call.how), caller.path, line
