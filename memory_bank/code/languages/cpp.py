"""The rules of C++."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from memory_bank.code.languages import _c_family
from memory_bank.code.languages.base import NameDefinition, Rules, head, named, text_of

if TYPE_CHECKING:
    from tree_sitter import Node


_MACRO = rb"[A-Z_][A-Z0-9_]{2,60}(?:\([^()\n]{0,200}\))?"

_UNKNOWN = re.compile(
    rb"\b((?:class|struct)[ \t]+)" + _MACRO + rb"(?=[ \t]+[A-Za-z_][\w:]*\s*(?:final\s*)?[:{])"
    rb"|\b(namespace[ \t]+[\w:]+[ \t]+)" + _MACRO + rb"(?=\s*\{)"
    rb"|^[ \t]*(?:\w{0,60}(?:NAMESPACE_?(?:BEGIN|END)|(?:BEGIN|END)_NAMESPACE)\w{0,60}|Q_OBJECT)"
    rb"(?=[ \t\r]*$)",
    re.MULTILINE,
)
"""Macros that the grammar does not know, after `class` and `namespace` and around namespaces."""


def _without_macros(data: bytes) -> bytes:
    """Blank macros that would hide the definition after them."""
    return _UNKNOWN.sub(lambda found: (found[1] or found[2] or b"").ljust(len(found[0])), data)


def _namespace(node: Node) -> Iterator[NameDefinition]:
    if name := named(node).replace("::", "."):
        yield NameDefinition(name, "module", node, node.child_by_field_name("body"))


def _member(node: Node) -> Iterator[NameDefinition]:
    """Yield the constant of a class, or a method that only its subclasses define."""
    target = node.child_by_field_name("declarator")
    is_pure = text_of(node.child_by_field_name("default_value")) == "0"
    if is_pure and target is not None and "function" in _kinds(target):
        yield NameDefinition(_c_family.dotted(_c_family.declared(node)), "function", node)
    else:
        yield from _c_family.constants(node)


def _kinds(target: Node) -> str:
    """Return the types of a declarator and of the one in it, such as of `int *f()`."""
    return target.type + "".join(one.type for one in target.named_children)


def _alias(node: Node) -> Iterator[NameDefinition]:
    yield NameDefinition(named(node), "type", node)


RULES = Rules(
    name="cpp",
    suffixes=(".cc", ".cpp", ".cxx", ".c++", ".hh", ".hpp", ".hxx", ".h++", ".ipp", ".tpp"),
    grammar="tree_sitter_cpp",
    readable=_without_macros,
    kinds={},
    define={
        "function_definition": _c_family.function,
        "class_specifier": _c_family.whole_type,
        "struct_specifier": _c_family.whole_type,
        "union_specifier": _c_family.whole_type,
        "enum_specifier": _c_family.whole_type,
        "type_definition": _c_family.typedef,
        "alias_declaration": _alias,
        "concept_definition": _alias,
        "namespace_definition": _namespace,
        "declaration": _c_family.constants,
        "field_declaration": _member,
        "preproc_def": _c_family.macro,
        "preproc_function_def": _c_family.macro,
    },
    wrappers=frozenset(["template_declaration"]),
    bases=frozenset(["base_class_clause"]),
    calls={"call_expression": "function", "new_expression": head},
    imports={"preproc_include": _c_family.include},
    tests={"function_definition": _c_family.test_function, "call_expression": _c_family.test_call},
)
