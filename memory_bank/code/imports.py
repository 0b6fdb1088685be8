"""The files of a work tree that import each other, with the names that they take.

By names alone, as no build is run: what is found may be wrong where a build file moves names, and
an import of a whole package (Go, C#, `*` in Java) means each of its files.
"""

from __future__ import annotations

import posixpath
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cached_property

from memory_bank.base import NamedTuple, lazy_pattern
from memory_bank.code.index.symbol_table import SymbolTable
from memory_bank.code.parse.parsed_file import Import

_MOST_OF_PACKAGE = 20
"""Number of files above which an import of a whole package makes none of them a neighbour."""

_SCRIPTS = (
    ".js", ".ts", ".tsx", ".jsx", ".mjs", ".cjs", ".mts", ".cts", ".d.ts", ".json", ".vue",
    ".svelte",
)  # fmt: skip

_RUBY_ROOTS = frozenset({"", "lib", "test", "spec", "app"})

_GO_MODULE = lazy_pattern(r"^module\s+\"?([^\s\"]+)", re.MULTILINE)

_CRATE = lazy_pattern(r"^[ \t]*name[ \t]*=[ \t]*\"([^\"\n]+)\"", re.MULTILINE)

Read = Callable[[str], str]
"""Returns the text of a file, empty if it can't be read."""


class Imports:
    """The files that imports mean: those of a repository by name, folder, module and crate."""

    def __init__(self, files: Collection[str], read: Read = lambda _: "") -> None:
        """Look among `files`; `read` is asked for each `go.mod` and `Cargo.toml`."""
        self._files = frozenset(files)
        self._named = defaultdict[str, list[str]](list)
        self._folders = defaultdict[str, list[str]](list)
        self.modules: dict[str, str] = {}
        """Go modules: their folders by their paths."""
        self.crates: dict[str, str] = {}
        """Rust crates: their folders by their names as written in code."""
        for path in sorted(self._files):
            folder, name = posixpath.split(path)
            self._named[name].append(path)
            self._folders[folder].append(path)
            if name == "go.mod" and (match := _GO_MODULE.search(read(path))):
                self.modules[match[1]] = folder
            elif name == "Cargo.toml" and (match := _CRATE.search(read(path))):
                self.crates[match[1].replace("-", "_")] = folder

    def find_files(self, path: str, statement: Import) -> list[str]:
        """Return the files that an import in the file `path` means; often none."""
        rule = _RULES.get(posixpath.splitext(path)[1].lower())
        resolved = rule(self, path, statement) if rule else ()
        return [file for file in dict.fromkeys(resolved) if file != path]

    def find_first(self, *paths: str) -> list[str]:
        """Return the first of some paths that exists, if any."""
        return next(([path] for path in map(posixpath.normpath, paths) if path in self._files), [])

    def yield_roots(self, tail: str) -> Iterator[str]:
        """Yield the folders below which a path exists."""
        for path in self._named.get(posixpath.basename(tail), ()):
            if path == tail:
                yield ""
            elif path.endswith(f"/{tail}"):
                yield path[: -len(tail) - 1]

    def find_nearest(self, tail: str, path: str) -> list[str]:
        """Return the file with this end that shares most of its path with another, if any."""
        roots = sorted(self.yield_roots(tail), key=lambda root: -_count_shared_folders(root, path))
        return [posixpath.join(roots[0], tail)] if roots else []

    def list_package(self, folder: str, suffix: str) -> list[str]:
        """Return the files of a folder with a suffix."""
        return [path for path in self._folders.get(folder, ()) if path.endswith(suffix)]

    def list_folders(self, tail: str) -> list[str]:
        """Return the folders whose path has this end."""
        return [folder for folder in self._folders if folder == tail or folder.endswith(f"/{tail}")]


def _count_shared_folders(folder: str, path: str) -> int:
    """Return the length of the folders that two paths share."""
    return len(posixpath.commonpath([folder, path])) if folder and path else 0


def _python(index: Imports, path: str, statement: Import) -> Iterator[str]:
    module = statement.target.lstrip(".")
    level = len(statement.target) - len(module)
    tail = module.replace(".", "/")
    if level:
        folder = path
        for _ in range(level):
            folder = posixpath.dirname(folder)
        base = posixpath.join(folder, tail)
    else:
        if module.partition(".")[0] in sys.stdlib_module_names:
            return
        tails = [
            f"{tail}.py",
            f"{tail}/__init__.py",
            *(f"{tail}/{name}.py" for name in statement.names),
        ]
        roots = {root: None for end in tails for root in index.yield_roots(end)}
        # below a package, the module would have a longer name
        top_roots = [
            root for root in roots if not index.find_first(posixpath.join(root, "__init__.py"))
        ]
        if not top_roots:
            return
        base = posixpath.join(
            max(top_roots, key=lambda root: _count_shared_folders(root, path)), tail
        )
    takes_all = not statement.names
    for name in statement.names:
        submodule = index.find_first(f"{base}/{name}.py", f"{base}/{name}/__init__.py")
        takes_all |= not submodule
        yield from submodule
    if takes_all:
        yield from index.find_first(f"{base}.py", f"{base}/__init__.py", f"{base}.pyi")


def _script(index: Imports, path: str, statement: Import) -> Iterator[str]:
    target = statement.target.partition("?")[0]
    if target.startswith(("@/", "~/")):
        bases = [posixpath.join(root, target[2:]) for root in ("src", "")]
    elif target.startswith("."):
        bases = [posixpath.join(posixpath.dirname(path), target)]
    else:
        return
    for base in map(posixpath.normpath, bases):
        stem, suffix = posixpath.splitext(base)
        candidates = [base, *(base + end for end in _SCRIPTS)]
        candidates += [
            stem + end for end in _SCRIPTS if suffix in _SCRIPTS
        ]  # `.js` of a TypeScript file
        candidates += [f"{base}/index{end}" for end in _SCRIPTS]
        yield from index.find_first(*candidates)


def _go(index: Imports, _: str, statement: Import) -> Iterator[str]:
    for module, folder in index.modules.items():
        if statement.target == module or statement.target.startswith(f"{module}/"):
            inner = statement.target[len(module) + 1 :]
            package = posixpath.join(folder, inner) if inner else folder
            yield from (
                file
                for file in index.list_package(package.rstrip("/"), ".go")
                if not file.endswith("_test.go")
            )


def _rust(index: Imports, path: str, statement: Import) -> Iterator[str]:
    target = statement.target.removeprefix("mod ").partition("{")[0]
    parts = [part.strip() for part in target.split("::") if part.strip() not in {"", "*"}]
    folder, name = posixpath.split(path)
    inner = folder if name in {"mod.rs", "lib.rs", "main.rs"} else path.removesuffix(".rs")
    crate = path[: path.rindex("/src/") + 4] if "/src/" in path else "src"
    crate = crate if path.startswith(f"{crate}/") else folder
    if not parts:
        return
    first, is_known = parts[0], True
    if first == "crate":
        bases, parts = [crate], parts[1:]
    elif first in {"self", "super"}:
        bases = [inner]
        while parts and parts[0] in {"self", "super"}:
            bases = [posixpath.dirname(bases[0])] if parts.pop(0) == "super" else bases
    elif first in index.crates:
        bases, parts = [posixpath.join(index.crates[first], "src")], parts[1:]
    else:
        bases, is_known = [inner, folder], False
    for names in ([*parts, name] for name in statement.names or ("",)):
        tails = ["/".join(names[:count]) for count in range(len(names), 0, -1)]
        stems = [posixpath.join(base, tail) for tail in tails for base in bases if tail]
        files = [file for stem in stems for file in (f"{stem}.rs", f"{stem}/mod.rs")]
        if is_known:  # the last parts are names in the module
            base = bases[0]
            files += [path] if base == inner else []
            files += [f"{base}.rs", f"{base}/mod.rs", f"{base}/lib.rs", f"{base}/main.rs"]
        yield from index.find_first(*files)


def _java(index: Imports, path: str, statement: Import) -> Iterator[str]:
    suffix = posixpath.splitext(path)[1]
    parts = statement.target.removeprefix("static ").split(".")
    if parts[-1] == "*" or "*" in statement.names:
        package = "/".join(part for part in parts if part != "*")
        for folder in index.list_folders(package):
            yield from index.list_package(folder, suffix)
    tails = ["/".join([*parts, name]) for name in statement.names]
    tails += ["/".join(parts[:count]) for count in range(len(parts), 1, -1)]  # nested, or static
    for tail in tails:
        if nearest := index.find_nearest(f"{tail}{suffix}", path):
            yield from nearest
            return


def _c(index: Imports, path: str, statement: Import) -> Iterator[str]:
    target = statement.target.strip('"<>')
    neighbour = index.find_first(posixpath.join(posixpath.dirname(path), target))
    yield from neighbour or index.find_nearest(target.lstrip("./"), path)


def _ruby(index: Imports, path: str, statement: Import) -> Iterator[str]:
    target = statement.target.removesuffix(".rb") + ".rb"
    neighbour = index.find_first(posixpath.join(posixpath.dirname(path), target))
    if neighbour or target.startswith("."):
        yield from neighbour
        return
    roots = [root for root in index.yield_roots(target) if posixpath.basename(root) in _RUBY_ROOTS]
    if roots:
        yield posixpath.join(max(roots, key=lambda root: _count_shared_folders(root, path)), target)


def _php(index: Imports, path: str, statement: Import) -> Iterator[str]:
    if statement.target.endswith(".php"):
        yield from index.find_first(
            posixpath.join(posixpath.dirname(path), statement.target.lstrip("/"))
        )
        return
    parts = [part for part in statement.target.split("\\") if part]
    for names in ([*parts, name] for name in statement.names or ("",)):
        class_names = [name for name in names if name]
        for start in range(max(1, len(class_names) - 1)):  # the first parts may be the vendor's
            if nearest := index.find_nearest("/".join(class_names[start:]) + ".php", path):
                yield from nearest
                break


def _csharp(index: Imports, _: str, statement: Import) -> Iterator[str]:
    parts = statement.target.split(".")
    for start in range(len(parts)):  # the first parts may be the project's
        if folders := index.list_folders("/".join(parts[start:])):
            for folder in folders:
                yield from index.list_package(folder, ".cs")
            return


def _shell(index: Imports, path: str, statement: Import) -> Iterator[str]:
    target = statement.target.strip("\"'")
    yield from index.find_first(posixpath.join(posixpath.dirname(path), target), target)


_Rule = Callable[[Imports, str, Import], Iterable[str]]

_BY_RULE: Mapping[_Rule, str] = {
    _python: ".py .pyi",
    _script: ".js .jsx .mjs .cjs .ts .tsx .mts .cts .vue .svelte",
    _go: ".go",
    _rust: ".rs",
    _java: ".java .kt .scala",
    _c: ".c .h .cc .cpp .cxx .hh .hpp .hxx .m .mm",
    _ruby: ".rb .rake",
    _php: ".php",
    _csharp: ".cs",
    _shell: ".sh .bash",
}

_RULES = {suffix: rule for rule, suffixes in _BY_RULE.items() for suffix in suffixes.split()}


class Bound(NamedTuple):
    """What a name means in a file that imports it."""

    name: str
    """What it is called where it comes from; empty for all of a file."""
    files: tuple[str, ...]
    """Where it comes from; none if that is not in the repository, or is not found."""


class ImportTargets:
    """The imports of one state of the table as files."""

    def __init__(self, table: SymbolTable) -> None:
        self._table = table
        self._bindings: dict[str, dict[str, Bound]] = {}

    @cached_property
    def graph(self) -> dict[str, dict[str, frozenset[str]]]:
        """The files that each file imports, with the names that it takes from them.

        A whole package of many files is left out: what is taken is not from each of them.
        """
        graph: dict[str, dict[str, frozenset[str]]] = {}
        for path, imported in self._table.imports():
            files = self._imports.find_files(path, imported)
            if imported.names in ((), ("*",)) and len(files) > _MOST_OF_PACKAGE:
                continue
            for file in files:
                targets = graph.setdefault(path, {})
                targets[file] = targets.get(file, frozenset()) | frozenset(imported.names)
        return graph

    def find_files(self, path: str, statement: Import) -> list[str]:
        """Return the files that an import in a file means."""
        return self._imports.find_files(path, statement)

    def bindings(self, path: str) -> dict[str, Bound]:
        """Return what the names mean that a file imports; `*` is all of `from a import *`."""
        if path not in self._bindings:
            names: dict[str, Bound] = {}
            star_files: dict[str, None] = {}
            for statement in self._table.imports_of(path):
                if statement.names in ((), ("*",)):
                    files = tuple(self._imports.find_files(path, statement))
                    names.update(dict.fromkeys(filter(None, statement.bound), Bound("", files)))
                    star_files.update(dict.fromkeys(files if not statement.bound else ()))
                    continue
                for name, bound in zip(
                    statement.names, statement.bound or statement.names, strict=False
                ):
                    single = statement._replace(names=(name,), bound=())
                    names[bound] = Bound(name, tuple(self._imports.find_files(path, single)))
            self._bindings[path] = {**names, "*": Bound("", tuple(star_files))}
        return self._bindings[path]

    def aliases(self, name: str) -> set[str]:
        """Return the names by which files import something of a name, and that one."""
        names, waiting = {name}, [name]
        while waiting:
            for renamed in self._renamed.get(waiting.pop(), ()):
                if renamed not in names:
                    names.add(renamed)
                    waiting.append(renamed)
        return names

    @cached_property
    def _renamed(self) -> dict[str, set[str]]:
        names: dict[str, set[str]] = {}
        for _, statement in self._table.imports():
            for name, bound in zip(statement.names, statement.bound, strict=False):
                names.setdefault(name, set()).add(bound)
        return names

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
        importers: dict[str, list[str]] = {}
        for path, imported in self.graph.items():
            for file in imported:
                importers.setdefault(file, []).append(path)
        return importers

    def _read(self, path: str) -> str:
        file = self._table.tree.read(path)
        return "" if file is None else file.data.decode("utf-8", "replace")
