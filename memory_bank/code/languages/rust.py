"""The rules of Rust."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from memory_bank.base import lazy_pattern
from memory_bank.code.languages.base import (
    Case,
    Rules,
    flatten,
    line_of,
    list_other_names,
    read_field,
    split_words,
    text_of,
)
from memory_bank.code.parse.parsed_file import Import

if TYPE_CHECKING:
    from tree_sitter import Node


# Nodes of one declaration that are read: hostile code has more.
_MOST = 500

# Of the path of an import.
_MOST_PARTS = 20

_PATH = ("identifier", "self", "super", "crate", ".", "::")

_TEST = lazy_pattern(r"#\[\s*(?:\w+::)*(?:test|rstest|test_case|wasm_bindgen_test)\b")


def _name(node: Node) -> str:
    """Return a name without the path before it, as of the type that an `impl` adds to."""
    return flatten(text_of(node)).partition("<")[0].rpartition("::")[2].strip()


def _called_name(node: Node) -> str:
    """Return the name before brackets among the arguments of a macro, which are only tokens."""
    before = node.prev_sibling
    if before is None or before.type != "identifier" or not text_of(node).startswith("("):
        return ""
    parts = list[str]()
    while before is not None and len(parts) < _MOST_PARTS and before.type in _PATH:
        parts.append(text_of(before))
        before = before.prev_sibling
    return "".join(reversed(parts)).lstrip(".:")


def _macro_called(node: Node) -> str:
    """Return the name of a macro with its sign, which tells it from a function."""
    return f"{read_field(node, 'macro')}!"


def _file(node: Node) -> Iterator[Import]:
    """Yield the file of a module that is declared without its body."""
    if node.child_by_field_name("body") is None:
        yield Import(f"./{read_field(node)}", (), line_of(node), (read_field(node),))


def _use(node: Node) -> Iterator[Import]:
    """Yield what a `use` takes, each path with the names that are taken from it."""
    entries = dict[str, list[tuple[str, str]]]()
    inner = _inner_modules(node)
    for written, name, bound in _paths(node):
        path = _outer_path(written, inner)
        if path and name:
            entries.setdefault(path, []).append((name, bound))
        else:  # a whole crate, or all names of a module
            yield Import(path or name, (), line_of(node), (bound,) if name else ())
    for target, entry in entries.items():
        names = [name for name, _ in entry]
        original_names = list_other_names(names, [bound for _, bound in entry])
        yield Import(target, tuple(names), line_of(node), original_names)


def _inner_modules(node: Node) -> list[str]:
    """Return the names of the modules with a body that a node is in, the outermost first."""
    names = list[str]()
    at = node.parent
    while at is not None:
        if at.type == "mod_item":
            names.append(read_field(at))
        at = at.parent
    return names[::-1]


def _outer_path(path: str, inner: list[str]) -> str:
    """Return a path in modules with a body as it is written outside of them."""
    first, *rest = path.split("::")
    if not inner or first not in ("self", "super"):
        return path
    parts, names = [first, *rest], list(inner)
    while parts and names and parts[0] == "super":
        parts, names = parts[1:], names[:-1]
    if parts and parts[0] == "super":
        return "::".join(parts)
    return "::".join(["self", *names, *(part for part in parts if part != "self")])


def _paths(node: Node) -> Iterator[tuple[str, str, str]]:
    """Yield the paths of a `use`, the name taken from each (empty: all), and what it is called."""
    waiting = [("", "", node.child_by_field_name("argument"))]
    for _ in range(_MOST):
        if not waiting:
            break
        before, alias, next_node = waiting.pop()
        if next_node is None:
            continue
        if next_node.type == "use_as_clause":
            waiting.append(
                (before, read_field(next_node, "alias"), next_node.child_by_field_name("path"))
            )
        elif next_node.type == "scoped_use_list":
            inner = "::".join(filter(None, (before, read_field(next_node, "path"))))
            waiting.append((inner, "", next_node.child_by_field_name("list")))
        elif next_node.type == "use_list":
            waiting += [(before, "", child) for child in reversed(next_node.named_children)]
        elif next_node.type == "use_wildcard":
            path = next((text_of(child) for child in next_node.named_children), "")
            yield "::".join(filter(None, (before, path))), "", ""
        else:
            whole = "::".join(filter(None, (before, flatten(text_of(next_node)))))
            path, _, name = whole.removesuffix("::self").rpartition("::")
            yield path, name, alias or name


def _test(node: Node) -> Case | None:
    before = node.prev_named_sibling
    while before is not None and before.type in ("attribute_item", "line_comment", "block_comment"):
        if _TEST.match(text_of(before)):
            return Case(split_words(read_field(node), "test"), "rust")
        before = before.prev_named_sibling
    return None


def _group(node: Node) -> Case | None:
    """Return the group of a module, unless its name only says that it has tests."""
    name = read_field(node)
    plain = name in ("test", "tests") or node.child_by_field_name("body") is None
    return (
        None
        if plain
        else Case(split_words(name, "test").removesuffix(" tests"), "rust", group=True)
    )


def _doc(node: Node) -> str | None:
    """Return the text of the comments `//!` that a file or module begins with."""
    body = node if node.type == "source_file" else node.child_by_field_name("body")
    if body is None or node.type not in ("source_file", "mod_item"):
        return None
    lines = list[str]()
    for child in body.named_children[:_MOST]:
        if child.type != "line_comment" or child.child_by_field_name("inner") is None:
            break
        lines.append(text_of(child.child_by_field_name("doc")).strip())
    return "\n".join(lines).strip() or None


RULES = Rules(
    name="rust",
    suffixes=(".rs",),
    grammar="tree_sitter_rust",
    symbols=(__file__,),
    name_of=_name,
    bases=frozenset(["trait"]),
    calls={
        "call_expression": "function",
        "macro_invocation": _macro_called,
        "token_tree": _called_name,
    },
    comments=frozenset(["line_comment", "block_comment"]),
    inner_doc=_doc,
    marks=frozenset(["attribute_item"]),
    imports={"use_declaration": _use, "mod_item": _file},
    tests={"function_item": _test, "mod_item": _group},
)
