"""The files of a work tree that import each other, with the names that they take."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

from memory_bank.repo.code import Import
from memory_bank.repo.imports import Imports
from memory_bank.repo.symbol_table import SymbolTable


class Bound(NamedTuple):
    """What a name means in a file that imports it."""

    name: str
    """What it is called where it comes from; empty for all of a file."""
    files: tuple[str, ...]
    """Where it comes from; none if that is not in the repository, or is not found."""


class Bindings(NamedTuple):
    """What the names mean that a file imports."""

    names: dict[str, Bound]
    whole: tuple[str, ...]
    """Files whose names need no other, as of `from a import *`."""


class ImportTargets:
    """The imports of one state of the table as files."""

    def __init__(self, table: SymbolTable) -> None:
        """Look among the files of a table; nothing is read yet."""
        self._table = table
        self._bindings: dict[str, Bindings] = {}

    @cached_property
    def graph(self) -> dict[str, dict[str, frozenset[str]]]:
        """The files that each file imports, with the names that it takes from them."""
        imports = self._imports
        found: dict[str, dict[str, frozenset[str]]] = {}
        for path, one in self._table.imports():
            for file in imports.files(path, one):
                taken = found.setdefault(path, {})
                taken[file] = taken.get(file, frozenset()) | frozenset(one.names)
        return found

    def files(self, path: str, one: Import) -> list[str]:
        """Return the files that an import in a file means."""
        return self._imports.files(path, one)

    def bindings(self, path: str) -> Bindings:
        """Return what the names mean that a file imports."""
        if path not in self._bindings:
            names: dict[str, Bound] = {}
            whole: dict[str, None] = {}
            for one in self._table.imports_of(path):
                if one.names in ((), ("*",)):
                    files = tuple(self._imports.files(path, one))
                    names.update(dict.fromkeys(filter(None, one.bound), Bound("", files)))
                    whole.update(dict.fromkeys(files if not one.bound else ()))
                    continue
                for name, bound in zip(one.names, one.bound or one.names, strict=False):
                    taken = one._replace(names=(name,), bound=())
                    names[bound] = Bound(name, tuple(self._imports.files(path, taken)))
            self._bindings[path] = Bindings(names, tuple(whole))
        return self._bindings[path]

    def aliases(self, name: str) -> set[str]:
        """Return the names by which files import something of a name, and that one."""
        found, waiting = {name}, [name]
        while waiting:
            for one in self._renamed.get(waiting.pop(), ()):
                if one not in found:
                    found.add(one)
                    waiting.append(one)
        return found

    @cached_property
    def _renamed(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for _, one in self._table.imports():
            for name, bound in zip(one.names, one.bound, strict=False):
                found.setdefault(name, set()).add(bound)
        return found

    @cached_property
    def _imports(self) -> Imports:
        return Imports([*self._table.files(), *self._table.build_files], self._read)

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
