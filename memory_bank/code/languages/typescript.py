"""The rules of TypeScript."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from memory_bank.code.languages import _ecmascript
from memory_bank.code.languages.base import NameDefinition, Rules, named, text_of, unquoted

if TYPE_CHECKING:
    from tree_sitter import Node


def _signature(node: Node) -> Iterator[NameDefinition]:
    """Yield a function that is only declared; not one of several signatures of the next."""
    holder = node
    if node.parent is not None and node.parent.type == "export_statement":
        holder = node.parent
    after = holder.next_named_sibling
    if after is not None and after.type == "export_statement":
        after = after.child_by_field_name("declaration")
    if after is None or named(after) != named(node):
        yield NameDefinition(named(node), "function", node)


def _module(node: Node) -> Iterator[NameDefinition]:
    name = unquoted(text_of(node.child_by_field_name("name")))
    is_file = name[:1] in (".", "/") or "/" in name
    yield NameDefinition(
        name.replace(".", "_") if is_file else name,
        "module",
        node,
        node.child_by_field_name("body"),
    )


RULES = Rules(
    name="typescript",
    suffixes=(".ts", ".mts", ".cts"),
    grammar="tree_sitter_typescript",
    entry="language_typescript",
    programs=("deno", "bun", "tsx"),
    kinds={
        **_ecmascript.KINDS,
        "abstract_class_declaration": "class",
        "interface_declaration": "interface",
        "enum_declaration": "enum",
        "type_alias_declaration": "type",
        "method_signature": "function",
        "abstract_method_signature": "function",
    },
    define={
        **_ecmascript.DEFINE,
        "function_signature": _signature,
        "internal_module": _module,
        "module": _module,
    },
    wrappers=frozenset(["export_statement", "ambient_declaration"]),
    containers={"pair": _ecmascript.inner_object},
    calls=_ecmascript.CALLS,
    marks=frozenset(["decorator"]),
    bases=frozenset(["class_heritage", "extends_type_clause"]),
    quotes=frozenset(['"', "'"]),
    optional=frozenset([";"]),
    imports=_ecmascript.IMPORTS,
    tests=_ecmascript.TESTS,
    test_files=_ecmascript.TEST_FILES,
    test_modules=_ecmascript.TEST_MODULES,
)
