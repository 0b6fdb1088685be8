"""The rules of PHP."""

from __future__ import annotations

import re
from collections.abc import Iterator
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


_FILE = lazy_pattern(r"(?:(__DIR__|dirname\(__FILE__\))[\s.(]*)?(?:'([^']*)'|\"([^\"]*)\")")

_TEST_MARK = lazy_pattern(r"@test\b|#\[(?:[\w\\]*\\)?Test\]")

_SAID = lazy_pattern(r"\bTestDox\(\s*(?:'([^']*)'|\"([^\"]*)\")|@testdox\s+([^\n*]+)")

_TEXTS = ("string", "encapsed_string")


def _name(node: Node) -> str:
    """Return a name with dots, also one that `define` takes as a text."""
    return flatten(unquote(text_of(node))).replace("\\", ".")


def _use(node: Node) -> Iterator[Import]:
    prefix = next((text_of(clause) + "\\" for clause in yield_children(node, "namespace_name")), "")
    for clause in yield_children(node.child_by_field_name("body") or node, "namespace_use_clause"):
        target = flatten(prefix + text_of(next(iter(clause.named_children), None))).lstrip("\\")
        name = read_field(clause, "alias") or target.rpartition("\\")[2]
        yield Import(target, (), line_of(clause), (name,))


def _include(node: Node) -> Iterator[Import]:
    if match := _FILE.search(flatten(text_of(node))):
        target = match[2] or match[3] or ""
        yield Import(f"./{target.lstrip('/')}" if match[1] else target, (), line_of(node))


def _group(node: Node) -> Case | None:
    base, name = (
        next((text_of(clause) for clause in yield_children(node, "base_clause")), ""),
        read_field(node),
    )
    if not base.endswith("TestCase") and not name.endswith("Test"):
        return None
    return Case(split_words(name.removesuffix("Test")), "phpunit", group=True)


def _test(node: Node) -> Case | None:
    before, name = node.prev_named_sibling, read_field(node)
    about = text_of(before) if before is not None and before.type == "comment" else ""
    about += "".join(
        f"#[{text_of(mark)}]"
        for attribute_list in yield_children(node, "attribute_list")
        for group in yield_children(attribute_list, "attribute_group")
        for mark in yield_children(group, "attribute")
    )
    if not name.startswith("test") and not _TEST_MARK.search(about):
        return None
    match = _SAID.search(about)
    return Case(
        flatten(match[1] or match[2] or match[3]) if match else split_words(name, "test"), "phpunit"
    )


RULES = Rules(
    name="php",
    suffixes=(".php", ".phtml"),
    grammar="tree_sitter_php",
    entry="language_php",
    programs=("php",),
    symbols=(__file__,),
    name_of=_name,
    attributes=frozenset(["attribute_list"]),
    bases=frozenset(["base_clause", "class_interface_clause"]),
    calls={
        "function_call_expression": read_call,
        "member_call_expression": read_call,
        "nullsafe_member_call_expression": read_call,
        "scoped_call_expression": read_call,
        "object_creation_expression": read_call,
    },
    imports={
        "namespace_use_declaration": _use,
        "include_expression": _include,
        "include_once_expression": _include,
        "require_expression": _include,
        "require_once_expression": _include,
    },
    tests={"class_declaration": _group, "method_declaration": _test},
    test_files=re.compile(r"(?:^|/)tests?/|Test\.php$|(?:^|/)test[^/]*\.php$", re.IGNORECASE),
)
