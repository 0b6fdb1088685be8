"""The files of a work tree that import each other, with the names that they take."""

from __future__ import annotations

from functools import cached_property

from memory_bank.repo.imports import Imports
from memory_bank.repo.symbol_table import SymbolTable


class ImportTargets:
    """The imports of one state of the table as files."""

    def __init__(self, table: SymbolTable) -> None:
        """Look among the files of a table; nothing is read yet."""
        self._table = table

    @cached_property
    def graph(self) -> dict[str, dict[str, frozenset[str]]]:
        """The files that each file imports, with the names that it takes from them."""
        imports = Imports([*self._table.files(), *self._table.build_files], self._read)
        found: dict[str, dict[str, frozenset[str]]] = {}
        for path, one in self._table.imports():
            for file in imports.files(path, one):
                taken = found.setdefault(path, {})
                taken[file] = taken.get(file, frozenset()) | frozenset(one.names)
        return found

    def imported(self, path: str) -> dict[str, frozenset[str]]:
        """Map the files that a file imports to the names that it takes from them."""
        return self.graph.get(path, {})

    def importers(self, path: str) -> list[str]:
        """Return the files that import a file."""
        return sorted(self._importers.get(path, ()))

    @cached_property
    def _importers(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for path, imported in self.graph.items():
            for file in imported:
                found.setdefault(file, []).append(path)
        return found

    def _read(self, path: str) -> str:
        found = self._table.tree.read(path)
        return "" if found is None else found.data.decode("utf-8", "replace")
