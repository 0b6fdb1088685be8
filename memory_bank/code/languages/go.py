"""The rules of Go."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from memory_bank.base import lazy_pattern
from memory_bank.code.languages.base import (
    Case,
    Rules,
    line_of,
    read_field,
    split_words,
    text_of,
    unquote,
)
from memory_bank.code.parse.parsed_file import Import

if TYPE_CHECKING:
    from tree_sitter import Node


_TEST = lazy_pattern(r"(?:Test|Benchmark|Fuzz|Example)(?=[^a-z]|$)")

_VERSION = lazy_pattern(r"/v\d+$")

_NAMES = ("name", "desc", "description", "title", "scenario")


def _import(node: Node) -> Iterator[Import]:
    path = unquote(read_field(node, "path"))
    name = read_field(node) or _VERSION.sub("", path).rpartition("/")[2]
    bound = {".": (), "_": ("",)}.get(name, (name,))
    yield Import(path, (), line_of(node), bound)


def _called_name(node: Node) -> str:
    """Return the function of `f[int](x)`, which the parser takes for a conversion."""
    of = node.child_by_field_name("type")
    return read_field(of, "type") if of is not None and of.type == "generic_type" else ""


def _test(node: Node) -> Case | None:
    name = read_field(node)
    if not _TEST.match(name) or name == "TestMain":
        return None
    return Case(split_words(name, "test"), "go")


def _subtest(node: Node) -> Case | None:
    """Return the test of `t.Run("title", func …)`."""
    arguments = node.child_by_field_name("arguments")
    if arguments is None or not read_field(node, "function").endswith(".Run"):
        return None
    nodes = arguments.named_children
    if len(nodes) != 2 or not nodes[0].type.endswith("string_literal"):  # noqa: PLR2004
        return None
    return Case(unquote(text_of(nodes[0])), "go") if nodes[1].type == "func_literal" else None


def _row(node: Node) -> Case | None:
    """Return the test of a row `{name: "title", …}` in a table of tests."""
    key, value = node.child_by_field_name("key"), node.child_by_field_name("value")
    if key is None or value is None or text_of(key) not in _NAMES or not value.named_children:
        return None
    row, text = node.parent, value.named_children[0]
    if row is None or row.type != "literal_value" or not text.type.endswith("string_literal"):
        return None
    return Case(unquote(text_of(text)), "go", inner=True)


RULES = Rules(
    name="go",
    suffixes=(".go",),
    grammar="tree_sitter_go",
    symbols=(__file__,),
    alone=frozenset(["type_declaration", "const_declaration"]),
    calls={"call_expression": "function", "type_conversion_expression": _called_name},
    imports={"import_spec": _import},
    tests={"function_declaration": _test, "call_expression": _subtest, "keyed_element": _row},
    test_files=re.compile(r"_test\.go$"),
)
