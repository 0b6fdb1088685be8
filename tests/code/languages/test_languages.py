"""What is found in the languages besides Python, in the files of `sources`.

What is found in a file is written beside it; after a change that is meant, write it anew with
UPDATE_TRANSCRIPTS=1 and read the difference.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_bank.code.languages.base import detect_language, may_hold_tests
from memory_bank.code.parse import parsing
from memory_bank.code.parse.parsed_file import ParsedFile

SOURCES = Path(__file__).with_name("sources")

FILES = sorted(one.name for one in SOURCES.iterdir() if one.suffix not in {".txt", ".json"})

CHANGES = json.loads((SOURCES / "changes.json").read_text("utf-8"))
"""Rows of a file, a text in it, what replaces the first one, and the symbols whose fingerprints
change: none for another layout or comment."""


def parse(name: str, text: str) -> ParsedFile:
    """Parse a text as the file of that name."""
    return parsing.parse(text.encode(), detect_language(name) or "")


def source(name: str) -> str:
    return (SOURCES / name).read_text("utf-8")


def told(found: ParsedFile) -> Iterator[str]:
    """Yield lines that say what was found in a file."""
    yield f"{found.language}: {found.doc!r} {found.problem}".rstrip()
    for one in found.imports:
        yield f"{one.line} import {one.target} {' '.join(one.names)}".rstrip()
    for symbol in found.symbols:
        yield f"{symbol.line}-{symbol.end_line} {symbol.kind} {symbol.qualified}: {symbol.signature}"
        yield from (f"    doc {symbol.doc!r}" for _ in symbol.doc[:1])
        yield from (f"    calls {call}" for call in symbol.calls)
    for test in found.tests:
        yield f"{test.line}-{test.end_line} {test.framework} {test.title}: {test.snippet}"
        yield from (f"    symbol {test.symbol}" for _ in test.symbol[:1])
        yield from (f"    calls {call}" for call in test.calls)


@pytest.mark.parametrize("name", FILES)
def test_what_is_found_in_a_file_is_as_written_down(name: str) -> None:
    found = "\n".join(told(parse(name, source(name)))) + "\n"
    written = SOURCES / f"{name}.txt"
    if os.environ.get("UPDATE_TRANSCRIPTS"):
        written.write_text(found, "utf-8")
    assert found == written.read_text("utf-8")


@pytest.mark.parametrize(("name", "old", "new", "changed"), CHANGES)
def test_a_change_of_code_alone_changes_fingerprints(
    name: str, old: str, new: str, changed: str
) -> None:
    text = source(name)
    assert old in text
    number = 1 if changed else -1
    before, after = (parse(name, one).symbols for one in (text, text.replace(old, new, number)))
    assert changed == " ".join(
        one.qualified
        for one, other in zip(before, after, strict=True)
        if one.fingerprint != other.fingerprint
    )


def test_a_reformat_leaves_the_fingerprints_of_javascript() -> None:
    text = "const f = (a) => {\n  if (a) { return g(a, 'x') }\n  return [1, 2];\n};\n"
    other = 'const f = (\n  a,\n) => {\n\n  if (a) {\n return g(a, "x"); } // note\n  return [\n1, 2,]\n}\n'
    (first,), (second,) = parse("f.js", text).symbols, parse("f.js", other).symbols
    assert first.fingerprint == second.fingerprint
    for old, new in (("'x'", "'y'"), ("[1, 2]", "[1, 3]"), ("g(", "h("), ("if (a)", "if (b)")):
        assert parse("f.js", text.replace(old, new)).symbols[0].fingerprint != first.fingerprint


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.py", "def first():\n    pass\n\n\ndef broken(:\n    pass\n"),
        ("a.c", "int first(void) { return 1; }\n\nint broken( { ;\n\nint last(void) { return 2; }\n"),
        ("a.cpp", "int first() { return 1; }\n\nint broken( { ;\n\nint last() { return 2; }\n"),
        ("A.cs", "class Cart {\n    int first() { return 1; }\n    int Broken( { ;\n    int Last() {}"),
        ("A.java", "class Cart {\n    int first() { return 1; }\n    int broken( { ;\n    int last() {}"),
        ("a.php", "<?php\nfunction first() { return 1; }\nfunction broken( { ;\nfunction last() {}"),
        ("a.rb", "def first\n  1\nend\n\ndef broken(\n\nclass Last\nend\n"),
    ],
)  # fmt: skip
def test_a_broken_file_gives_what_can_be_read(name: str, text: str) -> None:
    found = parse(name, text)
    assert found.problem
    assert "first" in {one.name for one in found.symbols}


@pytest.mark.parametrize(
    ("language", "paths"),
    [
        ("c", "src/cart.c include/cart.h"),
        ("cpp", "a.cc a.cpp a.cxx a.hpp a.hh a.hxx a.ipp"),
        ("c_sharp", "src/Cart.cs"),
        ("java", "src/Cart.java"),
        ("php", "src/Cart.php views/cart.phtml"),
        ("ruby", "lib/cart.rb lib/tasks/x.rake Rakefile a/Gemfile"),
        ("typescript", "a.ts a.mts"),
        ("tsx", "a.tsx"),
        ("python", "a/b.py stubs.pyi"),
        (None, "notes.txt py"),
    ],
)
def test_a_language_is_told_by_the_name_of_a_file(language: str | None, paths: str) -> None:
    assert {detect_language(path) for path in paths.split()} == {language}


@pytest.mark.parametrize(
    ("first", "language"),
    [
        ("#!/bin/sh", "bash"),
        ("#!/usr/bin/env bash", "bash"),
        ("#!/usr/bin/bash -e", "bash"),
        ("#!/usr/bin/env php", "php"),
        ("#!/usr/bin/env ruby", "ruby"),
        ("#!/usr/bin/env python3", "python"),
        ("#!/bin/unknown", None),
    ],
)
def test_the_language_of_a_script_is_told_by_its_first_line(
    first: str, language: str | None
) -> None:
    assert detect_language("bin/deploy", first) == language


@pytest.mark.parametrize(
    ("path", "other"),
    [
        ("src/cart.test.js", "src/contest.js"),
        ("src/__tests__/cart.js", "src/contest.js"),
        ("test/a.mjs", "src/contest.js"),
        ("a_spec.js", "src/contest.js"),
        ("e/a.cy.js", "src/contest.js"),
        ("spec/cart_spec.rb", "lib/cart.rb"),
        ("tests/Unit/CartTest.php", "src/Cart.php"),
        ("store/store_test.go", "store/store.go"),
        ("tests/test_a.py", "src/connection.py"),
    ],
)
def test_files_that_may_hold_tests_are_told_by_their_names(path: str, other: str) -> None:
    language = detect_language(path) or ""
    assert may_hold_tests(path, language)
    assert not may_hold_tests(other, language)


def test_uses_in_a_module_of_rust_with_a_body_are_of_its_file() -> None:
    text = (
        "use super::a::B;\nmod m {\n  use super::{c, super::d};\n  use self::e;\n"
        "  mod n { use super::super::f; use crate::g; }\n}\n"
    )
    assert [(one.target, one.names) for one in parse("a.rs", text).imports] == [
        ("super::a", ("B",)), ("self", ("c",)), ("super", ("d",)), ("self::m", ("e",)),
        ("self", ("f",)), ("crate", ("g",)),
    ]  # fmt: skip


def test_a_namespace_of_php_without_a_body_ends_at_the_next() -> None:
    found = parse("a.php", "<?php\nnamespace A;\nclass X {}\nnamespace B;\nclass Y {}")
    assert found.symbols[-1].qualified == "B.Y"


def test_one_line_defines_a_bounded_number_of_constants() -> None:
    text = "<?php\nconst " + ", ".join(f"A{number} = {number}" for number in range(20_000)) + ";"
    assert [one.name for one in parse("a.php", text).symbols] == [f"A{n}" for n in range(200)]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("namespace shop {\nclass Cart {\n  int total() { return 1; }\n};\n}", "shop shop.Cart shop.Cart.total"),
        ("template <class T>\nclass Cart : Base {\n int total() { return 1; }\n};", "Cart Cart.total"),
        ("struct Cart {\n public:\n  int total() { return 1; }\n};", "Cart Cart.total"),
        ("/* class Cart { */\nint class = 1;\nint template(int class) { return class; }", "template"),
    ],
)  # fmt: skip
def test_headers_with_words_of_cpp_are_read_by_its_rules(text: str, names: str) -> None:
    assert [one.qualified for one in parse("cart.h", text).symbols] == names.split()


def test_macros_of_cpp_do_not_hide_definitions() -> None:
    found = parse(
        "a.cpp",
        "SHOP_BEGIN_NAMESPACE\nnamespace shop SHOP_VISIBLE(default)\n{\n"
        "class Cart {\n  Q_OBJECT\n public:\n  int total() { return 1; }\n};\n}\nSHOP_END_NAMESPACE\n",
    )
    lines = [(one.qualified, one.line, one.end_line) for one in found.symbols]
    assert lines == [("shop", 2, 10), ("shop.Cart", 4, 9), ("shop.Cart.total", 7, 8)]
    assert found.problem == ""


def test_characters_beyond_the_first_plane_do_not_crash_the_process() -> None:
    """The scanner of Bash reads beyond a table for them; what is there depends on the memory."""
    crashes = "{\U000e8620\xe4 > \U000b26db$\U0009bcd9Y\xc3>\x9f\x1e\0"
    program = (
        "import sys\nfrom memory_bank.code.parse.parsing import parse\n"
        "data = sys.stdin.buffer.read()\nfor _ in range(2000): parse(data, 'bash')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], input=crashes.encode(), check=False, capture_output=True
    )
    assert done.returncode == 0, done.stderr.decode()
    (found,) = parse("deploy.sh", "deploy() { echo 🚀; }\n").symbols
    assert (found.name, found.line) == ("deploy", 1)


def test_a_method_of_a_borrowed_type_of_rust_has_the_name_of_the_type() -> None:
    text = "impl<'a> IntoIterator for &'a Set<'a> {\n    fn into_iter(self) {}\n}\n"
    assert [one.qualified for one in parse("set.rs", text).symbols] == ["Set.into_iter"]
