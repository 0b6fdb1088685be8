"""The rules of C#."""

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


_FRAMEWORKS = {
    "Fact": "xunit", "Theory": "xunit", "Test": "nunit", "TestCase": "nunit",
    "TestCaseSource": "nunit", "TestMethod": "mstest", "DataTestMethod": "mstest",
}  # fmt: skip

_TEST_CLASS = lazy_pattern(r"(?:Tests?|Fixture|Specs?)$")

_SAID = lazy_pattern(
    r'(?:DisplayName|Description)\s*(?:=|\()\s*@?"([^"]*)"|^TestMethod\("([^"]*)"\)'
)

_TARGETS = ("identifier", "qualified_name", "alias_qualified_name", "generic_name")


def _name(node: Node) -> str:
    """Return a name with the sign or word that tells a destructor and an operator from others."""
    around = node.parent.type if node.parent is not None else ""
    signs = {"operator_declaration": "operator", "destructor_declaration": "~"}
    return signs.get(around, "") + flatten(text_of(node))


def _using(node: Node) -> Iterator[Import]:
    if names := [*yield_children(node, *_TARGETS)]:
        bound = tuple(text_of(name) for name in names[:-1])
        yield Import(flatten(text_of(names[-1])), (), line_of(node), bound)


def _attributes(node: Node) -> dict[str, str]:
    """Return the attributes of a definition: their text by their name."""
    return {
        read_field(attribute).rpartition(".")[2].removesuffix("Attribute"): text_of(attribute)
        for attribute_list in yield_children(node, "attribute_list")
        for attribute in yield_children(attribute_list, "attribute")
    }


def _test(node: Node) -> Case | None:
    attributes = _attributes(node)
    framework = next(
        (_FRAMEWORKS[attribute] for attribute in attributes if attribute in _FRAMEWORKS), None
    )
    if framework is None:
        return None
    match = next(
        (match[1] or match[2] for match in map(_SAID.search, attributes.values()) if match),
        "",
    )
    return Case(match or split_words(read_field(node), "test"), framework)


def _group(node: Node) -> Case | None:
    name = read_field(node)
    if not {"TestFixture", "TestClass"} & _attributes(node).keys() and not _TEST_CLASS.search(name):
        return None
    return Case(split_words(_TEST_CLASS.sub("", name)), "xunit", group=True)


RULES = Rules(
    name="c_sharp",
    suffixes=(".cs", ".csx"),
    grammar="tree_sitter_c_sharp",
    symbols=(__file__,),
    name_of=_name,
    attributes=frozenset(["attribute_list"]),
    bases=frozenset(["base_list"]),
    calls={"invocation_expression": "function", "object_creation_expression": read_call},
    imports={"using_directive": _using},
    tests={"class_declaration": _group, "method_declaration": _test},
)
