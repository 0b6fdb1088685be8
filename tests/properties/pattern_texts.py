"""Every regular expression of the package, and texts on which each may take long."""

import ast
import importlib
import pkgutil
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any, NamedTuple

import memory_bank
from memory_bank.base import _Pattern
from memory_bank.notes.secrets import placeholders, secret_places
from memory_bank.sessions.compression import sentences

METHODS = ("match", "fullmatch", "search", "finditer", "findall", "sub", "subn", "split")
ANCHORED = ("match", "fullmatch")
"""Methods that try one place of the text only."""

MATCHED_ROWS = ("programs.toml: name", "programs.toml: error")
"""Tables whose rows are each matched with the beginning of a line."""

PACKAGE = Path(memory_bank.__file__).parent

_MEMBERS = "a_1 \t\n#$-.,:;/\\()[]{}<>|=*+!?\"'`@%&~^éZs"
"""Characters of which a class may have some."""

_MOST_UNITS = 40


class Named(NamedTuple):
    """A pattern with its place, and the methods by which it is used."""

    name: str
    text: str
    flags: int
    methods: tuple[str, ...]


def patterns() -> list[Named]:
    """Return the patterns that modules of the package have, and those written where they are used."""
    sources = {path: path.read_text() for path in PACKAGE.rglob("*.py")}
    used: dict[str, set[str]] = {}
    for path, source in sources.items():
        for name, method in re.findall(rf"\b(\w+)\.({'|'.join(METHODS)})\b", source):
            used.setdefault(name, set()).add(method)
            used.setdefault(f"{path}:{name}", set()).add(method)
    by_text: dict[tuple[str, int], Named] = {}
    for module in _modules():
        file = sys.modules[module].__file__ or ""
        for variable, value in vars(sys.modules[module]).items():
            for text, flags in _texts_of(value):
                names = [variable, *_loop_names(variable, sources[Path(file)])]
                methods = set[str]().union(*(used.get(f"{file}:{name}", ()) for name in names))
                methods = methods or used.get(variable) or {"finditer"}
                at = module.removeprefix("memory_bank.")
                by_text.setdefault(
                    (text, flags), Named(f"{at}.{variable}", text, flags, tuple(methods))
                )
    call = re.compile(rf"""\bcompile_rule\("(\w+)"\)\.({"|".join(METHODS)})\b""")
    calls = {found for source in sources.values() for found in call.findall(source)}
    for at, compiled in _of_tables():
        methods = {method for kind, method in calls if kind == at.rpartition(" ")[2]}
        if at in MATCHED_ROWS:
            methods = {"match"}
        flags = compiled.flags & ~re.UNICODE
        named = Named(at, compiled.pattern, flags, tuple(methods or ["finditer"]))
        by_text.setdefault((named.text, named.flags), named)
    for path, source in sources.items():
        for number, method, text in _inline(source):
            named = Named(f"{path.relative_to(PACKAGE)}:{number}", text, 0, (method,))
            by_text.setdefault((text, 0), named)
    return list(by_text.values())


def _modules() -> Iterator[str]:
    for found in pkgutil.walk_packages(memory_bank.__path__, "memory_bank."):
        if not found.name.endswith("__main__"):
            importlib.import_module(found.name)
            yield found.name


def _loop_names(variable: str, source: str) -> list[str]:
    """Return what the elements of a table of patterns are called where it is looped over."""
    targets = re.findall(rf"\bfor ([\w, ()]+) in [^\n]*\b{variable}\b", source)
    return [name for target in targets for name in re.findall(r"\w+", target)]


def _of_tables() -> Iterator[tuple[str, re.Pattern[str]]]:
    """Yield the patterns of data files, each with what it is for."""
    for one in placeholders.read_formats():
        yield f"secrets.json: {one.kind}", placeholders.compile_format(one.pattern)
    for kind, _, pattern, _ in secret_places._places():
        yield f"secrets.json: {kind}", pattern
    for word, _, _, gap in secret_places._labels():
        yield f"secrets.json: {word}", gap
    for file in sentences.TABLES:
        for kind, value in sentences.read_table(file).items():
            if isinstance(value, list) and value and "pattern" in value[0]:
                yield from ((f"{file}: {kind}", one) for _, one in sentences.compile_rows(kind))


def _texts_of(value: object) -> Iterator[tuple[str, int]]:
    if isinstance(value, _Pattern):
        text, flags = value._given
        yield text if isinstance(text, str) else text.decode("latin-1"), flags
    elif isinstance(value, re.Pattern):
        yield value.pattern, value.flags & ~re.UNICODE
    elif isinstance(value, dict):
        yield from _texts_of(tuple(value.values()))
    elif isinstance(value, (list, tuple, set, frozenset)):
        for item in value:
            yield from _texts_of(item)


def _inline(source: str) -> Iterator[tuple[int, str, str]]:
    """Yield line, method and text of the patterns that are given to functions of `re`."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id="re"), attr=method),
                args=[ast.Constant(value=str(text)), *_],
            ) if method in METHODS:
                yield node.lineno, method, text


def run(named: Named) -> Callable[[str], object]:
    """Return what applies a pattern to a text as the package does, at its most expensive."""
    compiled = re.compile(named.text, named.flags)
    if set(named.methods) <= set(ANCHORED):
        return lambda text: [getattr(compiled, method)(text) for method in named.methods]
    return lambda text: sum(1 for _ in compiled.finditer(text))


def texts(named: Named) -> list[Callable[[int], str]]:
    """Return what makes texts of a length: a beginning, a unit of the pattern again and again, an end.

    Units are samples of what the pattern repeats, of its beginnings, and of two characters that one
    of its classes has; the end is what the pattern can't have there.
    """
    tree = parser.parse(named.text, named.flags)
    makers: dict[tuple[str, str], None] = {("", _sample(tree)): None}
    for before, unit in _repeated(tree, ""):
        for start in dict.fromkeys(("", before)):
            makers.setdefault((start, unit), None)
    chosen = [pair for pair in makers if pair[1]][:_MOST_UNITS]
    return [
        lambda size, start=start, unit=unit, end=end: start + unit * (size // len(unit)) + end
        for start, unit in chosen
        for end in ("\0", "\n!")
    ]


def _repeated(tree: Any, before: str) -> Iterator[tuple[str, str]]:
    """Yield what stands before each repetition of a pattern, and what may be repeated."""
    for kind, value in tree:
        if kind in {op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT}:
            _, most, body = value
            if most > 50:
                yield from ((before, unit) for unit in _units(body))
                yield before, before + _sample(body) if before else _sample(body)
            yield from _repeated(body, before)
        elif kind is op.SUBPATTERN:
            yield from _repeated(value[3], before)
        elif kind is op.BRANCH:
            for branch in value[1]:
                yield before, _sample(branch)
                yield from _repeated(branch, before)
        elif kind in {op.ASSERT, op.ASSERT_NOT}:
            yield from _repeated(value[1], before)
        elif kind is op.ATOMIC_GROUP:
            yield from _repeated(value, before)
        before += _sample([(kind, value)])


def _units(body: Any) -> Iterator[str]:
    yield _sample(body)
    if len(body) == 1 and body[0][0] in {op.IN, op.ANY, op.NOT_LITERAL, op.CATEGORY}:
        members = _members(body[0])
        yield from members
        yield from (f"{members[0]}{member}" for member in members[1:])
    elif len(body) == 1 and body[0][0] is op.BRANCH:
        yield from map(_sample, body[0][1][1])


def _members(node: Any) -> list[str]:
    kind, value = node
    if kind is op.LITERAL:
        return [chr(value)]
    if kind is op.ANY:
        return ["a", " ", "."]
    if kind is op.NOT_LITERAL:
        return [char for char in _MEMBERS if ord(char) != value][:3]
    items = value if kind is op.IN else [node]
    negated = bool(items) and items[0][0] is op.NEGATE
    has = [char for char in _MEMBERS if any(_has(item, char) for item in items)]
    if negated:
        return [char for char in _MEMBERS if char not in has] or ["ß"]
    for item, at in items:
        if item is op.LITERAL:
            has.append(chr(at))
        elif item is op.RANGE:
            has.append(chr(at[0]))
    return list(dict.fromkeys(has)) or ["a"]


def _has(item: Any, char: str) -> bool:
    kind, value = item
    if kind is op.LITERAL:
        return bool(ord(char) == value)
    if kind is op.RANGE:
        return bool(value[0] <= ord(char) <= value[1])
    if kind is op.CATEGORY:
        yes = {
            op.CATEGORY_DIGIT: char.isdigit(),
            op.CATEGORY_SPACE: char.isspace(),
            op.CATEGORY_WORD: char.isalnum() or char == "_",
        }
        no = {
            op.CATEGORY_NOT_DIGIT: not char.isdigit(),
            op.CATEGORY_NOT_SPACE: not char.isspace(),
            op.CATEGORY_NOT_WORD: not (char.isalnum() or char == "_"),
        }
        return bool((yes | no)[value])
    return False


def _sample(tree: Any) -> str:
    """Return a short text that a pattern may match, without what is around it."""
    return "".join(map(_sample_of, tree))


def _sample_of(node: Any) -> str:
    kind, value = node
    if kind in {op.LITERAL, op.NOT_LITERAL, op.ANY, op.IN}:
        return _members(node)[0]
    if kind in {op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT}:
        least, most, body = value
        return _sample(body) * min(max(least, 1), int(most), 50)
    if kind is op.SUBPATTERN:
        return _sample(value[3])
    if kind is op.BRANCH:
        return _sample(value[1][0])
    if kind is op.ATOMIC_GROUP:
        return _sample(value)
    return ""
