"""The calls between symbols, as far as names tell what is called."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import chain

from memory_bank.base import NamedTuple
from memory_bank.code.call_targets import (
    HOW,
    Caller,
    CallTargets,
    Named,
    Target,
    may_call,
    read_caller,
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


Callers = tuple[list[ResolvedCall], list[ResolvedCall]]
"""The calls of a symbol, and those of something of its name; what these mean is not known, so `how`
is MAY_CALL."""


class CallGraph:
    """The calls of one state of the table."""

    def __init__(self, table: SymbolTable, imports: ImportTargets) -> None:
        """Resolve the calls of a table; nothing is read yet."""
        self._table = table
        self._imports = imports
        self._targets = CallTargets(imports)

    def callees(self, symbol: SymbolRow) -> list[Callee]:
        """Return what a symbol calls of this code, in order."""
        caller = read_caller(symbol)
        names = {written: self._names(written, caller) for written in symbol.symbol.calls}
        rows = self._named(set(chain.from_iterable(names.values())))
        entries = []
        for written in symbol.symbol.calls:
            same_rows = [row for name in sorted(names[written]) for row in rows[name]]
            target = self._meant(written, caller, _group_by_file(same_rows))
            if target:
                entries.append(Callee(written, target.symbol, target.how))
            elif not self._targets.leaves(written, caller):
                entries.append(Callee(written, alike=_alike(written, caller, same_rows)))
        return [callee for callee in entries if callee.called or callee.alike]

    def callers(self, symbol: SymbolRow) -> Callers:
        """Return the calls of a symbol, the surest first, then by file and line.

        A method and those that implement or override it are one, so that a call of either counts
        for both. A call in a nested symbol, such as a method, is that symbol's only.
        """
        names = self._called_as(symbol)
        calling = f"SELECT symbol FROM calls WHERE name IN ({','.join('?' * len(names))})"
        rows = self._table.symbols(f"s.id IN ({calling})", *names)
        return self._calling(symbol, names, [row for row in rows if row.number != symbol.number])

    def tests_calling(self, symbol: SymbolRow) -> Callers:
        """Return the calls of a symbol in tests, as `callers` does."""
        names = self._called_as(symbol)
        calling = f"SELECT test FROM test_calls WHERE name IN ({','.join('?' * len(names))})"
        return self._calling(symbol, names, self._table.tests(f"t.id IN ({calling})", *names))

    def meant(self, written: str, caller: Caller) -> Target | None:
        """Return what a name means where it is written."""
        return self._meant(written, caller, _group_by_file(self._all(self._names(written, caller))))

    def _calling(
        self,
        symbol: SymbolRow,
        names: Collection[str],
        callers: Sequence[SymbolRow] | Sequence[IntentRow],
    ) -> Callers:
        rows = _group_by_file(self._all([symbol.symbol.name]))
        called_names = self._one(symbol, rows)
        resolved_calls, unclear = list[ResolvedCall](), list[ResolvedCall]()
        for row in callers:
            caller = read_caller(row)
            calls = [call for call in _calls(row) if last_part(call) in names]
            targets = [(call, self._meant(call, caller, rows)) for call in calls]
            to = [
                (call, target.how)
                for call, target in targets
                if target and _name(target.symbol) in called_names
            ]
            if to:
                call, how = min(to, key=lambda entries: HOW.index(entries[1]))
                resolved_calls.append(ResolvedCall(row, symbol, call, how))
            else:
                lost = [call for call, target in targets if target is None]
                lost = [call for call in lost if not self._targets.leaves(call, caller)]
                may = next((call for call in lost if _may_mean(call, caller, symbol)), None)
                if may and symbol.symbol.kind != "constant":  # such a call hardly means a constant
                    unclear.append(ResolvedCall(row, symbol, may, MAY_CALL))
        return sorted(resolved_calls, key=_order), sorted(unclear, key=_order)

    def _called_as(self, symbol: SymbolRow) -> list[str]:
        """Return the names by which calls may mean a symbol; those of macros have a sign."""
        names = self._imports.aliases(symbol.symbol.name)
        return sorted(names | {f"{name}!" for name in names})[:_MOST_NAMES]

    def _names(self, written: str, caller: Caller) -> set[str]:
        """Return the names of symbols that a call may mean."""
        names = self._targets.names_of(written, caller)
        return names | {name.removesuffix("!") for name in names}

    def _one(self, symbol: SymbolRow, rows: Named) -> set[tuple[str, str]]:
        """Return the names of a symbol, of what it overrides, and of what overrides it."""
        bases = {
            _name(row): {_name(base) for base in self._targets.base_methods(row, rows)}
            for row in (symbol, *chain.from_iterable(rows.values()))
        }
        own = _name(symbol)
        return {own, *bases[own], *(entries for entries, above in bases.items() if own in above)}

    def _meant(self, written: str, caller: Caller, rows: Named) -> Target | None:
        return self._targets.of(written, caller, rows) if rows else None

    def _all(self, names: Collection[str]) -> list[SymbolRow]:
        return [row for rows in self._named(names).values() for row in rows]

    def _named(self, names: Collection[str]) -> dict[str, list[SymbolRow]]:
        """Return the symbols of some names, of overloaded ones only the first."""
        rows: dict[str, dict[tuple[str, str, str], SymbolRow]] = {name: {} for name in names}
        for row in self._table.symbols_in("s.name", sorted(names)):
            if row.symbol.kind in _CALLABLE:
                rows[row.symbol.name].setdefault((*_name(row), row.symbol.kind), row)
        return {name: list(by_path.values()) for name, by_path in rows.items()}


def _calls(row: SymbolRow | IntentRow) -> Sequence[str]:
    return row.symbol.calls if isinstance(row, SymbolRow) else row.intent.calls


def _group_by_file(rows: Iterable[SymbolRow]) -> Named:
    by_file: dict[str, list[SymbolRow]] = {}
    for row in rows:
        by_file.setdefault(row.path, []).append(row)
    return by_file


def _may_mean(written: str, caller: Caller, symbol: SymbolRow) -> bool:
    """Tell whether a call that leads nowhere may mean a symbol, by its name and kind."""
    name = last_part(written)
    if not may_call(caller.language, symbol, is_macro=name.endswith("!")):
        return False
    return symbol.symbol.name in (name, name.removesuffix("!"))


def _alike(written: str, caller: Caller, rows: Sequence[SymbolRow]) -> int:
    """Return how many symbols a call may mean; those that override one count with it."""
    possible = [row for row in rows if _may_mean(written, caller, row)]
    types = {row.symbol.qualified.rpartition(".")[0].rpartition(".")[2] for row in possible}
    return sum(types.isdisjoint(row.symbol.bases.split()) for row in possible)


def _name(row: SymbolRow) -> tuple[str, str]:
    return row.path, row.symbol.qualified


def _order(call: ResolvedCall) -> tuple[int, str, int]:
    caller = call.caller
    line = caller.symbol.line if isinstance(caller, SymbolRow) else caller.intent.line
    return (*HOW, MAY_CALL).index(call.how), caller.path, line
