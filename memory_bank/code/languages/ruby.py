"""The rules of Ruby."""

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


_GROUPS = ("describe", "context", "feature", "shared_examples", "shared_examples_for")

_CASES = ("it", "specify", "example", "scenario", "test", "should", "fit", "xit")

_TITLES = ("string", "constant", "scope_resolution", "simple_symbol")

_IMPORTS = ("require", "require_relative", "load", "autoload")

_TEST_BASE = lazy_pattern(r"(?:TestCase|Minitest(?:::|\.)Test|Test::Unit\b.*|::Test|Spec)$")


def _name(node: Node) -> str:
    return flatten(text_of(node)).replace("::", ".").lstrip(".")


def _import(node: Node) -> Iterator[Import]:
    word, arguments = read_field(node, "method"), node.child_by_field_name("arguments")
    if (
        word not in _IMPORTS
        or arguments is None
        or node.child_by_field_name("receiver") is not None
    ):
        return
    if texts := [unquote(text_of(argument)) for argument in yield_children(arguments, "string")]:
        near = word == "require_relative" and not texts[-1].startswith(".")
        yield Import(flatten(f"./{texts[-1]}" if near else texts[-1]), (), line_of(node))


def _block(node: Node) -> Case | None:
    """Return a test, or a group of tests, of RSpec or minitest."""
    word, arguments = read_field(node, "method"), node.child_by_field_name("arguments")
    receiver = text_of(node.child_by_field_name("receiver"))
    if word not in (*_GROUPS, *_CASES) or receiver not in ("", "RSpec"):
        return None
    if arguments is None or node.child_by_field_name("block") is None:
        return None
    title = " ".join(
        unquote(text_of(argument)).lstrip(":") for argument in yield_children(arguments, *_TITLES)
    )
    framework = "minitest" if word in ("test", "should") else "rspec"
    return Case(title, framework, group=word in _GROUPS) if title else None


def _group(node: Node) -> Case | None:
    if not _TEST_BASE.search(read_field(node, "superclass")):
        return None
    name = read_field(node).removeprefix("Test").removesuffix("Test")
    return Case(split_words(name), "minitest", group=True)


def _test(node: Node) -> Case | None:
    name = read_field(node)
    return Case(split_words(name, "test"), "minitest") if name.startswith("test_") else None


RULES = Rules(
    name="ruby",
    suffixes=(".rb", ".rake", ".gemspec", ".ru"),
    names=("Rakefile", "Gemfile"),
    grammar="tree_sitter_ruby",
    programs=("ruby",),
    symbols=(__file__,),
    name_of=_name,
    calls={"call": read_call},
    bases=frozenset(["superclass"]),
    quotes=frozenset(['"']),
    optional=frozenset([";"]),
    imports={"call": _import},
    tests={"call": _block, "class": _group, "method": _test},
    test_files=re.compile(r"(?:^|/)(?:tests?|specs?|features)/|_(?:test|spec)\.rb$|(?:^|/)test_"),
)
