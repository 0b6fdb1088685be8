"""The calls between symbols, as far as names tell what is called."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import chain

from memory_bank.base import NamedTuple, in_json
from memory_bank.code.call_targets import (
    HOW,
    Caller,
    CallTargets,
    RowsByFile,
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
"""How a call was resolved of which only the name says what it may mean."""


@in_json("written", "id", "name", "path", "line", "how", "alike")
class ResolvedCall(NamedTuple):
    """A call to or from a symbol."""

    written: str
    """The name as written in the call."""
    row: SymbolRow | IntentRow | None
    """The symbol that calls or is called; None if it is not known which one of several is meant."""
    how: str | None = None
    """How the call was resolved: one of HOW, or MAY_CALL."""
    alike: int = 0
    """The number of symbols of that name, if it is not known which one is meant."""

    @property
    def id(self) -> str | None:
        """The id of the other symbol, or test."""
        return self.row and self.row.id

    @property
    def name(self) -> str | None:
        """Its qualified name, or the test's title."""
        return self.row and self.row.name

    @property
    def path(self) -> str | None:
        """Its file."""
        return self.row and self.row.path

    @property
    def line(self) -> int | None:
        """Its first line."""
        return self.row and self.row.line


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

    def callees(self, symbol: SymbolRow) -> list[ResolvedCall]:
        """Return the calls of a symbol to this code, by the names that it calls, in order."""
        caller = read_caller(symbol)
        names = {written: self._list_names(written, caller) for written in symbol.symbol.calls}
        rows = self._map_rows(set(chain.from_iterable(names.values())))
        callees = []
        for written in symbol.symbol.calls:
            candidates = [row for name in sorted(names[written]) for row in rows[name]]
            target = self._targets.find(written, caller, _group_by_file(candidates))
            if target:
                callees.append(ResolvedCall(written, *target))
            elif not self._targets.leaves_code(written, caller):
                alike = _count_alike(written, caller, candidates)
                callees += [ResolvedCall(written, None, alike=alike)] if alike else []
        return callees

    def callers(self, symbol: SymbolRow) -> Callers:
        """Return the calls of a symbol, the surest first, then by file and line.

        A method and those that implement or override it are one, so that a call of either counts
        for both. A call in a nested symbol, such as a method, is that symbol's only.
        """
        names = self._list_aliases(symbol)
        sql = f"SELECT symbol FROM calls WHERE name IN ({','.join('?' * len(names))})"
        rows = self._table.symbols(f"s.id IN ({sql})", *names)
        callers = [row for row in rows if row.number != symbol.number]
        return self._resolve_callers(symbol, names, callers)

    def tests_calling(self, symbol: SymbolRow) -> Callers:
        """Return the calls of a symbol in tests, as `callers` does."""
        names = self._list_aliases(symbol)
        sql = f"SELECT test FROM test_calls WHERE name IN ({','.join('?' * len(names))})"
        return self._resolve_callers(symbol, names, self._table.tests(f"t.id IN ({sql})", *names))

    def find_target(self, written: str, caller: Caller) -> Target | None:
        """Return what a name means where it is written."""
        rows = self._list_rows(self._list_names(written, caller))
        return self._targets.find(written, caller, _group_by_file(rows))

    def _resolve_callers(
        self,
        symbol: SymbolRow,
        names: Collection[str],
        callers: Sequence[SymbolRow] | Sequence[IntentRow],
    ) -> Callers:
        rows = _group_by_file(self._list_rows([symbol.symbol.name]))
        keys = self._list_overrides(symbol, rows)
        resolved_calls, unclear = list[ResolvedCall](), list[ResolvedCall]()
        for row in callers:
            caller = read_caller(row)
            calls = [call for call in _list_calls(row) if last_part(call) in names]
            targets = [(call, self._targets.find(call, caller, rows)) for call in calls]
            meant = [
                ResolvedCall(call, row, target.how)
                for call, target in targets
                if target and _symbol_key(target.symbol) in keys
            ]
            if meant:
                resolved_calls.append(min(meant, key=_sort_key))
            else:
                possible = [
                    call
                    for call, target in targets
                    if target is None
                    and _may_mean(call, caller, symbol)
                    and not self._targets.leaves_code(call, caller)
                ]
                # such a call hardly means a constant
                if possible and symbol.symbol.kind != "constant":
                    unclear.append(ResolvedCall(possible[0], row, MAY_CALL))
        return sorted(resolved_calls, key=_sort_key), sorted(unclear, key=_sort_key)

    def _list_aliases(self, symbol: SymbolRow) -> list[str]:
        """Return the names by which calls may mean a symbol; those of macros have a sign."""
        names = self._imports.aliases(symbol.symbol.name)
        return sorted(names | {f"{name}!" for name in names})[:_MOST_NAMES]

    def _list_names(self, written: str, caller: Caller) -> set[str]:
        """Return the names of symbols that a call may mean."""
        names = self._targets.list_names(written, caller)
        return names | {name.removesuffix("!") for name in names}

    def _list_overrides(self, symbol: SymbolRow, rows: RowsByFile) -> set[tuple[str, str]]:
        """Return the names of a symbol, of what it overrides, and of what overrides it."""
        bases_by_key = {
            _symbol_key(row): set(map(_symbol_key, self._targets.list_base_methods(row, rows)))
            for row in (symbol, *chain.from_iterable(rows.values()))
        }
        own_key = _symbol_key(symbol)
        return {
            own_key,
            *bases_by_key[own_key],
            *(key for key, bases in bases_by_key.items() if own_key in bases),
        }

    def _list_rows(self, names: Collection[str]) -> list[SymbolRow]:
        return [row for rows in self._map_rows(names).values() for row in rows]

    def _map_rows(self, names: Collection[str]) -> dict[str, list[SymbolRow]]:
        """Map names to their symbols, of overloaded ones only to the first."""
        rows: dict[str, dict[tuple[str, str, str], SymbolRow]] = {name: {} for name in names}
        for row in self._table.symbols_in("s.name", sorted(names)):
            if row.symbol.kind in _CALLABLE:
                rows[row.symbol.name].setdefault((*_symbol_key(row), row.symbol.kind), row)
        return {name: list(rows_of_name.values()) for name, rows_of_name in rows.items()}


def _list_calls(row: SymbolRow | IntentRow) -> Sequence[str]:
    return row.symbol.calls if isinstance(row, SymbolRow) else row.intent.calls


def _group_by_file(rows: Iterable[SymbolRow]) -> RowsByFile:
    by_file: dict[str, list[SymbolRow]] = {}
    for row in rows:
        by_file.setdefault(row.path, []).append(row)
    return by_file


def _may_mean(written: str, caller: Caller, symbol: SymbolRow) -> bool:
    """Tell whether an unresolved call may mean a symbol, by its name and kind."""
    name = last_part(written)
    if not may_call(caller.language, symbol, is_macro=name.endswith("!")):
        return False
    return symbol.symbol.name in (name, name.removesuffix("!"))


def _count_alike(written: str, caller: Caller, rows: Sequence[SymbolRow]) -> int:
    """Return how many symbols a call may mean; methods that override one don't count."""
    candidates = [row for row in rows if _may_mean(written, caller, row)]
    types = {row.symbol.qualified.rpartition(".")[0].rpartition(".")[2] for row in candidates}
    return sum(types.isdisjoint(row.symbol.bases.split()) for row in candidates)


def _symbol_key(row: SymbolRow) -> tuple[str, str]:
    return row.path, row.symbol.qualified


def _sort_key(call: ResolvedCall) -> tuple[int, str, int]:
    return (*HOW, MAY_CALL).index(call.how or ""), call.path or "", call.line or 0
