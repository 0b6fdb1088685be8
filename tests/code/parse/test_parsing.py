"""Source files are parsed into symbols, imports and tests; any bytes are."""

import ast
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from memory_bank.code.languages.base import list_languages
from memory_bank.code.parse import parsing
from memory_bank.code.parse.parsed_file import ParsedFile
from tests.support.growth import times_as_long

ROOT = Path(__file__).parents[3]
CART = b'''"""Carts of a shop."""
import os, re as r
from . import x
from a.b import (c, d as e)

LIMIT = 5


# what a customer wants to buy
@frozen
class Cart(Base):
    RATE = 2

    def total(self, tax: int = 3) -> int:
        """Sum the prices.

        With tax.
        """

        def price(item):
            return item.price

        return sum(map(price, self.items)) + self.store.get(1).value()


class TestCart:
    def test_counts_quantities(self):
        """Twice is twice."""
        assert Cart().total() == 3
'''


def python(text: str | bytes) -> ParsedFile:
    return parsing.parse(text.encode() if isinstance(text, str) else text, "python")


def fingerprint(text: str) -> str:
    return python(text).symbols[0].fingerprint


def test_symbols_have_their_names_kinds_signatures_docs_and_lines() -> None:
    found = {one.qualified: one for one in python(CART).symbols}
    assert [*found] == [
        *("LIMIT", "Cart", "Cart.RATE", "Cart.total", "Cart.total.price"),
        *("TestCart", "TestCart.test_counts_quantities"),
    ]
    cart, total = found["Cart"], found["Cart.total"]
    assert (cart.kind, cart.signature) == ("class", "class Cart(Base)")
    assert (cart.doc, cart.line, cart.end_line) == ("what a customer wants to buy", 9, 24)
    assert (total.kind, total.name) == ("method", "total")
    assert total.signature == "def total(self, tax: int = 3) -> int"
    assert total.doc == "Sum the prices.\n\nWith tax."
    assert found["Cart.total.price"].kind == "function"
    assert found["LIMIT"].kind == found["Cart.RATE"].kind == "constant"
    assert python(CART).doc == "Carts of a shop."


def test_calls_are_named_as_written() -> None:
    found = {one.qualified: one.calls for one in python(CART).symbols}
    assert set(found["Cart.total"]) == {"sum", "map", ".value", "self.store.get"}
    assert set(found["TestCart.test_counts_quantities"]) == {"Cart().total", "Cart"}


def test_imports_are_named_as_written() -> None:
    found = [(one.target, one.names, one.line) for one in python(CART).imports]
    assert found == [("os", (), 2), ("re", (), 2), (".", ("x",), 3), ("a.b", ("c", "d"), 4)]


def test_a_test_is_told_by_its_groups_its_name_and_its_docstring() -> None:
    (found,) = python(CART).tests
    assert found.title == "cart > counts quantities: Twice is twice."
    assert found.snippet == "def test_counts_quantities(self):"
    assert (found.line, found.framework) == (27, "pytest")
    assert found.symbol == "TestCart.test_counts_quantities"
    assert set(found.calls) == {"Cart().total", "Cart"}


@pytest.mark.slow
def test_functions_and_classes_are_those_of_pythons_own_parser() -> None:
    for file in sorted((ROOT / "memory_bank").rglob("*.py"))[::7]:
        data = file.read_bytes()
        kinds = ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef
        own = [one for one in ast.walk(ast.parse(data)) if isinstance(one, kinds)]
        found = [one for one in python(data).symbols if one.kind != "constant"]
        assert {(one.name, one.end_line) for one in found} == {
            (one.name, (one.end_lineno or 0) + 1) for one in own
        }


@pytest.mark.parametrize(
    "other",
    [
        "# moved\n\n\ndef f(a, b):\n    if a:\n        return g(a, 'x')\n    return [1, 2]\n",
        "def f(\n    a,\n    b,\n):\n    if a:\n        return g(a, 'x')\n    return [1, 2]\n",
        'def f(a, b):\n  "Doc."\n  if a:\n    return (g(a, "x"))  # note\n  return [1, 2,]\n',
    ],
)
def test_layout_comments_docs_and_quotes_leave_the_fingerprint(other: str) -> None:
    text = "def f(a, b):\n    if a:\n        return g(a, 'x')\n    return [1, 2]\n"
    assert fingerprint(other) == fingerprint(text)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("x = 'it\\'s'", 'x = "it\'s"'),
        ("x = u'a' 'b'", "x = (\n        'a'\n        'b'\n    )"),
        ("x = 'a' 'b'", 'x = "ab"'),
        ("x = 0XFF + 1E5", "x = 0xff + 1e5"),
        ("if a and \\\n            b: pass", "if (\n        a\n        and b\n    ): pass"),
        ("x = a.b() \\\n        .c()", "x = (\n        a.b()\n        .c()\n    )"),
        ("return a.b()\\\n        .c()", "return (a.b()).c()"),
        ("for (x, y) in z: pass", "for x, y in z: pass"),
        ("class A(): pass", "class A: pass"),
        ("if (a == 1) and (b): pass", "if a == 1 and b: pass"),
        ("x = 1; y = 2;", "x = 1\n    y = 2"),
        ("return 1,", "return (1,)"),
        ("assert ('x') in y", "assert 'x' in y"),
        ("def g(a: (A | B)): pass", "def g(a: A | B): pass"),
        ("if a: x()\n    elif (a == b): y()", "if a: x()\n    elif a == b: y()"),
    ],
)
def test_what_a_formatter_writes_anew_leaves_the_fingerprint(one: str, other: str) -> None:
    assert fingerprint(f"def f():\n    {one}\n") == fingerprint(f"def f():\n    {other}\n")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("'a\\n'", "'b\\n'"),
        ("f'a\\n{x}'", "f'b\\n{x}'"),
        ("f'{x:.3g}'", "f'{x:.4g}'"),
        ("f'{x!r}'", "f'{x!s}'"),
        ("r'\\n'", "'\\n'"),
        ("'a' 'b'", "'a', 'b'"),
        ("b'ab'", "'ab'"),
        ("10", "'10'"),
        ("(lambda: (1,))", "(lambda: 1)"),
        ("(1,)", "(1)"),
        ("(a + b) * c", "a + b * c"),
        ("(-a).b", "-a.b"),
        ("(a == b) == c", "a == b == c"),
        ("(not a) == b", "not a == b"),
        ("(a or b) and c", "a or b and c"),
    ],
)
def test_another_value_changes_the_fingerprint(one: str, other: str) -> None:
    assert fingerprint(f"def f():\n    g[{one}].x()\n") != fingerprint(
        f"def f():\n    g[{other}].x()\n"
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [("a:", "b:"), ("'x'", "'y'"), ("[1, 2]", "[1, 3]"), ("    return [", "        return [")],
)
def test_a_change_of_the_code_changes_the_fingerprint(old: str, new: str) -> None:
    text = "def f(a, b):\n    if a:\n        g(a, 'x')\n    return [1, 2]\n"
    assert fingerprint(text.replace(old, new)) != fingerprint(text)


@pytest.mark.slow
def test_a_formatter_leaves_nearly_all_fingerprints() -> None:
    ruff = Path(sys.executable).with_name("ruff")
    if not ruff.exists():
        pytest.skip("ruff is not installed beside Python")
    options = ["--isolated", "--line-length=60", "--config=format.quote-style='single'", "-"]
    kept = changed = 0
    for file in sorted((ROOT / "memory_bank").rglob("*.py"))[::16]:
        data = file.read_bytes()
        words = [ruff, "format", *options]
        other = subprocess.run(words, input=data, capture_output=True, check=True).stdout
        for one, same in zip(python(data).symbols, python(other).symbols, strict=True):
            kept += one.fingerprint == same.fingerprint
            changed += one.fingerprint != same.fingerprint
    assert kept > 100
    assert changed < 0.01 * kept  # quotes within formatted texts are escaped in another way


@pytest.mark.slow
@pytest.mark.parametrize("text", ["(" * 100_000, "[" * 50_000 + "]" * 50_000, "x." * 50_000])
def test_deep_nesting_is_parsed_in_bounded_time(text: str) -> None:
    assert python(text).language == "python"


def test_only_the_outer_of_many_nested_definitions_are_kept() -> None:
    text = "function f() {" * 3_000 + "}" * 3_000
    found = parsing.parse(text.encode(), "javascript").symbols
    assert [one.qualified.count(".") for one in found] == list(range(50))


def test_threads_parse_side_by_side() -> None:
    texts = [f"def f{number}():\n    return {number}\n" * 300 for number in range(8)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(python, texts))
    assert [{one.name for one in file.symbols} for file in found] == [
        {f"f{number}"} for number in range(8)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("text", ["# a\n", "def f(): pass\n", "x = f('a').g(1)\n"])
def test_time_grows_with_size_alone(text: str) -> None:
    def seconds(count: int) -> float:
        start = time.process_time()
        python(text * count)
        return time.process_time() - start

    assert times_as_long(seconds, 1_000, 10_000, enough=0.1, most=30) < 30


@pytest.mark.parametrize("language", list_languages())
def test_the_docs_list_each_language(language: str) -> None:
    page = (ROOT / "docs/code.md").read_text(encoding="utf-8")
    rows = page.partition("## Languages")[2].partition("## What is a symbol")[0]
    assert f"`{language}`" in rows
