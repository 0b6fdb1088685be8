"""The rules of C, and of C++, which shares them; headers `.h` with words of C++ are read by its."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from memory_bank.base import lazy_pattern
from memory_bank.code.languages.base import (
    Case,
    Rules,
    flatten,
    line_of,
    read_call,
    read_field,
    split_words,
    text_of,
    unquote,
    yield_children,
)
from memory_bank.code.parse.parsed_file import Import

if TYPE_CHECKING:
    from tree_sitter import Node


# Declarators around a name: hostile code has more.
_MOST_STEPS = 100

_TEST_MACRO = lazy_pattern(r"(?:TYPED_)?TEST(?:_[FP])?")

_CASE_MACRO = lazy_pattern(
    r"(?>\w*?TEST_CASE)\w*|SCENARIO|SECTION|SUBCASE|GIVEN|WHEN|THEN|AND_WHEN"
)

_CPP = lazy_pattern(
    rb"^[ \t]*(?:namespace[ \t]+[\w:]{1,200}(?:[ \t]+[A-Z_]\S{0,200})?\s{0,20}\{|template\s*<"
    rb"|(?:public|protected|private)\s*:|class\s+\w[^;{}()\n]{0,200}[{:]"
    rb"|using\s+(?:namespace\b|\w+\s*=)|enum\s+class\b|constexpr\b)",
    re.MULTILINE,
)

_BLANKS = lazy_pattern(r" ?([^\w\s]) ?")

_GLOBAL = ("translation_unit", "declaration_list", "field_declaration_list")

_AROUND = ("preproc_", "linkage_", "template_", "ERROR")


def _name_of(node: Node) -> str:
    """Return the name that a declarator declares; nothing for what is no definition of its own.

    That is the macro of a test, a constant inside a function, and the type inside a `typedef`.
    """
    holder = node.parent
    if holder is None or (holder.type == "function_definition" and _test_function(holder)):
        return ""
    if holder.type == "declaration" and not _is_global(holder):
        return ""
    around = holder.parent
    if holder.type.endswith("_specifier") and around and around.type == "type_definition":
        return "" if around.child_by_field_name("declarator") else _dotted(node)
    name: Node | None = node
    for _ in range(_MOST_STEPS):
        if name is None or not name.type.endswith("declarator"):
            break
        inner = name.child_by_field_name("declarator")
        name = inner or next(
            (child for child in name.named_children if not child.is_extra),
            None,
        )
    return _dotted(name)


def _dotted(name: Node | None) -> str:
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
        return f"operator {read_field(name, 'type')}"
    return _BLANKS.sub(r"\1", flatten(text_of(name))).replace("::", ".")


def _is_global(node: Node) -> bool:
    around = node.parent
    while around is not None and around.type.startswith(_AROUND):
        around = around.parent
    return around is not None and around.type in _GLOBAL


def _include(node: Node) -> Iterator[Import]:
    """Yield the file that a line includes."""
    yield Import(unquote(read_field(node, "path")).strip("<>"), (), line_of(node))


def _test_function(node: Node) -> Case | None:
    """Return the test of `TEST(Suite, Name) { … }`: a function without a type."""
    call = node.child_by_field_name("declarator")
    parameters = call.child_by_field_name("parameters") if call is not None else None
    if call is None or parameters is None or node.child_by_field_name("type") is not None:
        return None
    if not _TEST_MACRO.fullmatch(read_field(call, "declarator")):
        return None
    names = [
        split_words(text_of(parameter)).removesuffix(" test")
        for parameter in parameters.named_children
    ]
    return Case(" > ".join(names), "googletest") if names else None


def _test_call(node: Node) -> Case | None:
    """Return the test, or its section, of Catch2 or doctest: a call before a block."""
    arguments, holder = node.child_by_field_name("arguments"), node.parent
    if (
        arguments is None
        or holder is None
        or not _CASE_MACRO.fullmatch(read_field(node, "function"))
    ):
        return None
    title = next(yield_children(arguments, "string_literal", "concatenated_string"), None)
    block = holder.next_named_sibling
    if title is None or block is None or block.type != "compound_statement":
        return None
    sentence = unquote(text_of(title)).replace('\\"', '"')
    return Case(sentence, "catch2", last=block)


def _find_dialect(data: bytes) -> str:
    """Return `cpp` for a header of C++; empty for C."""
    return "cpp" if _CPP.search(data) else ""


_MACRO = rb"[A-Z_][A-Z0-9_]{2,60}(?:\([^()\n]{0,200}\))?"

_UNKNOWN = lazy_pattern(
    rb"\b((?:class|struct)[ \t]+)" + _MACRO + rb"(?=[ \t]+[A-Za-z_][\w:]*\s*(?:final\s*)?[:{])"
    rb"|\b(namespace[ \t]+[\w:]+[ \t]+)" + _MACRO + rb"(?=\s*\{)"
    rb"|^[ \t]*(?:\w{0,60}(?:NAMESPACE_?(?:BEGIN|END)|(?:BEGIN|END)_NAMESPACE)\w{0,60}|Q_OBJECT)"
    rb"(?=[ \t\r]*$)",
    re.MULTILINE,
)
"""Macros that the grammar does not know, after `class` and `namespace` and around namespaces."""


def _blank_macros(data: bytes) -> bytes:
    """Blank macros that would hide the definition after them."""
    return _UNKNOWN.sub(lambda match: (match[1] or match[2] or b"").ljust(len(match[0])), data)


_C_RULES = Rules(
    name="c",
    suffixes=(".c", ".h"),
    grammar="tree_sitter_c",
    really=_find_dialect,
    symbols=(__file__,),
    name_of=_name_of,
    calls={"call_expression": "function"},
    imports={"preproc_include": _include},
)

_CPP_RULES = Rules(
    name="cpp",
    suffixes=(".cc", ".cpp", ".cxx", ".c++", ".hh", ".hpp", ".hxx", ".h++", ".ipp", ".tpp"),
    grammar="tree_sitter_cpp",
    readable=_blank_macros,
    symbols=(str(Path(__file__).with_name("cpp.scm")), __file__),
    name_of=_name_of,
    wrappers=frozenset(["template_declaration"]),
    bases=frozenset(["base_class_clause"]),
    calls={"call_expression": "function", "new_expression": read_call},
    imports={"preproc_include": _include},
    tests={"function_definition": _test_function, "call_expression": _test_call},
)

RULES = (_C_RULES, _CPP_RULES)
