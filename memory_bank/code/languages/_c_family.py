"""The rules of C and C++; headers `.h` are read by those of C++ if they have its words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from types import SimpleNamespace
from typing import TYPE_CHECKING

from memory_bank.code.languages.base import (
    Case,
    NameDefinition,
    Rules,
    flat,
    head,
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


def _declared(node: Node) -> Node | None:
    """Return the node of the name that a declarator declares, below pointers and brackets."""
    found = node.child_by_field_name("declarator")
    for _ in range(_MOST_STEPS):
        if found is None or not found.type.endswith("declarator"):
            return found
        inner = found.child_by_field_name("declarator")
        found = inner or next((one for one in found.named_children if not one.is_extra), None)
    return None


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
        return f"operator {named(name, 'type')}"
    return _BLANKS.sub(r"\1", flat(text_of(name))).replace("::", ".")


def _function(node: Node) -> Iterator[NameDefinition]:
    """Yield a function that has a body, unless it is the macro of a test."""
    name = _dotted(_declared(node))
    if name and not _test_function(node):
        start = next(inside(node, "field_initializer_list"), node.child_by_field_name("body"))
        yield NameDefinition(name, "method" if "." in name else "function", node, start)


def _constants(node: Node) -> Iterator[NameDefinition]:
    """Yield the names that a declaration outside functions fixes."""
    marks = {text_of(one) for one in inside(node, "type_qualifier")}
    if not marks & {"const", "constexpr"} or not _is_global(node):
        return
    for one in inside(node, "init_declarator"):
        if name := _dotted(_declared(one)):
            yield NameDefinition(name, "constant", node)
    if node.child_by_field_name("default_value") and (name := _dotted(_declared(node))):
        yield NameDefinition(name, "constant", node)


def _is_global(node: Node) -> bool:
    around = node.parent
    while around is not None and around.type.startswith(_AROUND):
        around = around.parent
    return around is not None and around.type in _GLOBAL


def _macro(node: Node) -> Iterator[NameDefinition]:
    """Yield what `#define` defines; without a value it only guards."""
    value = node.child_by_field_name("value")
    if node.type == "preproc_function_def":
        yield NameDefinition(named(node), "function", node, value)
    elif value is not None:
        yield NameDefinition(named(node), "constant", node)


def _whole_type(node: Node) -> Iterator[NameDefinition]:
    """Yield a struct, union, class or enumeration with its body; not a mention of one."""
    body, name = node.child_by_field_name("body"), _dotted(node.child_by_field_name("name"))
    kind = {"class_specifier": "class", "enum_specifier": "enum"}.get(node.type, "type")
    around = node.parent
    if body and name and not (around is not None and around.type == "type_definition"):
        yield NameDefinition(name, kind, node, body)


def _typedef(node: Node) -> Iterator[NameDefinition]:
    """Yield the name of a typedef, or that of its struct if it has no other."""
    inner = node.child_by_field_name("type")
    body = inner.child_by_field_name("body") if inner is not None else None
    kind = "enum" if inner is not None and body and inner.type == "enum_specifier" else "type"
    if name := _dotted(_declared(node)) or (named(inner) if inner is not None else ""):
        head = text_of(node).partition("{")[0].strip() if body else ""
        yield NameDefinition(name, kind, node, body, signature=head and f"{head} {{…}} {name}")


def _include(node: Node) -> Iterator[Import]:
    """Yield the file that a line includes."""
    yield Import(unquoted(named(node, "path")).strip("<>"), (), line_of(node))


def _test_function(node: Node) -> Case | None:
    """Return the test of `TEST(Suite, Name) { … }`: a function without a type."""
    call = node.child_by_field_name("declarator")
    given = call.child_by_field_name("parameters") if call is not None else None
    if call is None or given is None or node.child_by_field_name("type") is not None:
        return None
    if not _TEST_MACRO.fullmatch(named(call, "declarator")):
        return None
    names = [words(text_of(one)).removesuffix(" test") for one in given.named_children]
    return Case(" > ".join(names), "googletest") if names else None


def _test_call(node: Node) -> Case | None:
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


_WORDS_OF_CPP = re.compile(
    rb"^[ \t]*(?:namespace[ \t]+[\w:]{1,200}(?:[ \t]+[A-Z_]\S{0,200})?\s{0,20}\{|template\s*<"
    rb"|(?:public|protected|private)\s*:|class\s+\w[^;{}()\n]{0,200}[{:]"
    rb"|using\s+(?:namespace\b|\w+\s*=)|enum\s+class\b|constexpr\b)",
    re.MULTILINE,
)


def _really(data: bytes) -> str:
    return "cpp" if _WORDS_OF_CPP.search(data) else ""


_C = Rules(
    name="c",
    suffixes=(".c", ".h"),
    grammar="tree_sitter_c",
    really=_really,
    kinds={},
    define={
        "function_definition": _function,
        "struct_specifier": _whole_type,
        "union_specifier": _whole_type,
        "enum_specifier": _whole_type,
        "type_definition": _typedef,
        "declaration": _constants,
        "preproc_def": _macro,
        "preproc_function_def": _macro,
    },
    calls={"call_expression": "function"},
    imports={"preproc_include": _include},
)


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
        yield NameDefinition(_dotted(_declared(node)), "function", node)
    else:
        yield from _constants(node)


def _kinds(target: Node) -> str:
    """Return the types of a declarator and of the one in it, such as of `int *f()`."""
    return target.type + "".join(one.type for one in target.named_children)


def _alias(node: Node) -> Iterator[NameDefinition]:
    yield NameDefinition(named(node), "type", node)


_CPP = _C._replace(
    name="cpp",
    suffixes=(".cc", ".cpp", ".cxx", ".c++", ".hh", ".hpp", ".hxx", ".h++", ".ipp", ".tpp"),
    grammar="tree_sitter_cpp",
    really=lambda _: "",
    readable=_without_macros,
    define={
        **_C.define,
        "class_specifier": _whole_type,
        "alias_declaration": _alias,
        "concept_definition": _alias,
        "namespace_definition": _namespace,
        "field_declaration": _member,
    },
    wrappers=frozenset(["template_declaration"]),
    bases=frozenset(["base_class_clause"]),
    calls={**_C.calls, "new_expression": head},
    tests={"function_definition": _test_function, "call_expression": _test_call},
)

c = SimpleNamespace(RULES=_C)
cpp = SimpleNamespace(RULES=_CPP)
