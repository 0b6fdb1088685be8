"""The rules of Bash."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from memory_bank.base import lazy_pattern
from memory_bank.code.languages.base import (
    Case,
    Rules,
    flatten,
    line_of,
    read_field,
    text_of,
    unquote,
)
from memory_bank.code.parse.parsed_file import Import

if TYPE_CHECKING:
    from tree_sitter import Node


_MOST_STATEMENTS = 500
"""Maximum number of statements of one test of bats."""

_BEYOND_BMP = lazy_pattern(rb"[\xf0-\xf7][\x80-\xbf]{0,3}")

_FOLDER = lazy_pattern(r"^\$\w+/|^\$\{[^}]*\}/|^\$\(.*\)/")


def _replace_astral(data: bytes) -> bytes:
    """Return a file with `_` for characters from U+10000 on, at the same offsets.

    The grammar's scanner looks them up beyond the end of a table of C, which can crash the process.
    """
    return _BEYOND_BMP.sub(lambda match: b"_" * len(match[0]), data)


def _command_name(node: Node) -> str:
    name = read_field(node)
    if name == "run":  # of bats
        return read_field(node, "argument")
    return "" if name in ("@test", "}") else name


def _source(node: Node) -> Iterator[Import]:
    if read_field(node) in ("source", ".") and (file := node.child_by_field_name("argument")):
        target = _FOLDER.sub("./", unquote(text_of(file)))
        yield Import(flatten(target), (), line_of(node))


def _case(node: Node) -> Case | None:
    """Return a test of bats; the parser reads `@test` and the closing bracket as commands."""
    title = node.child_by_field_name("argument")
    if read_field(node) != "@test" or title is None:
        return None
    last: Node | None = node
    for _ in range(_MOST_STATEMENTS):
        last = last.next_sibling if last is not None else None
        if last is None or text_of(last) == "}":
            break
    return Case(unquote(text_of(title)), "bats", last=last)


RULES = Rules(
    name="bash",
    suffixes=(".sh", ".bash", ".bats"),
    names=(".bashrc", ".bash_profile", ".profile"),
    grammar="tree_sitter_bash",
    programs=("bash", "sh", "dash", "ksh", "zsh", "bats"),
    symbols=(__file__,),
    calls={"command": _command_name},
    imports={"command": _source},
    tests={"command": _case},
    readable=_replace_astral,
)
