"""The rules of Python."""

from __future__ import annotations

import ast
import textwrap
import warnings
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from memory_bank.base import lazy_pattern
from memory_bank.code.languages.base import (
    Case,
    Rules,
    flatten,
    line_of,
    list_other_names,
    read_field,
    split_words,
    text_of,
    unquote,
)
from memory_bank.code.parse.parsed_file import Import

if TYPE_CHECKING:
    from tree_sitter import Node


_CLASS, _STATEMENT = "class_definition", "expression_statement"

_TEXTS = ("string", "concatenated_string")

_TEST_FILE = lazy_pattern(r"(?:^|/)(?:tests?/.*|test_[^/]*|[^/]*_tests?|tests?)\.py$")

_LONGEST = 100_000
"""Maximum length of a literal that is evaluated, in characters."""

# Of a number that fits 64 bits.
_DIGITS = 18

_PREFIX = lazy_pattern(r"^[rRbBuUfF]{0,2}(?=['\"])")


def _doc(node: Node) -> str | None:
    """Return the docstring of a definition or module."""
    body = node if node.type == "module" else node.child_by_field_name("body")
    first = (
        next(
            (statement for statement in body.named_children if statement.type != "comment"),
            None,
        )
        if body
        else None
    )
    if first is None or first.type != _STATEMENT or not first.named_children:
        return None
    text = first.named_children[0]
    if text.type not in _TEXTS:
        return None
    summary, _, rest = unquote(_PREFIX.sub("", text_of(text))).partition("\n")
    return f"{summary.strip()}\n{textwrap.dedent(rest)}".strip()


def _import(node: Node) -> Iterator[Import]:
    for child in node.named_children:
        target = child.child_by_field_name("name") if child.type == "aliased_import" else child
        module = flatten(text_of(target))
        yield Import(module, (), line_of(node), (read_field(child, "alias") or module,))


def _import_from(node: Node) -> Iterator[Import]:
    names = [
        text_of(name.child_by_field_name("name") if name.type == "aliased_import" else name)
        for name in node.children_by_field_name("name")
    ]
    bound = [
        read_field(name, "alias") or text_of(name) for name in node.children_by_field_name("name")
    ]
    module = read_field(node, "module_name") or "__future__"
    yield Import(module, tuple(map(flatten, names)), line_of(node), list_other_names(names, bound))


def _is_text(node: Node) -> bool:
    """Tell whether a statement is only a text, such as a docstring."""
    return node.named_child_count == 1 and node.named_children[0].type in _TEXTS


def _value(node: Node) -> Sequence[str]:
    """Return the tokens of a text's or number's value: joined, without escapes; none for others."""
    text = text_of(node)
    value: object = _plain(text) if node.type != "concatenated_string" else None
    if value is None:
        try:
            with warnings.catch_warnings(action="ignore"):  # of escapes that Python does not know
                value = ast.literal_eval(f"({text})") if len(text) <= _LONGEST else None
        except (SyntaxError, ValueError):  # formatted, or of Python 2
            return ()
    if isinstance(value, str | bytes):
        return "b'" if isinstance(value, bytes) else "'", repr(value)
    return () if value is None else (repr(value),)


def _plain(text: str) -> str | int | None:
    """Return the value of most literals, which is ten times faster; None for others."""
    if text.isdecimal() and text.isascii() and not text.startswith("0"):
        return int(text) if len(text) < _DIGITS else None
    if text[:1] not in ("'", '"') or "\\" in text or "\r" in text:
        return None
    size = 3 if text.startswith(("'''", '"""')) else 1
    return text[size:-size] if len(text) >= 2 * size else None


def _test_class(node: Node) -> Case | None:
    name, bases = read_field(node), read_field(node, "superclasses")
    if not name.startswith("Test") and "TestCase" not in bases:
        return None
    title = split_words(name, "test").removesuffix(" tests").removesuffix(" test")
    return Case(title, "unittest" if "TestCase" in bases else "pytest", group=True)


def _test_function(node: Node) -> Case | None:
    name = read_field(node)
    if not name.startswith("test"):
        return None
    title, part = split_words(name, "test"), (_doc(node) or "").strip().partition("\n")[0]
    return Case(f"{title}: {part}" if part else title, "pytest")


RULES = Rules(
    name="python",
    suffixes=(".py", ".pyi", ".pyw"),
    grammar="tree_sitter_python",
    programs=("python", "python3"),
    symbols=(__file__,),
    wrappers=frozenset(["decorated_definition"]),
    calls={"call": "function"},
    inner_doc=_doc,
    bases=frozenset(["superclasses"]),
    no_code={_STATEMENT: _is_text, "line_continuation": lambda _: True},
    blocks=frozenset(["block"]),
    quotes=frozenset(["string_start", "string_end"]),
    optional=frozenset([";"]),
    leaves=frozenset(["string_content", "format_specifier"]),
    literals=dict.fromkeys((*_TEXTS, "integer", "float"), _value),
    imports={
        "import_statement": _import,
        "import_from_statement": _import_from,
        "future_import_statement": _import_from,
    },
    tests={_CLASS: _test_class, "function_definition": _test_function},
    test_files=_TEST_FILE,
    test_modules=frozenset(["pytest", "unittest"]),
    example=">>> ",
)
