"""Find the symbol that a call means, by names alone: no type is known.

A name means what the language's scopes say: something of the definitions around the call, what the
file imports by that name, or what its package or the files that it takes whole have. A method is
found where it is called on the object itself, or on the name of its type. What is called on a value
has no type here, so it is not found.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

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

_RECEIVER = re.compile(r"func \(\s*(\w+)\s")
"""The name of the object itself in a method of Go."""

_PARAMETER = re.compile(r"[(,]\s*(?:\*{1,2}|\.\.\.|&|mut )?([a-zA-Z_$][\w$]*)(?=\s*[,:=)?]|\s+\w)")

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


def caller_of(row: SymbolRow | IntentRow) -> Caller:
    """Return what a row of the table is as a caller."""
    if isinstance(row, IntentRow):
        return Caller(row.path, row.language, row.intent.symbol)
    one = row.symbol
    return Caller(row.path, row.language, one.qualified, one.signature, one.bases.split())


def family(language: str) -> str:
    """Return what is the same for two languages that call each other."""
    return _FAMILIES.get(language, language)


def may_call(language: str, one: SymbolRow, *, is_macro: bool) -> bool:
    """Tell whether a call in a language may mean a symbol, by its language and kind."""
    if family(one.language) != family(language):
        return False
    if family(language) == "script":
        return one.symbol.kind not in _DECLARED
    return language != "rust" or one.symbol.signature.startswith("macro_rules!") == is_macro


class _Call(NamedTuple):
    """A call, and what it may mean."""

    parts: Sequence[str]
    """The names of its path; what another call returned has `()`."""
    caller: Caller
    same: Named
    is_macro: bool = False

    def at(self, file: str) -> list[SymbolRow]:
        """Return the symbols of a file that it may mean."""
        return [one for one in self.same.get(file, ()) if self.may_mean(one)]

    def may_mean(self, one: SymbolRow) -> bool:
        """Tell whether it may mean a symbol of its name, by its language and kind."""
        return may_call(self.caller.language, one, is_macro=self.is_macro)

    @property
    def plain(self) -> Sequence[str]:
        """Its path without brackets."""
        return [part.removesuffix("()") for part in self.parts]


class CallTargets:
    """The symbols that calls mean, by one state of the imports."""

    def __init__(self, imports: ImportTargets) -> None:
        self._imports = imports

    def of(self, written: str, caller: Caller, same: Named) -> Target | None:
        """Return what a call means, among the symbols of its name; None if that can't be told."""
        parts = _parts(written)
        if not all(parts):
            return None
        is_macro = caller.language == "rust" and parts[-1].endswith("!")
        parts[-1] = parts[-1].removesuffix("!") if is_macro else parts[-1]
        if parts[1:-1] == _NEW.get(caller.language):
            del parts[1]  # it returns an object of the type
        call = _Call(parts, caller, same, is_macro)
        if "::" in written and parts[0] in _MODULES and caller.language == "rust":
            return self._of_module(call)
        if parts[0] in _BASE or parts[0] in _own(caller):
            two = len(parts) == 2  # noqa: PLR2004  (the object and the name)
            return self._of_object(call) if two else None
        if parts[0] in _parameters(caller) and "::" not in written:
            return None
        found = self._of_path(call)
        return found if found and found.how != _GUESSED else None

    def names_of(self, written: str, caller: Caller) -> set[str]:
        """Return the names that what is called may have, where it is defined or passed on."""
        plain = [part.removesuffix("()") for part in _parts(written)]
        name, names = plain[-1], self._imports.bindings(caller.path).names
        found, files = {name}, tuple[str, ...]()
        for count in range(len(plain), 0, -1):
            if bound := names.get(".".join(plain[:count])):
                name = bound.name if count == len(plain) and bound.name else name
                files = bound.files
                break
        for _ in range(_MOST_STEPS):
            found.add(name)
            passed = (self._imports.bindings(file).names.get(name) for file in files)
            name, files = next((one for one in passed if one and one.name), (name, ()))
        return found

    def leaves(self, written: str, caller: Caller) -> bool:
        """Tell whether a call names what its file imports from outside this code."""
        plain = [part.removesuffix("()") for part in _parts(written)]
        if plain[0] in _parameters(caller):
            return False
        names = self._imports.bindings(caller.path).names
        starts = (".".join(plain[:count]) for count in range(len(plain), 0, -1))
        bound = next((names[start] for start in starts if start in names), None)
        return bound is not None and not bound.files

    def base_methods(self, row: SymbolRow, same: Named) -> list[SymbolRow]:
        """Return the methods that one overrides or implements, among the symbols of its name."""
        return self._inherited(row.symbol.name, caller_of(row), same)

    def _of_object(self, call: _Call) -> Target | None:
        """Return the method of the object itself, or of what its type extends."""
        (word, name), caller = call.parts, call.caller
        for prefix in () if word in _BASE else filter(None, _around(caller.inside)):
            for path in (caller.path, *_package(caller, call.same)):
                for one in call.at(path):
                    if one.symbol.qualified == f"{prefix}.{name}" and one.symbol.kind != "function":
                        return Target(one, SAME_FILE if path == caller.path else IMPORTED)
        inherited = self._inherited(name, caller, call.same)
        return Target(inherited[0], INHERITED) if inherited else None

    def _inherited(self, name: str, caller: Caller, same: Named) -> list[SymbolRow]:
        """Return the methods of a name that the types have which the one around extends."""
        own = (caller.path, caller.inside.rpartition(".")[0])
        calls = (_Call([*_parts(base), name], caller, same) for base in caller.bases)
        found = (target.symbol for target in map(self._of_path, calls) if target)
        return [
            one for one in found if one.symbol.kind == "method" and (one.path, _scope(one)) != own
        ]

    def _of_module(self, call: _Call) -> Target | None:
        """Return what a path means that starts at a module of the same crate."""
        path, (root, *_) = call.caller.path, call.parts
        rest = [part for part in call.plain if part not in _MODULES]
        is_near = root != "crate" or _stem(path) in _ROOTS
        if is_near and (here := _in_scopes(call, rest)):
            return Target(here, SAME_FILE)
        one = Import("::".join(call.plain[:-1]), (call.parts[-1],), 0)
        for file in self._imports.files(path, one):
            for start in range(len(rest)):
                if found := _only(self._exported(file, rest[start:], call)):
                    return Target(found, SAME_FILE if file == path else IMPORTED)
        return None

    def _of_path(self, call: _Call) -> Target | None:
        """Return what a name means, or a path from a type or module."""
        plain = call.plain
        if found := _in_scopes(call, plain):
            return Target(found, SAME_FILE)
        bindings = self._imports.bindings(call.caller.path)
        for count in range(len(plain), 0, -1):
            if bound := bindings.names.get(".".join(plain[:count])):
                return self._bound(bound, count, call)
        files = (*bindings.whole, *_package(call.caller, call.same))
        found = _only(one for file in files for one in self._exported(file, plain, call))
        return Target(found, IMPORTED) if found else None

    def _bound(self, bound: Bound, count: int, call: _Call) -> Target | None:
        """Return what a call means of whose path the first parts are imported."""
        rest = call.plain[count:]
        own = [bound.name or call.plain[count - 1], *rest]
        tries = self._in_bound(bound, rest, call), self._at(bound.files, own, call)
        for found in map(_only, reversed(tries) if bound.name else tries):
            if found:
                return Target(found, IMPORTED)
        return _only_named(own, call) if bound.name and not bound.files else None

    def _in_bound(
        self, bound: Bound, rest: Sequence[str], call: _Call, seen: frozenset[str] = frozenset()
    ) -> list[SymbolRow]:
        """Return what a path means in the module that is imported by a name."""
        files = [one for one in bound.files if not bound.name or _is_module(one, bound.name)]
        return self._at(files, rest, call, seen) if rest else []

    def _at(
        self,
        files: Iterable[str],
        wanted: Sequence[str],
        call: _Call,
        seen: frozenset[str] = frozenset(),
    ) -> list[SymbolRow]:
        return [one for file in files for one in self._exported(file, wanted, call, seen)]

    def _exported(
        self, file: str, wanted: Sequence[str], call: _Call, seen: frozenset[str] = frozenset()
    ) -> list[SymbolRow]:
        """Return what other files find by a path in a file, also if that passes it on."""
        here = [one for one in call.at(file) if _is(one, wanted)]
        if here or len(seen) >= _MOST_STEPS or file in seen:
            return here[:1]
        bindings, seen = self._imports.bindings(file), seen | {file}
        bound = bindings.names.get(wanted[0])
        if bound is None:
            return self._at(bindings.whole, wanted, call, seen)
        passed = self._at(bound.files, [bound.name, *wanted[1:]], call, seen) if bound.name else []
        return passed or self._in_bound(bound, wanted[1:], call, seen)


def _parts(written: str) -> list[str]:
    return SEPARATOR.sub(".", written).split(".")


def _own(caller: Caller) -> Collection[str]:
    """Return the words for the object or class around a call."""
    found = _RECEIVER.match(caller.signature) if caller.language == "go" else None
    return {found[1]} if found else _OWN


def _parameters(caller: Caller) -> Collection[str]:
    """Return the names of a caller's parameters, which hide others."""
    given = _RECEIVER.sub("", caller.signature) if caller.language == "go" else caller.signature
    return frozenset(_PARAMETER.findall(given))


def _around(inside: str) -> Iterator[str]:
    """Yield the names of the definitions around one, the innermost first, and of the file."""
    while inside:
        inside = inside.rpartition(".")[0]
        yield inside


def _package(caller: Caller, same: Named) -> list[str]:
    """Return the other files of the caller's package that have symbols of a name."""
    if caller.language not in _PACKAGES:
        return []
    folder = posixpath.dirname(caller.path)
    return [path for path in same if path != caller.path and posixpath.dirname(path) == folder]


def _in_scopes(call: _Call, path: Sequence[str]) -> SymbolRow | None:
    """Return what a path means in the definitions around a call, the innermost first."""
    inside, methods = call.caller.inside, call.caller.language in _IMPLICIT or len(path) > 1
    here = call.at(call.caller.path)
    named = {
        one.symbol.qualified: one for one in here[::-1] if methods or one.symbol.kind != "method"
    }
    scopes = (".".join(filter(None, (one, *path))) for one in (inside, *_around(inside)))
    return next((named[one] for one in scopes if one in named), None)


def _is(one: SymbolRow, wanted: Sequence[str]) -> bool:
    """Tell whether a symbol has a path in its file."""
    if len(wanted) == 1 and one.symbol.kind == "method":
        return False
    return one.symbol.qualified == ".".join(wanted) or (
        one.language in _NAMESPACES and _ends(one, wanted)
    )


def _ends(one: SymbolRow, wanted: Sequence[str]) -> bool:
    return f".{one.symbol.qualified}".endswith(f".{'.'.join(wanted)}")


def _only_named(wanted: Sequence[str], call: _Call) -> Target | None:
    """Return the only symbol whose name ends with a path."""
    some = (one for rows in call.same.values() for one in rows if not one.test)
    found = _only(one for one in some if _ends(one, wanted) and call.may_mean(one))
    return Target(found, _GUESSED) if found else None


def _only(some: Iterable[SymbolRow]) -> SymbolRow | None:
    """Return the only one of some symbols; None if there are none or several."""
    found = {(one.path, one.symbol.qualified): one for one in some}
    return next(iter(found.values())) if len(found) == 1 else None


def _is_module(path: str, name: str) -> bool:
    """Tell whether a file is a module of a name."""
    folder = posixpath.basename(posixpath.dirname(path))
    return _stem(path) == name or (_stem(path) in _FOLDERS and folder == name)


def _stem(path: str) -> str:
    return posixpath.basename(path).partition(".")[0]


def _scope(one: SymbolRow) -> str:
    """Return the qualified name of the type of a method."""
    return one.symbol.qualified.rpartition(".")[0]
