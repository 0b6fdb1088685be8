"""Find the files of a work tree that an import means, by the ends of their paths.

No build file is read, so that an import of a library with the name of a file may be mistaken
for it, unless its name has only one part.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache

from memory_bank.repo.symbol_table import SymbolTable

_SOURCE_ROOTS = frozenset({"src", "lib", "source", "include", "python"})
"""Folders that are no part of a module's name."""
_PACKAGE = {
    "py": {"__init__"},
    "pyi": {"__init__"},
    "rs": {"mod", "lib", "main"},
    **{suffix: {"index"} for suffix in ("js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts")},
}
"""Names of files that stand for their folder, by the suffix of files."""
_SUFFIXES = re.compile(
    r"\.(?:pyi?|d\.ts|[cm]?[jt]sx?|hh|hpp|hxx|h|cc|cpp|cxx|cs|c|rb|php|bash|sh|java|go|rs)$"
)
_OWN = frozenset({"crate", "self", "super", "package"})
_MOST = 50
"""Maximum number of files that one import may mean, as those of a package of Go."""


class ImportTargets:
    """The imports of a work tree as files; computed once for each state of the table."""

    def __init__(self, table: SymbolTable) -> None:
        """Read the paths of all files of code."""
        self._table = table
        self._by_last: dict[str, list[tuple[tuple[str, ...], str]]] = {}
        """Paths by the last part of their module's name, with all parts."""
        self._folders: dict[tuple[str, ...], list[str]] = {}
        for path, state in table.files().items():
            parts = _module(path)
            if parts:
                self._by_last.setdefault(parts[-1], []).append((parts, path))
            if state.language == "go":  # a package is a folder
                self._folders.setdefault(tuple(path.split("/")[:-1]), []).append(path)

    @cached_property
    def graph(self) -> dict[str, dict[str, frozenset[str]]]:
        """The files that each file imports, with the names that it takes from them."""
        found: dict[str, dict[str, frozenset[str]]] = {}
        for path, target, names in self._table.imports():
            for file in self.files(path, target, names):
                if file != path:
                    taken = found.setdefault(path, {})
                    taken[file] = taken.get(file, frozenset()) | frozenset(names)
        return found

    @cached_property
    def _importers(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for path, imported in self.graph.items():
            for file in imported:
                found.setdefault(file, []).append(path)
        return found

    def imported(self, path: str) -> dict[str, frozenset[str]]:
        """Map the files that a file imports to the names that it takes from them."""
        return self.graph.get(path, {})

    def importers(self, path: str) -> list[str]:
        """Return the files that import a file."""
        return sorted(self._importers.get(path, ()))

    def files(self, path: str, target: str, names: Iterable[str] = ()) -> list[str]:
        """Return the files that an import in the file `path` may mean; mostly one or none."""
        found: dict[str, None] = {}
        for parts, near in _wanted(path, target):
            some = [name for name in names if name.isidentifier()]
            for wanted in (parts, *((*parts, name) for name in some)):
                found.update(dict.fromkeys(self._at(wanted, near, path)))
        return list(found)[:_MOST]

    def _at(self, parts: tuple[str, ...], near: bool, path: str) -> Iterator[str]:  # noqa: FBT001
        """Yield the files whose module's name is, or ends with, some parts."""
        if not parts:
            return
        for module, file in self._by_last.get(parts[-1], ()):
            if near:
                if module == parts:
                    yield file
            elif module[-len(parts) :] == parts and _fits(module, parts, path, file):
                yield file
        if near or len(parts) == 1 or not self._folders:
            return
        for folder, files in self._folders.items():
            if folder and (parts[-len(folder) :] == folder or folder[-len(parts) :] == parts):
                yield from files


def _fits(module: tuple[str, ...], parts: tuple[str, ...], path: str, file: str) -> bool:
    """Tell whether a name of one part may mean a file: not just any of that name."""
    if len(parts) > 1:
        return True
    above = module[: -len(parts)]
    return not set(above) - _SOURCE_ROOTS or posixpath.dirname(path) == posixpath.dirname(file)


def _wanted(path: str, target: str) -> Iterator[tuple[tuple[str, ...], bool]]:
    """Yield the parts of names that a target may mean, and whether they begin at the root."""
    folder = posixpath.dirname(path)
    text = target.strip().strip("\"'<>")
    if path.endswith((".py", ".pyi")):
        dots = len(text) - len(text.lstrip("."))
        parts = tuple(part for part in text[dots:].split(".") if part)
        if dots:
            above = folder.split("/") if folder else []
            base = above[: len(above) - (dots - 1)] if dots > 1 else above
            yield (*base, *parts), True
        else:
            yield parts, False
        return
    if text.startswith(("./", "../")) or text in {".", ".."}:
        joined = posixpath.normpath(posixpath.join(folder, text))
        if not joined.startswith(".."):
            yield _module(joined), True
        return
    if "/" in text or _SUFFIXES.search(text):
        yield _module(posixpath.normpath(posixpath.join(folder, text))), True
        yield _module(text.lstrip("/")), False
        return
    parts = tuple(part for part in re.split(r"::|[./\\:]", text) if part and part not in _OWN)
    yield parts, False
    if len(parts) > 1:  # the last part may be a name in the module
        yield parts[:-1], False


@lru_cache(maxsize=20_000)
def _module(path: str) -> tuple[str, ...]:
    """Return the parts of a module's name by its path, without suffix."""
    parts = tuple(_SUFFIXES.sub("", path).split("/"))
    package = _PACKAGE.get(path.rpartition(".")[2], ())
    return parts[:-1] if len(parts) > 1 and parts[-1] in package else parts


def module_name(path: str) -> str:
    """Return the dotted name of a file's module, from the root of the work tree."""
    return ".".join(_module(path))
