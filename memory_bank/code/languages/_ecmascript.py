"""The rules that JavaScript and TypeScript share."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from memory_bank.code.languages.base import (
    Case,
    NameDefinition,
    flat,
    inside,
    line_of,
    named,
    other_names,
    text_of,
    unquoted,
)
from memory_bank.code.parse.parsed_file import Import

if TYPE_CHECKING:
    from tree_sitter import Node


_FUNCTIONS = {"arrow_function", "function_expression", "generator_function", "function"}

_CLASSES = {"class"}

_TEXTS = ("string", "template_string")

_CAPITALS = re.compile(r"#?[A-Z][A-Z0-9_]*")

_EXPORTS = re.compile(r"^(?:module\.)?exports\.|^this\.")

_DOTTED = re.compile(r"[\w$#]+(?:\.[\w$#]+)*")

_CASE = re.compile(
    r"(?:[fx]?(describe|context|suite)|(?:\w{1,4}\.)?(?:[fx]?it|test|specify))(?:\.\w+)*\s*(?![\w.$])"
)

_PASSED_ON = {
    "object", "pair", "as_expression", "satisfies_expression", "parenthesized_expression",
    "arguments", "call_expression",
}  # fmt: skip

_MOST_AROUND = 12

_MOST_HEAD = 60

TEST_FILES = re.compile(
    r"(?:^|/)(?:__tests__|tests?|specs?|e2e|cypress)/|[._-](?:test|spec|cy)\.\w+$"
)

TEST_MODULES = frozenset(["vitest", "node:test", "bun:test", "@jest/globals"])


def _function_or_class(value: Node | None) -> str:
    """Return the kind of the definition that a value is; empty for another value."""
    kind = "" if value is None else value.type
    return "function" if kind in _FUNCTIONS else "class" if kind in _CLASSES else ""


def _body(node: Node | None) -> Node | None:
    return None if node is None else node.child_by_field_name("body")


def is_outside(node: Node) -> bool:
    """Tell whether a statement is outside functions and classes."""
    around = node.parent
    if around is not None and around.type in ("export_statement", "ambient_declaration"):
        around = around.parent
    if around is not None and around.type == "statement_block" and around.parent is not None:
        return around.parent.type in ("internal_module", "module")
    return around is not None and around.type == "program"


def _variable(node: Node) -> Iterator[NameDefinition]:
    """Yield the function, class or constant that a variable is."""
    name, statement = node.child_by_field_name("name"), node.parent
    value = node.child_by_field_name("value")
    if name is None or statement is None or name.type != "identifier":
        return
    whole = statement if statement.named_child_count == 1 else node
    if kind := _function_or_class(value):
        yield NameDefinition(text_of(name), kind, whole, _body(value))
    elif is_outside(statement) and not (value is not None and _required(value)):
        word = statement.child_by_field_name("kind")
        if text_of(word) == "const" or _CAPITALS.fullmatch(text_of(name)):
            yield NameDefinition(text_of(name), "constant", whole)


def _assigned(node: Node) -> Iterator[NameDefinition]:
    """Yield what `exports.name =`, `Type.prototype.name =` and the like define."""
    statement, right = node.parent, node.child_by_field_name("right")
    left = flat(text_of(node.child_by_field_name("left")))
    if statement is None or statement.type != "expression_statement" or not _DOTTED.fullmatch(left):
        return
    name = _EXPORTS.sub("", left).replace(".prototype.", ".")
    kind = _function_or_class(right)
    if name in ("module.exports", "exports"):
        name = named(right, "name") or "default" if right is not None and kind else ""
    elif not kind and _EXPORTS.match(left) and _CAPITALS.fullmatch(name):
        kind = "constant"
    if kind and name and "." in left:
        is_method = kind == "function" and ("." in name or left.startswith("this."))
        yield NameDefinition(name, "method" if is_method else kind, statement, _body(right))


def _method(node: Node) -> Iterator[NameDefinition]:
    """Yield a method of a class, or of an object that has a name."""
    name = node.child_by_field_name("name")
    around = node.parent
    if name is None or name.type == "computed_property_name" or around is None:
        return
    if around.type == "class_body" or _is_kept(around):
        yield NameDefinition(unquoted(text_of(name)), "method", node, _body(node))


def _pair(node: Node) -> Iterator[NameDefinition]:
    """Yield a function that is the value of a key of an object that has a name."""
    value = node.child_by_field_name("value")
    if _function_or_class(value) and (name := _key(node)):
        yield NameDefinition(name, "method", node, _body(value))


def _key(node: Node) -> str:
    """Return the key of a pair in an object that has a name; empty for another."""
    key, around = node.child_by_field_name("key"), node.parent
    if key is None or around is None or key.type not in ("property_identifier", "string"):
        return ""
    return unquoted(text_of(key)).replace(".", "_") if _is_kept(around) else ""


def inner_object(node: Node) -> str:
    """Return the name by which an object inside another qualifies its methods."""
    value = node.child_by_field_name("value")
    return _key(node) if value is not None and value.type == "object" else ""


def _is_kept(around: Node | None) -> bool:
    """Tell whether an object is, or is part of, what a variable of the file itself is."""
    for _ in range(_MOST_AROUND):
        if around is None or around.type not in _PASSED_ON:
            break
        around = around.parent
    if around is None or around.parent is None:
        return False
    if around.type in ("variable_declarator", "assignment_expression"):
        return is_outside(around.parent)
    return around.type == "export_statement"


def _field(node: Node) -> Iterator[NameDefinition]:
    """Yield a field of a class that is a function or a constant."""
    value = node.child_by_field_name("value")
    name = named(node) or named(node, "property")
    if _function_or_class(value):
        yield NameDefinition(name, "method", node, _body(value))
    elif _CAPITALS.fullmatch(name) and value is not None:
        yield NameDefinition(name, "constant", node)


def _default(node: Node) -> Iterator[NameDefinition]:
    """Yield a function or class that is exported without a name."""
    value = node.child_by_field_name("value")
    if kind := _function_or_class(value):
        yield NameDefinition(
            named(value) if value and named(value) else "default", kind, node, _body(value)
        )


def _taken(node: Node) -> list[tuple[str, str]]:
    """Return the names that an import or export takes, each with its name in the file."""
    found, waiting = list[tuple[str, str]](), list(reversed(node.named_children))
    while waiting:
        one = waiting.pop()
        if one.type in ("import_specifier", "export_specifier"):
            found.append((named(one), named(one, "alias") or named(one)))
        elif one.type == "identifier":
            found.append((text_of(one), text_of(one)))
        elif one.type in ("import_clause", "named_imports", "export_clause"):
            waiting += reversed(one.named_children)
    return found


def _whole(node: Node) -> tuple[str, ...]:
    """Return the name of all of a module: `a` of `import * as a`; nothing for `export *`."""
    clause = next(inside(node, "import_clause"), node)
    space = next(inside(clause, "namespace_import", "namespace_export"), None)
    if space is not None:
        return tuple(text_of(one) for one in space.named_children[-1:])
    return () if node.type == "export_statement" else ("",)


def _import(node: Node) -> Iterator[Import]:
    source = node.child_by_field_name("source")
    if source is None:  # import x = require("…")
        clause = next(inside(node, "import_require_clause"), None)
        source = clause.child_by_field_name("source") if clause is not None else None
    if source is not None:
        taken, target = _taken(node), flat(unquoted(text_of(source)))
        names, bound = [one for one, _ in taken], [one for _, one in taken]
        other = other_names(names, bound) if names else _whole(node)
        yield Import(target, tuple(names), line_of(node), other)


def _required(node: Node) -> str:
    """Return the target of `require("…")` and `import("…")`; empty for other calls."""
    given = node.child_by_field_name("arguments")
    if given is None or named(node, "function")[:8] not in ("require", "import"):
        return ""
    first = next(iter(given.named_children), None)
    return flat(unquoted(text_of(first))) if first is not None and first.type in _TEXTS else ""


def _require(node: Node) -> Iterator[Import]:
    if target := _required(node):
        pattern = node.parent.child_by_field_name("name") if node.parent is not None else None
        some = (
            [*inside(pattern, "shorthand_property_identifier_pattern", "pair_pattern")]
            if pattern
            else []
        )
        names = [named(one, "key") or text_of(one) for one in some]
        bound = [named(one, "value") or text_of(one) for one in some]
        if pattern is not None and pattern.type == "identifier":
            other: tuple[str, ...] = (text_of(pattern),)
        else:
            other = other_names(names, bound) if names else ("",)
        yield Import(target, tuple(names), line_of(node), other)


def _in_source(node: Node) -> Iterator[Import]:
    """Yield vitest for `import.meta.vitest`, which a file has that holds its own tests."""
    if node.parent is not None and text_of(node.parent) == "import.meta.vitest":
        yield Import("vitest", (), line_of(node), ("",))


def _called(node: Node) -> str:
    """Return the component that an element is of; empty for an element of HTML."""
    name = named(node)
    return name if name[:1].isupper() or "." in name else ""


def _case(node: Node) -> Case | None:
    """Return the test, or group of tests, of `describe("…", …)`, `it("…", …)` and the like."""
    function, given = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    if function is None or given is None or given.type != "arguments" or not given.named_children:
        return None
    head = (function.text or b"")[:_MOST_HEAD].decode("utf-8", "replace")
    found = _CASE.match(head)
    title = given.named_children[0]
    if found is None or (found.end() < len(head) and head[found.end()] not in "(`<"):
        return None
    if title.type not in (*_TEXTS, *(("identifier", "member_expression") if found[1] else ())):
        return None
    return Case(unquoted(text_of(title)), "describe", group=bool(found[1]))


KINDS = {
    "function_declaration": "function",
    "generator_function_declaration": "function",
    "class_declaration": "class",
}

DEFINE: Mapping[str, Callable[[Node], Iterable[NameDefinition]]] = {
    "variable_declarator": _variable,
    "assignment_expression": _assigned,
    "method_definition": _method,
    "pair": _pair,
    "field_definition": _field,
    "public_field_definition": _field,
    "export_statement": _default,
}

CALLS: Mapping[str, str | Callable[[Node], str]] = {
    "call_expression": "function",
    "new_expression": "constructor",
    "jsx_opening_element": _called,
    "jsx_self_closing_element": _called,
}

IMPORTS: Mapping[str, Callable[[Node], Iterable[Import]]] = {
    "import_statement": _import,
    "export_statement": _import,
    "call_expression": _require,
    "meta_property": _in_source,
}

TESTS: Mapping[str, Callable[[Node], Case | None]] = {"call_expression": _case}
