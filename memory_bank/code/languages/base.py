"""The rules of programming languages, by which the parser finds symbols, imports and tests."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from memory_bank.base import NamedTuple, lazy_pattern, plugins, shorten
from memory_bank.code.parse.parsed_file import Import

if TYPE_CHECKING:
    from tree_sitter import Node


_BLANKS = lazy_pattern(r"\s+")

_IDENTIFIER_PART = lazy_pattern(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_a-zA-Z]+")

_CALLED = lazy_pattern(
    r"[\w$@]+(?:(?:[?!&]?\.|::|\??->)[\w$]+(?:!(?!\.)|\?(?!\.|->))?)*+$|[\w$]+[?!]$"
)

_MAKER = lazy_pattern(r"(?:^|[.:>])(?:[A-Z][\w$]*|new|super)$")
"""Names of types, and words for what a type returns or extends."""

_LAYOUT = lazy_pattern(r" (?=[.?:-])|(?<=[.>:]) ")

_GENERIC = lazy_pattern(r"(?:::)?<[^<>]*>\s*$")

EMPTY: Mapping[str, Any] = {}

MOST_TEXT = 300
"""Characters of a signature, a call or a title that are kept."""


def text_of(node: Node | None) -> str:
    """Return the text of a node; empty for None."""
    return "" if node is None or node.text is None else node.text.decode("utf-8", "replace")


class Case(NamedTuple):
    """A node that is a test, or a group of tests."""

    title: str
    framework: str
    group: bool = False
    """Whether it is only a group of tests."""
    inner: bool = False
    """Whether it is a test only inside another one, such as the row of a table."""
    last: Node | None = None
    """Where it ends, if not with its own node."""


class Rules(NamedTuple):
    """The rules of one language. Functions get a node each, and return None or nothing for most."""

    name: str
    suffixes: tuple[str, ...]
    grammar: str
    """The module of its grammar."""
    symbols: tuple[str, ...]
    """Files of the queries of its symbols, or modules beside which they are; see
    `parse/syntax_tree.py`."""
    calls: Mapping[str, str | Callable[[Node], str]]
    """Types of nodes that call something, with the field of its name or a function for it."""
    marks: frozenset[str] = frozenset()
    """Types of nodes above a definition that belong to it, such as attributes."""
    attributes: frozenset[str] = frozenset()
    """Types of nodes at the start of a definition that are no part of its signature."""
    really: Callable[[bytes], str] = lambda _: ""
    """Returns the language whose rules read a file, by its content; empty for this one."""
    readable: Callable[[bytes], bytes] | None = None
    """Returns the bytes of a file, as many, without what the grammar does not know."""
    entry: str = "language"
    """The function of the grammar's module which returns it."""
    names: tuple[str, ...] = ()
    """Names of files without a suffix."""
    programs: tuple[str, ...] = ()
    """Interpreters that a first line `#!` may name."""
    name_of: Callable[[Node], str] = text_of
    """Returns the name that a node means which the query captures; empty if it defines nothing."""
    alone: frozenset[str] = frozenset()
    """Types of nodes around a definition that belong to it if they declare nothing else."""
    wrappers: frozenset[str] = frozenset()
    """Types of nodes around a definition that belong to it, such as decorators and `export`."""
    comments: frozenset[str] = frozenset(["comment"])
    inner_doc: Callable[[Node], str | None] = lambda _: None
    """Returns the doc text inside a definition, or of the whole file; None if it has none."""
    no_code: Mapping[str, Callable[[Node], bool]] = EMPTY
    """Types of nodes that may be documentation, with a function that tells."""
    blocks: frozenset[str] = frozenset()
    """Types of nodes that only their layout shows."""
    quotes: frozenset[str] = frozenset()
    """Types of leaves that open or close a text, whose form says nothing."""
    leaves: frozenset[str] = frozenset()
    """Types of nodes whose text is one token, whatever is inside."""
    literals: Mapping[str, Callable[[Node], Sequence[str]]] = EMPTY
    """Types of texts and numbers that may be written in several ways, with a function that returns
    the tokens of their value; none to read them as written."""
    optional: frozenset[str] = frozenset()
    """Tokens that formatters add or drop, such as semicolons of JavaScript."""
    bases: frozenset[str] = frozenset()
    """Fields or types of the children of a type that say what it extends or implements."""
    imports: Mapping[str, Callable[[Node], Iterable[Import]]] = EMPTY
    """Types of nodes that import something, with a function that returns it."""
    tests: Mapping[str, Callable[[Node], Case | None]] = EMPTY
    """Types of nodes that may be tests or groups of tests, with a function that returns them."""
    test_files: re.Pattern[str] | None = None
    """Matches the paths of files that may hold tests; None if all may."""
    test_modules: frozenset[str] = frozenset()
    """Modules whose import says that a file has tests, wherever it is."""
    example: str = ""
    """What an example in a doc text begins with, if such examples are run as tests."""


def line_of(node: Node) -> int:
    """Return the 1-based line where a node starts."""
    return node.start_point[0] + 1


def flatten(text: str) -> str:
    """Return a text on one line, of bounded length."""
    return shorten(_BLANKS.sub(" ", text[: 4 * MOST_TEXT]).strip(), MOST_TEXT)


def read_field(node: Node, field: str = "name") -> str:
    """Return the text of a field of a node, on one line; empty if it has none."""
    return flatten(text_of(node.child_by_field_name(field)))


def read_callee(node: Node | None) -> str:
    """Return the name that is called, as written.

    Of what has no name, such as the result of another call, it is the last part after a dot:
    `.join`; but `Order().check` of what a type makes.
    """
    return "" if node is None else _last_name(node.text or b"")


def read_call(node: Node) -> str:
    """Return the name that a call with an object, a name and arguments calls."""
    end = node.child_by_field_name("arguments")
    if end is None:
        end = next(yield_children(node, "arguments", "argument_list"), None)
    stop = node.end_byte if end is None else end.start_byte
    if (name := node.child_by_field_name("method")) is not None:  # in Ruby, before a block
        stop = name.end_byte
    return _last_name((node.text or b"")[: stop - node.start_byte])


def _last_name(text: bytes) -> str:
    """Return the names joined by dots and the like at the end of an expression."""
    plain = _BLANKS.sub(" ", text[-MOST_TEXT:].decode("utf-8", "replace")).strip()
    plain = _LAYOUT.sub("", plain)
    while (bare := _GENERIC.sub("", plain)) != plain:
        plain = bare
    match = _CALLED.search(plain)
    if match is None:
        return ""
    before = plain[: match.start()]
    bare = before.rstrip(".:->?!&")
    return f"{_made_by(bare)}.{match[0]}" if bare and bare != before else match[0]


def _made_by(text: str) -> str:
    """Return the call that a text is, without its arguments, if it may make an object of a type."""
    depth, start = 0, len(text)
    while start and (depth or start == len(text)):
        start -= 1
        depth += {")": 1, "(": -1}.get(text[start], 0)
    match = _CALLED.search(_GENERIC.sub("", text[:start])) if text.endswith(")") else None
    if match is None or text[: match.start()].endswith((".", ":", "->")):
        return ""
    return f"{match[0]}()" if _MAKER.search(match[0]) else ""


def list_other_names(names: Sequence[str], bound: Sequence[str]) -> tuple[str, ...]:
    """Return what imported names are called in the file; nothing if that is their own names."""
    return () if list(names) == list(bound) else tuple(map(flatten, bound))


def unquote(text: str) -> str:
    """Return a literal text without its quotes."""
    stripped = text.strip()
    for mark in ('"""', "'''", '"', "'", "`"):
        if stripped.startswith(mark) and stripped.endswith(mark) and len(stripped) >= 2 * len(mark):
            return stripped[len(mark) : -len(mark)]
    return stripped


def split_identifier(name: str) -> list[str]:
    """Return the words of an identifier, such as `retryJob`, in lower case."""
    return [part.lower() for part in _IDENTIFIER_PART.findall(name)]


def split_words(name: str, *prefixes: str) -> str:
    """Return an identifier as words in lower case, without a prefix such as `test`."""
    parts = split_identifier(name)
    if len(parts) > 1 and parts[0] in prefixes:
        parts = parts[1:]
    return " ".join(parts)


def yield_children(node: Node, *types: str) -> Iterator[Node]:
    """Yield the children of a node that have one of some types."""
    return (child for child in node.named_children if child.type in types)


KIND = "code.languages"

_PROGRAM = lazy_pattern(r"#!\s*(?:\S*/env\s+(?:-\S+\s+)*)?(?:\S*/)?([a-z]+)")


def detect_language(path: str, first_line: str = "") -> str | None:
    """Return the language of a file by its suffix, name or first line; None if it has none."""
    name = PurePosixPath(path).name
    suffix = PurePosixPath(name).suffix
    by_name = _languages_by("suffixes", "names")
    language = by_name.get(suffix) or by_name.get(suffix.lower()) or by_name.get(name)
    if language is None and (program := _PROGRAM.match(first_line)):
        return _languages_by("programs").get(program[1])
    return language


def may_hold_tests(path: str, language: str, imports: Iterable[str] = ()) -> bool:
    """Tell whether a file may hold tests, by its path and the modules that it imports."""
    rules = find_rules(language)
    if rules.test_files is None or rules.test_files.search(path):
        return True
    return not rules.test_modules.isdisjoint(imports)


def find_rules(language: str) -> Rules:
    """Return the rules of a language."""
    return _rules_by_name()[language]


def list_languages() -> tuple[str, ...]:
    """Return the names of all languages."""
    return tuple(_rules_by_name())


@cache
def _rules_by_name() -> dict[str, Rules]:
    """Return the rules of all languages, ours last; a module has those of one or of several."""
    modules = (plugins.load(KIND, name).RULES for name in reversed(plugins.list_plugins(KIND)))
    return {
        rules.name: rules
        for module_rules in modules
        for rules in ((module_rules,) if isinstance(module_rules, Rules) else module_rules)
    }


@cache
def _languages_by(*fields: str) -> dict[str, str]:
    """Return the languages by the texts in some fields: ours rather than those of packages."""
    return {
        text: rules.name
        for rules in _rules_by_name().values()
        for field in fields
        for text in getattr(rules, field)
    }
