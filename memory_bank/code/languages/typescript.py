"""The rules of TypeScript."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memory_bank.code.languages import javascript
from memory_bank.code.languages.base import read_field, text_of, unquote

if TYPE_CHECKING:
    from tree_sitter import Node


def _name_of(node: Node) -> str:
    """Return the name that a node gives; none for a further signature of the next function."""
    holder = node.parent
    if holder is None or holder.type not in ("function_signature", "internal_module", "module"):
        return javascript.name_of(node)
    name = unquote(text_of(node))
    if holder.type != "function_signature":
        is_file = name[:1] in (".", "/") or "/" in name
        return name.replace(".", "_") if is_file else name
    if holder.parent is not None and holder.parent.type == "export_statement":
        holder = holder.parent
    after = holder.next_named_sibling
    if after is not None and after.type == "export_statement":
        after = after.child_by_field_name("declaration")
    return "" if after is not None and read_field(after) == name else name


RULES = javascript.RULES._replace(
    name="typescript",
    suffixes=(".ts", ".mts", ".cts"),
    grammar="tree_sitter_typescript",
    entry="language_typescript",
    programs=("deno", "bun", "tsx"),
    symbols=(javascript.COMMON_SYMBOLS, __file__),
    name_of=_name_of,
    wrappers=frozenset(["export_statement", "ambient_declaration"]),
    bases=frozenset(["class_heritage", "extends_type_clause"]),
)
