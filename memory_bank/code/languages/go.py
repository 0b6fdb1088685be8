"""The rules of Go."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from memory_bank.code.languages.base import (
    Case,
    NameDefinition,
    Rules,
    inside,
    line_of,
    named,
    text_of,
    unquoted,
    words,
)
from memory_bank.code.parse.parsed_file import Import

if TYPE_CHECKING:
    from tree_sitter import Node


_RECEIVER = re.compile(r"\*?\s*(\w+)\s*(?:\[.*)?\)$", re.DOTALL)

_TEST = re.compile(r"(?:Test|Benchmark|Fuzz|Example)(?=[^a-z]|$)")

_VERSION = re.compile(r"/v\d+$")

_NAMES = ("name", "desc", "description", "title", "scenario")


def _method(node: Node) -> Iterator[NameDefinition]:
    """Yield a method under the name of the type of its receiver."""
    found = _RECEIVER.search(named(node, "receiver"))
    name = f"{found[1]}.{named(node)}" if found else named(node)
    yield NameDefinition(name, "method", node, node.child_by_field_name("body"))


def _type(node: Node) -> Iterator[NameDefinition]:
    of = node.child_by_field_name("type")
    shape = of.type if of is not None else ""
    kind = "interface" if shape == "interface_type" else "type"
    body = None
    if of is not None and shape == "struct_type":
        body = next(inside(of, "field_declaration_list"), None)
    elif of is not None and shape == "interface_type":
        body = next((one for one in of.children if one.type == "{"), None)
    yield NameDefinition(named(node), kind, _alone(node), body)


def _alone(node: Node) -> Node:
    """Return the declaration around a specification, if it has no other."""
    around = node.parent
    return around if around is not None and around.named_child_count == 1 else node


def _constants(node: Node) -> Iterator[NameDefinition]:
    around = node.parent
    while around is not None and around.type == "const_declaration":
        around = around.parent
    if around is not None and around.type == "source_file":
        for one in node.children_by_field_name("name"):
            if one.type == "identifier":
                yield NameDefinition(text_of(one), "constant", _alone(node))


def _import(node: Node) -> Iterator[Import]:
    path = unquoted(named(node, "path"))
    name = named(node) or _VERSION.sub("", path).rpartition("/")[2]
    bound = {".": (), "_": ("",)}.get(name, (name,))
    yield Import(path, (), line_of(node), bound)


def _called(node: Node) -> str:
    """Return the function of `f[int](x)`, which the parser takes for a conversion."""
    of = node.child_by_field_name("type")
    return named(of, "type") if of is not None and of.type == "generic_type" else ""


def _test(node: Node) -> Case | None:
    name = named(node)
    if not _TEST.match(name) or name == "TestMain":
        return None
    return Case(words(name, "test"), "go")


def _subtest(node: Node) -> Case | None:
    """Return the test of `t.Run("title", func …)`."""
    given = node.child_by_field_name("arguments")
    if given is None or not named(node, "function").endswith(".Run"):
        return None
    some = given.named_children
    if len(some) != 2 or not some[0].type.endswith("string_literal"):  # noqa: PLR2004
        return None
    return Case(unquoted(text_of(some[0])), "go") if some[1].type == "func_literal" else None


def _row(node: Node) -> Case | None:
    """Return the test of a row `{name: "title", …}` in a table of tests."""
    key, value = node.child_by_field_name("key"), node.child_by_field_name("value")
    if key is None or value is None or text_of(key) not in _NAMES or not value.named_children:
        return None
    row, text = node.parent, value.named_children[0]
    if row is None or row.type != "literal_value" or not text.type.endswith("string_literal"):
        return None
    return Case(unquoted(text_of(text)), "go", inner=True)


RULES = Rules(
    name="go",
    suffixes=(".go",),
    grammar="tree_sitter_go",
    kinds={"function_declaration": "function", "method_elem": "function"},
    define={
        "method_declaration": _method,
        "type_spec": _type,
        "type_alias": _type,
        "const_spec": _constants,
    },
    calls={"call_expression": "function", "type_conversion_expression": _called},
    imports={"import_spec": _import},
    tests={"function_declaration": _test, "call_expression": _subtest, "keyed_element": _row},
    test_files=re.compile(r"_test\.go$"),
)
