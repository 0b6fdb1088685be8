"""Find the symbol that a call means, by names alone: no type is known.

A name means what the language's scopes say: something of the definitions around the call, what the
file imports by that name, or what its package or the files that it takes whole have. A method is
found where it is called on the object itself, or on the name of its type. What is called on a value
has no type here, so it is not found.
"""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from memory_bank.base import NamedTuple, lazy_pattern
from memory_bank.code.imports import Bound, ImportTargets
from memory_bank.code.index.database import SEPARATOR, IntentRow, SymbolRow
from memory_bank.code.parse.parsed_file import Import

SAME_FILE, IMPORTED = "same file", "imported file"

INHERITED = "inherited"

HOW = (SAME_FILE, IMPORTED, INHERITED)
"""How a call was resolved, the surest first."""

_GUESSED = ""
"""Stands for one of HOW if the imported file was not found: good enough for what a type extends."""

_OWN = frozenset({"self", "this", "cls", "Self", "@", "$this", "static"})
"""Words for the object or class around a call."""

_BASE = frozenset({"super", "super()", "parent", "base"})
"""Words for what the class around a call extends."""

_MODULES = frozenset({"crate", "self", "super"})
"""Words of Rust for modules, before `::`."""

_PACKAGES = frozenset({"go", "java"})
"""Languages in which the files of a folder see each other's symbols."""

_IMPLICIT = frozenset({"java", "c_sharp", "cpp", "ruby"})
"""Languages in which a method may call another one of its class on nothing."""

_NAMESPACES = frozenset({"cpp", "c_sharp", "php", "ruby"})
"""Languages in which what is imported may be inside a namespace."""

_SCRIPTS = frozenset({"javascript", "typescript", "tsx"})

_FAMILIES = {**dict.fromkeys(_SCRIPTS, "script"), "c": "cpp"}

_DECLARED = frozenset({"interface", "type"})
"""Kinds of TypeScript that nothing calls."""

_RECEIVER = lazy_pattern(r"func \(\s*(\w+)\s")
"""The name of the object itself in a method of Go."""

_PARAMETER = lazy_pattern(
    r"[(,]\s*(?:\*{1,2}|\.\.\.|&|mut )?([a-zA-Z_$][\w$]*)(?=\s*[,:=)?]|\s+\w)"
)

_NEW = {"rust": ["new()"], "ruby": ["new"]}
"""The constructors of languages, as called on a type."""

_MOST_STEPS = 6
"""Files through which a name is followed that is imported to be passed on."""

_ROOTS = frozenset({"lib", "main"})
"""Names of files of Rust that are a crate."""

_FOLDERS = frozenset({"__init__", "index", "mod", "lib", "main"})
"""Names of files that stand for their folder."""

RowsByFile = Mapping[str, Sequence[SymbolRow]]
"""The symbols of one name, by file."""


class Caller(NamedTuple):
    """The function, test or file that a call is in."""

    path: str
    language: str
    inside: str
    """The qualified name of its function."""
    signature: str = ""
    bases: Collection[str] = ()


class Target(NamedTuple):
    """The symbol that a call means, and how that is known."""

    symbol: SymbolRow
    how: str
    """One of HOW."""


def read_caller(row: SymbolRow | IntentRow) -> Caller:
    """Return a row of the table as a caller."""
    if isinstance(row, IntentRow):
        return Caller(row.path, row.language, row.intent.symbol)
    symbol = row.symbol
    return Caller(row.path, row.language, symbol.qualified, symbol.signature, symbol.bases.split())


def language_family(language: str) -> str:
    """Return the name of the family of languages that call each other."""
    return _FAMILIES.get(language, language)


def may_call(language: str, row: SymbolRow, *, is_macro: bool) -> bool:
    """Tell whether a call in a language may mean a symbol, by its language and kind."""
    if language_family(row.language) != language_family(language):
        return False
    if language_family(language) == "script":
        return row.symbol.kind not in _DECLARED
    return language != "rust" or row.symbol.signature.startswith("macro_rules!") == is_macro


class _Call(NamedTuple):
    """A call, and the symbols of its name."""

    parts: Sequence[str]
    """The names of its path; what another call returned has `()`."""
    caller: Caller
    rows: RowsByFile
    """The symbols of its name, by file."""
    is_macro: bool = False

    def rows_in(self, file: str) -> list[SymbolRow]:
        """Return the symbols of a file that it may mean."""
        return [row for row in self.rows.get(file, ()) if self.may_mean(row)]

    def may_mean(self, row: SymbolRow) -> bool:
        """Tell whether it may mean a symbol of its name, by its language and kind."""
        return may_call(self.caller.language, row, is_macro=self.is_macro)

    @property
    def plain(self) -> Sequence[str]:
        """Its path without brackets."""
        return [part.removesuffix("()") for part in self.parts]


class CallTargets:
    """The symbols that calls mean, by one state of the imports."""

    def __init__(self, imports: ImportTargets) -> None:
        self._imports = imports

    def find(self, written: str, caller: Caller, rows: RowsByFile) -> Target | None:
        """Return the symbol that a call means, among those of its name; None if it is unclear."""
        parts = _split_name(written)
        if not rows or not all(parts):
            return None
        is_macro = caller.language == "rust" and parts[-1].endswith("!")
        parts[-1] = parts[-1].removesuffix("!") if is_macro else parts[-1]
        if parts[1:-1] == _NEW.get(caller.language):
            del parts[1]  # it returns an object of the type
        call = _Call(parts, caller, rows, is_macro)
        if "::" in written and parts[0] in _MODULES and caller.language == "rust":
            return self._find_in_module(call)
        if parts[0] in _BASE or parts[0] in _own_words(caller):
            is_method = len(parts) == 2  # noqa: PLR2004  (the object and the name)
            return self._find_on_object(call) if is_method else None
        if parts[0] in _list_parameters(caller) and "::" not in written:
            return None
        target = self._find_by_path(call)
        return target if target and target.how != _GUESSED else None

    def list_names(self, written: str, caller: Caller) -> set[str]:
        """Return the names that what is called may have, where it is defined or passed on."""
        parts = [part.removesuffix("()") for part in _split_name(written)]
        name, bindings = parts[-1], self._imports.bindings(caller.path)
        names, files = {name}, tuple[str, ...]()
        for count in range(len(parts), 0, -1):
            if binding := bindings.get(".".join(parts[:count])):
                name = binding.name if count == len(parts) and binding.name else name
                files = binding.files
                break
        for _ in range(_MOST_STEPS):
            names.add(name)
            exported = (self._imports.bindings(file).get(name) for file in files)
            name, files = next((bound for bound in exported if bound and bound.name), (name, ()))
        return names

    def leaves_code(self, written: str, caller: Caller) -> bool:
        """Tell whether a call names what its file imports from outside this code."""
        parts = [part.removesuffix("()") for part in _split_name(written)]
        if parts[0] in _list_parameters(caller):
            return False
        bindings = self._imports.bindings(caller.path)
        starts = (".".join(parts[:count]) for count in range(len(parts), 0, -1))
        binding = next((bindings[start] for start in starts if start in bindings), None)
        return binding is not None and not binding.files

    def list_base_methods(self, row: SymbolRow, rows: RowsByFile) -> list[SymbolRow]:
        """Return the methods that one overrides or implements, among the symbols of its name."""
        return self._list_inherited(row.symbol.name, read_caller(row), rows)

    def _find_on_object(self, call: _Call) -> Target | None:
        """Return the method of the object itself, or of what its type extends."""
        (receiver, name), caller = call.parts, call.caller
        scopes = () if receiver in _BASE else filter(None, _yield_enclosing_names(caller.inside))
        for prefix in scopes:
            for path in (caller.path, *_list_package_files(caller, call.rows)):
                for row in call.rows_in(path):
                    if row.symbol.qualified == f"{prefix}.{name}" and row.symbol.kind != "function":
                        return Target(row, SAME_FILE if path == caller.path else IMPORTED)
        inherited = self._list_inherited(name, caller, call.rows)
        return Target(inherited[0], INHERITED) if inherited else None

    def _list_inherited(self, name: str, caller: Caller, rows: RowsByFile) -> list[SymbolRow]:
        """Return the methods of a name in the types which the caller's type extends."""
        own_type = (caller.path, caller.inside.rpartition(".")[0])
        calls = (_Call([*_split_name(base), name], caller, rows) for base in caller.bases)
        symbols = (target.symbol for target in map(self._find_by_path, calls) if target)
        return [
            row
            for row in symbols
            if row.symbol.kind == "method"
            and (row.path, row.symbol.qualified.rpartition(".")[0]) != own_type
        ]

    def _find_in_module(self, call: _Call) -> Target | None:
        """Return what a path of Rust means that starts at a module of the same crate."""
        path, (root, *_) = call.caller.path, call.parts
        rest = [part for part in call.plain if part not in _MODULES]
        is_in_file = root != "crate" or _stem(path) in _ROOTS
        if is_in_file and (row := _find_in_scopes(call, rest)):
            return Target(row, SAME_FILE)
        statement = Import("::".join(call.plain[:-1]), (call.parts[-1],), 0)
        for file in self._imports.find_files(path, statement):
            for start in range(len(rest)):
                if row := _single_symbol(self._list_exported(file, rest[start:], call)):
                    return Target(row, SAME_FILE if file == path else IMPORTED)
        return None

    def _find_by_path(self, call: _Call) -> Target | None:
        """Return what a name means, or a path from a type or module."""
        plain = call.plain
        if row := _find_in_scopes(call, plain):
            return Target(row, SAME_FILE)
        bindings = self._imports.bindings(call.caller.path)
        for count in range(len(plain), 0, -1):
            if binding := bindings.get(".".join(plain[:count])):
                return self._find_bound(binding, count, call)
        files = (*bindings["*"].files, *_list_package_files(call.caller, call.rows))
        row = _single_symbol(self._list_exported_by(files, plain, call))
        return Target(row, IMPORTED) if row else None

    def _find_bound(self, binding: Bound, count: int, call: _Call) -> Target | None:
        """Return what a call means if the first `count` parts of its path are imported."""
        rest = call.plain[count:]
        path = [binding.name or call.plain[count - 1], *rest]
        as_module = self._list_in_bound(binding, rest, call)
        as_symbol = self._list_exported_by(binding.files, path, call)
        tries = (as_symbol, as_module) if binding.name else (as_module, as_symbol)
        for row in map(_single_symbol, tries):
            if row:
                return Target(row, IMPORTED)
        return _find_only_named(path, call) if binding.name and not binding.files else None

    def _list_in_bound(
        self,
        binding: Bound,
        rest: Sequence[str],
        call: _Call,
        visited: frozenset[str] = frozenset(),
    ) -> list[SymbolRow]:
        """Return what a path means in the module that a name is bound to."""
        name = binding.name
        files = [file for file in binding.files if not name or _is_module(file, name)]
        return self._list_exported_by(files, rest, call, visited) if rest else []

    def _list_exported_by(
        self,
        files: Iterable[str],
        path: Sequence[str],
        call: _Call,
        visited: frozenset[str] = frozenset(),
    ) -> list[SymbolRow]:
        return [row for file in files for row in self._list_exported(file, path, call, visited)]

    def _list_exported(
        self, file: str, path: Sequence[str], call: _Call, visited: frozenset[str] = frozenset()
    ) -> list[SymbolRow]:
        """Return what other files import by a path from a file, also what that only passes on."""
        rows = [row for row in call.rows_in(file) if _has_path(row, path)]
        if rows or len(visited) >= _MOST_STEPS or file in visited:
            return rows[:1]
        bindings, visited = self._imports.bindings(file), visited | {file}
        binding = bindings.get(path[0])
        if binding is None:
            return self._list_exported_by(bindings["*"].files, path, call, visited)
        reexported: list[SymbolRow] = []
        if binding.name:
            inner = [binding.name, *path[1:]]
            reexported = self._list_exported_by(binding.files, inner, call, visited)
        return reexported or self._list_in_bound(binding, path[1:], call, visited)


def _split_name(written: str) -> list[str]:
    return SEPARATOR.sub(".", written).split(".")


def _own_words(caller: Caller) -> Collection[str]:
    """Return the words for the object or class around a call."""
    match = _RECEIVER.match(caller.signature) if caller.language == "go" else None
    return {match[1]} if match else _OWN


def _list_parameters(caller: Caller) -> Collection[str]:
    """Return the names of a caller's parameters, which hide others."""
    text = _RECEIVER.sub("", caller.signature) if caller.language == "go" else caller.signature
    return frozenset(_PARAMETER.findall(text))


def _yield_enclosing_names(inside: str) -> Iterator[str]:
    """Yield the names of the definitions around one, the innermost first, and of the file."""
    while inside:
        inside = inside.rpartition(".")[0]
        yield inside


def _list_package_files(caller: Caller, rows: RowsByFile) -> list[str]:
    """Return the other files of the caller's package that have symbols of a name."""
    if caller.language not in _PACKAGES:
        return []
    folder = posixpath.dirname(caller.path)
    return [path for path in rows if path != caller.path and posixpath.dirname(path) == folder]


def _find_in_scopes(call: _Call, path: Sequence[str]) -> SymbolRow | None:
    """Return what a path means in the definitions around a call, the innermost first."""
    inside, with_methods = call.caller.inside, call.caller.language in _IMPLICIT or len(path) > 1
    rows = {
        row.symbol.qualified: row
        for row in reversed(call.rows_in(call.caller.path))
        if with_methods or row.symbol.kind != "method"
    }
    scopes = (
        ".".join(filter(None, (scope, *path)))
        for scope in (inside, *_yield_enclosing_names(inside))
    )
    return next((rows[scope] for scope in scopes if scope in rows), None)


def _has_path(row: SymbolRow, path: Sequence[str]) -> bool:
    """Tell whether a symbol has a path in its file."""
    if len(path) == 1 and row.symbol.kind == "method":
        return False
    return row.symbol.qualified == ".".join(path) or (
        row.language in _NAMESPACES and _ends_with_path(row, path)
    )


def _ends_with_path(row: SymbolRow, path: Sequence[str]) -> bool:
    return f".{row.symbol.qualified}".endswith(f".{'.'.join(path)}")


def _find_only_named(path: Sequence[str], call: _Call) -> Target | None:
    """Return the only symbol whose name ends with a path."""
    candidates = (row for rows in call.rows.values() for row in rows if not row.test)
    matching = (row for row in candidates if _ends_with_path(row, path) and call.may_mean(row))
    row = _single_symbol(matching)
    return Target(row, _GUESSED) if row else None


def _single_symbol(rows: Iterable[SymbolRow]) -> SymbolRow | None:
    """Return the symbol if the rows are of one only, else None."""
    rows_by_name = {(row.path, row.symbol.qualified): row for row in rows}
    return next(iter(rows_by_name.values())) if len(rows_by_name) == 1 else None


def _is_module(path: str, name: str) -> bool:
    """Tell whether a file is a module of a name."""
    folder = posixpath.basename(posixpath.dirname(path))
    return _stem(path) == name or (_stem(path) in _FOLDERS and folder == name)


def _stem(path: str) -> str:
    return posixpath.basename(path).partition(".")[0]
