"""The rules of Java."""

from __future__ import annotations

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
    yield_children,
)
from memory_bank.code.parse.parsed_file import Import

if TYPE_CHECKING:
    from tree_sitter import Node


_TESTS = {"Test", "ParameterizedTest", "RepeatedTest", "TestFactory", "TestTemplate"}

_TEST_CLASS = lazy_pattern(r"Tests?(?:Case)?$|IT$|^Test(?=[A-Z])")

_TITLE = lazy_pattern(r'"((?:[^"\\]|\\.)*)"')

_ANNOTATIONS = ("marker_annotation", "annotation")


def _import(node: Node) -> Iterator[Import]:
    target = next(
        (text_of(child) for child in yield_children(node, "scoped_identifier", "identifier")),
        "",
    )
    names = ("*",) if any(yield_children(node, "asterisk")) else ()
    bound = () if names else (flatten(target).rpartition(".")[2],)
    yield Import(flatten(target), names, line_of(node), bound)


def _annotations(node: Node) -> dict[str, str]:
    """Return the annotations of a definition: their text by their name."""
    return {
        read_field(annotation).rpartition(".")[2]: text_of(annotation)
        for marks in yield_children(node, "modifiers")
        for annotation in yield_children(marks, *_ANNOTATIONS)
    }


def _display_name(annotations: dict[str, str]) -> str:
    """Return the text of `@DisplayName`."""
    match = _TITLE.search(annotations.get("DisplayName", ""))
    return match[1].replace('\\"', '"') if match else ""


def _test(node: Node) -> Case | None:
    marks, name = _annotations(node), read_field(node)
    if not _TESTS & marks.keys() and not (name.startswith("test") and _is_in_test_case(node)):
        return None
    return Case(_display_name(marks) or split_words(name, "test"), "junit")


def _is_in_test_case(method: Node) -> bool:
    """Tell whether a method is in a class of JUnit 3."""
    around = method.parent.parent if method.parent else None
    return around is not None and read_field(around, "superclass").endswith("TestCase")


def _group(node: Node) -> Case | None:
    marks, name = _annotations(node), read_field(node)
    text = _display_name(marks)
    if not text and "Nested" not in marks and not _TEST_CLASS.search(name):
        return None
    return Case(text or split_words(_TEST_CLASS.sub("", name)), "junit", group=True)


RULES = Rules(
    name="java",
    suffixes=(".java",),
    grammar="tree_sitter_java",
    symbols=(__file__,),
    attributes=frozenset(_ANNOTATIONS),
    bases=frozenset(["superclass", "interfaces", "extends_interfaces"]),
    calls={"method_invocation": read_call, "object_creation_expression": read_call},
    comments=frozenset(["line_comment", "block_comment"]),
    imports={"import_declaration": _import},
    tests={"class_declaration": _group, "method_declaration": _test},
)
