"""The rules that C and C++ share."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from memory_bank.code.languages.base import (
    Case,
    NameDefinition,
    flat,
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


_MOST_STEPS = 100

_TEST_MACRO = re.compile(r"(?:TYPED_)?TEST(?:_[FP])?")

_CASE_MACRO = re.compile(r"\w*TEST_CASE\w*|SCENARIO|SECTION|SUBCASE|GIVEN|WHEN|THEN|AND_WHEN")

_BLANKS = re.compile(r"\s*([^\w\s])\s*")

_GLOBAL = ("translation_unit", "declaration_list", "field_declaration_list")

_AROUND = ("preproc_", "linkage_", "template_", "ERROR")


def declared(node: Node) -> Node | None:
    """Return the node of the name that a declarator declares, below pointers and brackets."""
    found = node.child_by_field_name("declarator")
    for _ in range(_MOST_STEPS):
        if found is None or not found.type.endswith("declarator"):
            return found
        inner = found.child_by_field_name("declarator")
        found = inner or next((one for one in found.named_children if not one.is_extra), None)
    return None


def dotted(name: Node | None) -> str:
    """Return a name such as `a::B<int>::c` with dots, without the arguments of templates."""
    parts = list[str]()
    for _ in range(_MOST_STEPS):
        if name is None or name.type != "qualified_identifier":
            break
        parts.append(_bare(name.child_by_field_name("scope")))
        name = name.child_by_field_name("name")
    return ".".join(filter(None, (*parts, _bare(name))))


def _bare(name: Node | None) -> str:
    if name is not None and name.type.startswith("template_"):
        name = name.child_by_field_name("name")
    if name is not None and name.type == "operator_cast":
        return f"operator {named(name, 'type')}"
    return _BLANKS.sub(r"\1", flat(text_of(name))).replace("::", ".")


def function(node: Node) -> Iterator[NameDefinition]:
    """Yield a function that has a body, unless it is the macro of a test."""
    name = dotted(declared(node))
    if name and not test_function(node):
        start = next(inside(node, "field_initializer_list"), node.child_by_field_name("body"))
        yield NameDefinition(name, "method" if "." in name else "function", node, start)


def constants(node: Node) -> Iterator[NameDefinition]:
    """Yield the names that a declaration outside functions fixes."""
    marks = {text_of(one) for one in inside(node, "type_qualifier")}
    if not marks & {"const", "constexpr"} or not _is_global(node):
        return
    for one in inside(node, "init_declarator"):
        if name := dotted(declared(one)):
            yield NameDefinition(name, "constant", node)
    if node.child_by_field_name("default_value") and (name := dotted(declared(node))):
        yield NameDefinition(name, "constant", node)


def _is_global(node: Node) -> bool:
    around = node.parent
    while around is not None and around.type.startswith(_AROUND):
        around = around.parent
    return around is not None and around.type in _GLOBAL


def macro(node: Node) -> Iterator[NameDefinition]:
    """Yield what `#define` defines; without a value it only guards."""
    value = node.child_by_field_name("value")
    if node.type == "preproc_function_def":
        yield NameDefinition(named(node), "function", node, value)
    elif value is not None:
        yield NameDefinition(named(node), "constant", node)


def whole_type(node: Node) -> Iterator[NameDefinition]:
    """Yield a struct, union, class or enumeration with its body; not a mention of one."""
    body, name = node.child_by_field_name("body"), dotted(node.child_by_field_name("name"))
    kind = {"class_specifier": "class", "enum_specifier": "enum"}.get(node.type, "type")
    around = node.parent
    if body and name and not (around is not None and around.type == "type_definition"):
        yield NameDefinition(name, kind, node, body)


def typedef(node: Node) -> Iterator[NameDefinition]:
    """Yield the name of a typedef, or that of its struct if it has no other."""
    inner = node.child_by_field_name("type")
    body = inner.child_by_field_name("body") if inner is not None else None
    kind = "enum" if inner is not None and body and inner.type == "enum_specifier" else "type"
    if name := dotted(declared(node)) or (named(inner) if inner is not None else ""):
        head = text_of(node).partition("{")[0].strip() if body else ""
        yield NameDefinition(name, kind, node, body, signature=head and f"{head} {{…}} {name}")


def include(node: Node) -> Iterator[Import]:
    """Yield the file that a line includes."""
    yield Import(unquoted(named(node, "path")).strip("<>"), (), line_of(node))


def test_function(node: Node) -> Case | None:
    """Return the test of `TEST(Suite, Name) { … }`: a function without a type."""
    call = node.child_by_field_name("declarator")
    given = call.child_by_field_name("parameters") if call is not None else None
    if call is None or given is None or node.child_by_field_name("type") is not None:
        return None
    if not _TEST_MACRO.fullmatch(named(call, "declarator")):
        return None
    names = [words(text_of(one)).removesuffix(" test") for one in given.named_children]
    return Case(" > ".join(names), "googletest") if names else None


def test_call(node: Node) -> Case | None:
    """Return the test, or its section, of Catch2 or doctest: a call before a block."""
    given, holder = node.child_by_field_name("arguments"), node.parent
    if given is None or holder is None or not _CASE_MACRO.fullmatch(named(node, "function")):
        return None
    title = next(inside(given, "string_literal", "concatenated_string"), None)
    block = holder.next_named_sibling
    if title is None or block is None or block.type != "compound_statement":
        return None
    said = unquoted(text_of(title)).replace('\\"', '"')
    return Case(said, "catch2", last=block)
