"""The rules of TypeScript."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from memory_bank.repo.languages import _ecmascript as family
from memory_bank.repo.languages.base import Definition, Rules, named, text_of, unquoted

if TYPE_CHECKING:
    from tree_sitter import Node


def _signature(node: Node) -> Iterator[Definition]:
    """Yield a function that is only declared; not one of several signatures of the next."""
    holder = node
    if node.parent is not None and node.parent.type == "export_statement":
        holder = node.parent
    after = holder.next_named_sibling
    if after is not None and after.type == "export_statement":
        after = after.child_by_field_name("declaration")
    if after is None or named(after) != named(node):
        yield Definition(named(node), "function", node)


def _module(node: Node) -> Iterator[Definition]:
    name = unquoted(text_of(node.child_by_field_name("name")))
    is_file = name[:1] in (".", "/") or "/" in name
    yield Definition(
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
        **family.KINDS,
        "abstract_class_declaration": "class",
        "interface_declaration": "interface",
        "enum_declaration": "enum",
        "type_alias_declaration": "type",
        "method_signature": "function",
        "abstract_method_signature": "function",
    },
    define={
        **family.DEFINE,
        "function_signature": _signature,
        "internal_module": _module,
        "module": _module,
    },
    wrappers=frozenset(["export_statement", "ambient_declaration"]),
    containers={"pair": family.inner_object},
    calls=family.CALLS,
    marks=frozenset(["decorator"]),
    bases=frozenset(["class_heritage", "extends_type_clause"]),
    quotes=frozenset(['"', "'"]),
    optional=frozenset([";"]),
    imports=family.IMPORTS,
    tests=family.TESTS,
    test_files=family.TEST_FILES,
    test_modules=family.TEST_MODULES,
)
