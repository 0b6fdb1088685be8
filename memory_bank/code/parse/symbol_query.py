"""Find the definitions in a syntax tree by the query of its language.

A query is the file `languages/NAME.scm`, in tree-sitter's own language. Each pattern captures the
node of a definition by its kind (`@function`, `@class`, …; see `parsed_file.KINDS`) and its
`@name`. What qualifies names but is no symbol, such as an `impl`, is a `@scope`; a type that is
named before a method is `@of`; what follows the signature is `@body`, by default the node's field
`body`. If several patterns match a name, the first one counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from memory_bank.base import NamedTuple
from memory_bank.code.languages.base import Rules, text_of
from memory_bank.code.parse.parsed_file import KINDS

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Query

SCOPE = "scope"
"""The kind of what qualifies names but is no symbol."""

_KINDS = (*KINDS, SCOPE)

_MOST_MATCHES = 65_536
"""Matches that may be in progress at once, so that a hostile file can't fill the memory."""


class Match(NamedTuple):
    """A node that a pattern matched."""

    kind: str
    node: Node
    name: Node
    captures: Mapping[str, Sequence[Node]]


class Definition(NamedTuple):
    """A node that defines a name."""

    name: str
    """May have dots: `Type.method` of a method that is defined outside its type."""
    kind: str
    node: Node
    """All of it but decorators."""
    body: Node | None
    """What follows the signature."""
    end: int
    """The byte after the last that it qualifies."""
    name_start: int
    """The first byte of its name."""


def compile_query(rules: Rules, language: Language) -> Query:
    """Compile the query of a language, which may have several files."""
    from tree_sitter import Query

    texts = (Path(module).with_suffix(".scm").read_text("utf-8") for module in rules.symbols)
    return Query(language, "\n".join(texts))


def find_matches(query: Query, root: Node) -> dict[int, list[Match]]:
    """Map the ids of nodes to what is defined there, in the order of the names."""
    from tree_sitter import QueryCursor

    by_node: dict[int, list[Match]] = {}
    matched: set[tuple[int, bool]] = set()
    matches = QueryCursor(query, match_limit=_MOST_MATCHES).matches(root)
    for _, captures in sorted(matches, key=lambda match: match[0]):
        kind = next(word for word in _KINDS if word in captures)
        match = Match(kind, captures[kind][0], captures["name"][0], captures)
        place = match.node.id if kind == SCOPE else match.name.start_byte
        if (place, kind == SCOPE) not in matched:
            matched.add((place, kind == SCOPE))
            by_node.setdefault(match.node.id, []).append(match)
    for same_matches in by_node.values():
        same_matches.sort(key=lambda match: match.name.start_byte)
    return by_node


def find_definition(match: Match, node: Node, rules: Rules) -> Definition | None:
    """Return what a match defines at a node; None if its name says that it is no definition.

    The node is that of the match, as the object that the walk has: its children are read once.
    """
    kind, captures = match.kind, match.captures
    name = rules.name_of(match.name)
    if not name:
        return None
    if types := captures.get("of"):
        name = f"{text_of(types[0])}.{name}"
    body = captures["body"][0] if "body" in captures else _body_of(node)
    end = _end_of_module(node) if kind == "module" and body is None else node.end_byte
    return Definition(name, kind, _whole_declaration(node, rules), body, end, match.name.start_byte)


def _body_of(node: Node) -> Node | None:
    """Return the body of a definition, or of the function that a variable is."""
    for inner in (node, node.child_by_field_name("value"), node.child_by_field_name("right")):
        body = inner.child_by_field_name("body") if inner is not None else None
        if body is not None:
            return body
    return None


def _whole_declaration(node: Node, rules: Rules) -> Node:
    """Return the declaration around a definition if it declares nothing else."""
    around = node.parent
    is_alone = around is not None and around.type in rules.alone and around.named_child_count == 1
    return around if is_alone and around is not None else node


def _end_of_module(node: Node) -> int:
    """Return where a namespace without a body ends: before the next one, or with what has it."""
    after = node.next_named_sibling
    while after is not None and after.type != node.type:
        after = after.next_named_sibling
    if after is not None:
        return after.start_byte
    return node.parent.end_byte if node.parent is not None else node.end_byte
