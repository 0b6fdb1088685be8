"""The rules of JavaScript, JSX included, and of TypeScript and TSX, which share most of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from memory_bank.base import lazy_pattern
from memory_bank.code.languages.base import (
    Case,
    Rules,
    flatten,
    line_of,
    list_other_names,
    read_field,
    text_of,
    unquote,
    yield_children,
)
from memory_bank.code.parse.parsed_file import Import

if TYPE_CHECKING:
    from tree_sitter import Node


_NAMELESS = {"arrow_function", "function_expression", "generator_function", "class"}

_TEXTS = ("string", "template_string")

_EXPORTS = lazy_pattern(r"^(?:module\.)?exports\.|^this\.")

_DOTTED = lazy_pattern(r"[\w$#]+(?:\.[\w$#]+)*")

_CASE = lazy_pattern(
    r"(?:[fx]?(describe|context|suite)|(?:\w{1,4}\.)?(?:[fx]?it|test|specify))(?:\.\w+)*\s*(?![\w.$])"
)

_PASSED_ON = {
    "object", "pair", "as_expression", "satisfies_expression", "parenthesized_expression",
    "arguments", "call_expression",
}  # fmt: skip

# Nodes above a function that may name it.
_MOST_AROUND = 12

# Bytes at the start of a function that are read.
_MOST_HEAD = 60


def _is_outside(node: Node) -> bool:
    """Tell whether a statement is outside functions and classes."""
    around = node.parent
    if around is not None and around.type in ("export_statement", "ambient_declaration"):
        around = around.parent
    if around is not None and around.type == "statement_block" and around.parent is not None:
        return around.parent.type in ("internal_module", "module")
    return around is not None and around.type == "program"


def _name_of(node: Node) -> str:
    """Return the name that a node gives; nothing for a method of an object that has no name."""
    holder, text = node.parent, flatten(text_of(node))
    if node.type in _NAMELESS:
        return read_field(node) or "default"
    if node.type == "member_expression":
        return _assigned_name(text, holder.child_by_field_name("right") if holder else None)
    around = holder.parent if holder is not None else None
    if around is not None and around.type == "object":
        name = unquote(text)
        is_pair = holder is not None and holder.type == "pair"
        return (name.replace(".", "_") if is_pair else name) if _is_kept(around) else ""
    return unquote(text)


def _assigned_name(text: str, right: Node | None) -> str:
    """Return what `exports.name =`, `Type.prototype.name =` and the like define."""
    if not _DOTTED.fullmatch(text):
        return ""
    name = _EXPORTS.sub("", text).replace(".prototype.", ".")
    if name in ("module.exports", "exports"):
        return (read_field(right) if right is not None else "") or "default"
    return name


def _is_kept(around: Node | None) -> bool:
    """Tell whether an object is, or is part of, what a variable of the file itself is."""
    for _ in range(_MOST_AROUND):
        if around is None or around.type not in _PASSED_ON:
            break
        around = around.parent
    if around is None or around.parent is None:
        return False
    if around.type in ("variable_declarator", "assignment_expression"):
        return _is_outside(around.parent)
    return around.type == "export_statement"


def _read_names(node: Node) -> list[tuple[str, str]]:
    """Return the names that an import or export takes, each with its name in the file."""
    entries, waiting = list[tuple[str, str]](), list(reversed(node.named_children))
    while waiting:
        pattern = waiting.pop()
        if pattern.type in ("import_specifier", "export_specifier"):
            entries.append(
                (read_field(pattern), read_field(pattern, "alias") or read_field(pattern))
            )
        elif pattern.type == "identifier":
            entries.append((text_of(pattern), text_of(pattern)))
        elif pattern.type in ("import_clause", "named_imports", "export_clause"):
            waiting += reversed(pattern.named_children)
    return entries


def _namespace_name(node: Node) -> tuple[str, ...]:
    """Return the name of all of a module: `a` of `import * as a`; nothing for `export *`."""
    clause = next(yield_children(node, "import_clause"), node)
    space = next(yield_children(clause, "namespace_import", "namespace_export"), None)
    if space is not None:
        return tuple(text_of(child) for child in space.named_children[-1:])
    return () if node.type == "export_statement" else ("",)


def _import(node: Node) -> Iterator[Import]:
    source = node.child_by_field_name("source")
    if source is None:  # import x = require("…")
        clause = next(yield_children(node, "import_require_clause"), None)
        source = clause.child_by_field_name("source") if clause is not None else None
    if source is not None:
        entries, target = _read_names(node), flatten(unquote(text_of(source)))
        names, bound = [text for text, _ in entries], [text for _, text in entries]
        original_names = list_other_names(names, bound) if names else _namespace_name(node)
        yield Import(target, tuple(names), line_of(node), original_names)


def _required_target(node: Node) -> str:
    """Return the target of `require("…")` and `import("…")`; empty for other calls."""
    arguments = node.child_by_field_name("arguments")
    if arguments is None or read_field(node, "function")[:8] not in ("require", "import"):
        return ""
    first = next(iter(arguments.named_children), None)
    return flatten(unquote(text_of(first))) if first is not None and first.type in _TEXTS else ""


def _require(node: Node) -> Iterator[Import]:
    if target := _required_target(node):
        pattern = node.parent.child_by_field_name("name") if node.parent is not None else None
        nodes = (
            [*yield_children(pattern, "shorthand_property_identifier_pattern", "pair_pattern")]
            if pattern
            else []
        )
        names = [read_field(key, "key") or text_of(key) for key in nodes]
        bound = [read_field(key, "value") or text_of(key) for key in nodes]
        if pattern is not None and pattern.type == "identifier":
            texts: tuple[str, ...] = (text_of(pattern),)
        else:
            texts = list_other_names(names, bound) if names else ("",)
        yield Import(target, tuple(names), line_of(node), texts)


def _import_in_source(node: Node) -> Iterator[Import]:
    """Yield vitest for `import.meta.vitest`, which a file has that holds its own tests."""
    if node.parent is not None and text_of(node.parent) == "import.meta.vitest":
        yield Import("vitest", (), line_of(node), ("",))


def _component_name(node: Node) -> str:
    """Return the component that an element is of; empty for an element of HTML."""
    name = read_field(node)
    return name if name[:1].isupper() or "." in name else ""


def _case(node: Node) -> Case | None:
    """Return the test, or group of tests, of `describe("…", …)`, `it("…", …)` and the like."""
    function, arguments = (
        node.child_by_field_name("function"),
        node.child_by_field_name("arguments"),
    )
    if (
        function is None
        or arguments is None
        or arguments.type != "arguments"
        or not arguments.named_children
    ):
        return None
    head = (function.text or b"")[:_MOST_HEAD].decode("utf-8", "replace")
    match = _CASE.match(head)
    title = arguments.named_children[0]
    if match is None or (match.end() < len(head) and head[match.end()] not in "(`<"):
        return None
    if title.type not in (*_TEXTS, *(("identifier", "member_expression") if match[1] else ())):
        return None
    return Case(unquote(text_of(title)), "describe", group=bool(match[1]))


def _typed_name_of(node: Node) -> str:
    """Return the name that a node gives; none for a further signature of the next function."""
    holder = node.parent
    if holder is None or holder.type not in ("function_signature", "internal_module", "module"):
        return _name_of(node)
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


_COMMON_SYMBOLS = str(Path(__file__).with_name("ecmascript.scm"))
"""The queries that all of these languages share."""

_JAVASCRIPT = Rules(
    name="javascript",
    suffixes=(".js", ".jsx", ".mjs", ".cjs"),
    grammar="tree_sitter_javascript",
    programs=("node", "nodejs"),
    symbols=(_COMMON_SYMBOLS, __file__),
    name_of=_name_of,
    alone=frozenset(["lexical_declaration", "variable_declaration", "expression_statement"]),
    wrappers=frozenset(["export_statement"]),
    calls={
        "call_expression": "function",
        "new_expression": "constructor",
        "jsx_opening_element": _component_name,
        "jsx_self_closing_element": _component_name,
    },
    marks=frozenset(["decorator"]),
    bases=frozenset(["class_heritage"]),
    quotes=frozenset(['"', "'"]),
    optional=frozenset([";"]),
    imports={
        "import_statement": _import,
        "export_statement": _import,
        "call_expression": _require,
        "meta_property": _import_in_source,
    },
    tests={"call_expression": _case},
    test_files=lazy_pattern(
        r"(?:^|/)(?:__tests__|tests?|specs?|e2e|cypress)/|[._-](?:test|spec|cy)\.\w+$"
    ),
    test_modules=frozenset(["vitest", "node:test", "bun:test", "@jest/globals"]),
)

_TYPESCRIPT = _JAVASCRIPT._replace(
    name="typescript",
    suffixes=(".ts", ".mts", ".cts"),
    grammar="tree_sitter_typescript",
    entry="language_typescript",
    programs=("deno", "bun", "tsx"),
    symbols=(_COMMON_SYMBOLS, str(Path(__file__).with_name("typescript.scm"))),
    name_of=_typed_name_of,
    wrappers=frozenset(["export_statement", "ambient_declaration"]),
    bases=frozenset(["class_heritage", "extends_type_clause"]),
)

_TSX = _TYPESCRIPT._replace(name="tsx", suffixes=(".tsx",), entry="language_tsx", programs=())

RULES = (_JAVASCRIPT, _TYPESCRIPT, _TSX)
