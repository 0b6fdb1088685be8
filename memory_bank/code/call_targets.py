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
"""Stands for these where the file that is imported is not found: enough for what a type extends."""

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

Named = Mapping[str, Sequence[SymbolRow]]
"""The symbols of one name, by file."""


class Caller(NamedTuple):
    """What calls."""

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
    """Return what a row of the table is as a caller."""
    if isinstance(row, IntentRow):
        return Caller(row.path, row.language, row.intent.symbol)
    symbol = row.symbol
    return Caller(row.path, row.language, symbol.qualified, symbol.signature, symbol.bases.split())


def language_family(language: str) -> str:
    """Return what is the same for two languages that call each other."""
    return _FAMILIES.get(language, language)


def may_call(language: str, row: SymbolRow, *, is_macro: bool) -> bool:
    """Tell whether a call in a language may mean a symbol, by its language and kind."""
    if language_family(row.language) != language_family(language):
        return False
    if language_family(language) == "script":
        return row.symbol.kind not in _DECLARED
    return language != "rust" or row.symbol.signature.startswith("macro_rules!") == is_macro


class _Call(NamedTuple):
    """A call, and what it may mean."""

    parts: Sequence[str]
    """The names of its path; what another call returned has `()`."""
    caller: Caller
    same: Named
    is_macro: bool = False

    def at(self, file: str) -> list[SymbolRow]:
        """Return the symbols of a file that it may mean."""
        return [row for row in self.same.get(file, ()) if self.may_mean(row)]

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

    def of(self, written: str, caller: Caller, rows: Named) -> Target | None:
        """Return what a call means, among the symbols of its name; None if that can't be told."""
        parts = _parts(written)
        if not all(parts):
            return None
        is_macro = caller.language == "rust" and parts[-1].endswith("!")
        parts[-1] = parts[-1].removesuffix("!") if is_macro else parts[-1]
        if parts[1:-1] == _NEW.get(caller.language):
            del parts[1]  # it returns an object of the type
        call = _Call(parts, caller, rows, is_macro)
        if "::" in written and parts[0] in _MODULES and caller.language == "rust":
            return self._of_module(call)
        if parts[0] in _BASE or parts[0] in _own(caller):
            two = len(parts) == 2  # noqa: PLR2004  (the object and the name)
            return self._of_object(call) if two else None
        if parts[0] in _parameters(caller) and "::" not in written:
            return None
        target = self._of_path(call)
        return target if target and target.how != _GUESSED else None

    def names_of(self, written: str, caller: Caller) -> set[str]:
        """Return the names that what is called may have, where it is defined or passed on."""
        plain = [part.removesuffix("()") for part in _parts(written)]
        name, names = plain[-1], self._imports.bindings(caller.path)
        all_names, files = {name}, tuple[str, ...]()
        for count in range(len(plain), 0, -1):
            if bound := names.get(".".join(plain[:count])):
                name = bound.name if count == len(plain) and bound.name else name
                files = bound.files
                break
        for _ in range(_MOST_STEPS):
            all_names.add(name)
            passed = (self._imports.bindings(file).get(name) for file in files)
            name, files = next(
                (binding for binding in passed if binding and binding.name),
                (name, ()),
            )
        return all_names

    def leaves(self, written: str, caller: Caller) -> bool:
        """Tell whether a call names what its file imports from outside this code."""
        plain = [part.removesuffix("()") for part in _parts(written)]
        if plain[0] in _parameters(caller):
            return False
        names = self._imports.bindings(caller.path)
        starts = (".".join(plain[:count]) for count in range(len(plain), 0, -1))
        bound = next((names[start] for start in starts if start in names), None)
        return bound is not None and not bound.files

    def base_methods(self, row: SymbolRow, rows: Named) -> list[SymbolRow]:
        """Return the methods that one overrides or implements, among the symbols of its name."""
        return self._inherited(row.symbol.name, read_caller(row), rows)

    def _of_object(self, call: _Call) -> Target | None:
        """Return the method of the object itself, or of what its type extends."""
        (word, name), caller = call.parts, call.caller
        for prefix in () if word in _BASE else filter(None, _enclosing_names(caller.inside)):
            for path in (caller.path, *_package(caller, call.same)):
                for row in call.at(path):
                    if row.symbol.qualified == f"{prefix}.{name}" and row.symbol.kind != "function":
                        return Target(row, SAME_FILE if path == caller.path else IMPORTED)
        inherited = self._inherited(name, caller, call.same)
        return Target(inherited[0], INHERITED) if inherited else None

    def _inherited(self, name: str, caller: Caller, rows: Named) -> list[SymbolRow]:
        """Return the methods of a name that the types have which the one around extends."""
        own = (caller.path, caller.inside.rpartition(".")[0])
        calls = (_Call([*_parts(base), name], caller, rows) for base in caller.bases)
        symbols = (target.symbol for target in map(self._of_path, calls) if target)
        return [
            row for row in symbols if row.symbol.kind == "method" and (row.path, _scope(row)) != own
        ]

    def _of_module(self, call: _Call) -> Target | None:
        """Return what a path means that starts at a module of the same crate."""
        path, (root, *_) = call.caller.path, call.parts
        rest = [part for part in call.plain if part not in _MODULES]
        is_near = root != "crate" or _stem(path) in _ROOTS
        if is_near and (here := _find_in_scopes(call, rest)):
            return Target(here, SAME_FILE)
        statement = Import("::".join(call.plain[:-1]), (call.parts[-1],), 0)
        for file in self._imports.files(path, statement):
            for start in range(len(rest)):
                if row := _single_symbol(self._exported(file, rest[start:], call)):
                    return Target(row, SAME_FILE if file == path else IMPORTED)
        return None

    def _of_path(self, call: _Call) -> Target | None:
        """Return what a name means, or a path from a type or module."""
        plain = call.plain
        if row := _find_in_scopes(call, plain):
            return Target(row, SAME_FILE)
        bindings = self._imports.bindings(call.caller.path)
        for count in range(len(plain), 0, -1):
            if bound := bindings.get(".".join(plain[:count])):
                return self._bound(bound, count, call)
        files = (*bindings["*"].files, *_package(call.caller, call.same))
        row = _single_symbol(
            exported for file in files for exported in self._exported(file, plain, call)
        )
        return Target(row, IMPORTED) if row else None

    def _bound(self, bound: Bound, count: int, call: _Call) -> Target | None:
        """Return what a call means of whose path the first parts are imported."""
        rest = call.plain[count:]
        own = [bound.name or call.plain[count - 1], *rest]
        tries = self._in_bound(bound, rest, call), self._at(bound.files, own, call)
        for row in map(_single_symbol, reversed(tries) if bound.name else tries):
            if row:
                return Target(row, IMPORTED)
        return _only_named(own, call) if bound.name and not bound.files else None

    def _in_bound(
        self, bound: Bound, rest: Sequence[str], call: _Call, entries: frozenset[str] = frozenset()
    ) -> list[SymbolRow]:
        """Return what a path means in the module that is imported by a name."""
        files = [file for file in bound.files if not bound.name or _is_module(file, bound.name)]
        return self._at(files, rest, call, entries) if rest else []

    def _at(
        self,
        files: Iterable[str],
        entries: Sequence[str],
        call: _Call,
        visited: frozenset[str] = frozenset(),
    ) -> list[SymbolRow]:
        return [row for file in files for row in self._exported(file, entries, call, visited)]

    def _exported(
        self, file: str, entries: Sequence[str], call: _Call, files: frozenset[str] = frozenset()
    ) -> list[SymbolRow]:
        """Return what other files find by a path in a file, also if that passes it on."""
        here = [row for row in call.at(file) if _is(row, entries)]
        if here or len(files) >= _MOST_STEPS or file in files:
            return here[:1]
        bindings, files = self._imports.bindings(file), files | {file}
        bound = bindings.get(entries[0])
        if bound is None:
            return self._at(bindings["*"].files, entries, call, files)
        passed = (
            self._at(bound.files, [bound.name, *entries[1:]], call, files) if bound.name else []
        )
        return passed or self._in_bound(bound, entries[1:], call, files)


def _parts(written: str) -> list[str]:
    return SEPARATOR.sub(".", written).split(".")


def _own(caller: Caller) -> Collection[str]:
    """Return the words for the object or class around a call."""
    match = _RECEIVER.match(caller.signature) if caller.language == "go" else None
    return {match[1]} if match else _OWN


def _parameters(caller: Caller) -> Collection[str]:
    """Return the names of a caller's parameters, which hide others."""
    text = _RECEIVER.sub("", caller.signature) if caller.language == "go" else caller.signature
    return frozenset(_PARAMETER.findall(text))


def _enclosing_names(inside: str) -> Iterator[str]:
    """Yield the names of the definitions around one, the innermost first, and of the file."""
    while inside:
        inside = inside.rpartition(".")[0]
        yield inside


def _package(caller: Caller, rows: Named) -> list[str]:
    """Return the other files of the caller's package that have symbols of a name."""
    if caller.language not in _PACKAGES:
        return []
    folder = posixpath.dirname(caller.path)
    return [path for path in rows if path != caller.path and posixpath.dirname(path) == folder]


def _find_in_scopes(call: _Call, path: Sequence[str]) -> SymbolRow | None:
    """Return what a path means in the definitions around a call, the innermost first."""
    inside, methods = call.caller.inside, call.caller.language in _IMPLICIT or len(path) > 1
    here = call.at(call.caller.path)
    rows = {
        row.symbol.qualified: row for row in here[::-1] if methods or row.symbol.kind != "method"
    }
    scopes = (
        ".".join(filter(None, (scope, *path))) for scope in (inside, *_enclosing_names(inside))
    )
    return next((rows[scope] for scope in scopes if scope in rows), None)


def _is(row: SymbolRow, entries: Sequence[str]) -> bool:
    """Tell whether a symbol has a path in its file."""
    if len(entries) == 1 and row.symbol.kind == "method":
        return False
    return row.symbol.qualified == ".".join(entries) or (
        row.language in _NAMESPACES and _ends(row, entries)
    )


def _ends(row: SymbolRow, entries: Sequence[str]) -> bool:
    return f".{row.symbol.qualified}".endswith(f".{'.'.join(entries)}")


def _only_named(entries: Sequence[str], call: _Call) -> Target | None:
    """Return the only symbol whose name ends with a path."""
    candidates = (row for rows in call.same.values() for row in rows if not row.test)
    target = _single_symbol(row for row in candidates if _ends(row, entries) and call.may_mean(row))
    return Target(target, _GUESSED) if target else None


def _single_symbol(rows: Iterable[SymbolRow]) -> SymbolRow | None:
    """Return the only one of some symbols; None if there are none or several."""
    by_name = {(row.path, row.symbol.qualified): row for row in rows}
    return next(iter(by_name.values())) if len(by_name) == 1 else None


def _is_module(path: str, name: str) -> bool:
    """Tell whether a file is a module of a name."""
    folder = posixpath.basename(posixpath.dirname(path))
    return _stem(path) == name or (_stem(path) in _FOLDERS and folder == name)


def _stem(path: str) -> str:
    return posixpath.basename(path).partition(".")[0]


def _scope(row: SymbolRow) -> str:
    """Return the qualified name of the type of a method."""
    return row.symbol.qualified.rpartition(".")[0]
