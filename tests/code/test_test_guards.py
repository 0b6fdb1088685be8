"""Tests guard symbols and files."""

from pathlib import Path

from memory_bank.code.calls import CallGraph
from memory_bank.code.guards import (
    CALLS,
    CONFIDENCE,
    FILE_NAME,
    IMPORTS,
    INSIDE,
    NAMED,
    OWN_FILE,
    PACKAGE,
    Guard,
    TestGuards,
)
from memory_bank.code.imports import ImportTargets
from memory_bank.code.index.symbol_table import SymbolTable
from memory_bank.code.lookup import find_symbol
from tests.support.files import write_files


def guards(table: SymbolTable) -> TestGuards:
    imports = ImportTargets(table)
    return TestGuards(table, imports, CallGraph(table, imports))


def shown(found: list[Guard]) -> list[tuple[str, str]]:
    return [(one.test.intent.symbol, one.how) for one in found]


def test_a_test_guards_what_it_calls_or_is_named_after(table: SymbolTable) -> None:
    found = guards(table)
    assert shown(found.of_symbol(find_symbol(table, "Order.check"))) == [
        ("test_an_empty_order_is_refused", CALLS)
    ]
    assert shown(found.of_symbol(find_symbol(table, "charge_with_retry"))) == [
        ("test_charge_with_retry", NAMED)
    ]


def test_a_plain_word_is_the_whole_name_of_a_test_of_its_type(
    shop: Path, table: SymbolTable
) -> None:
    tests = "class TestTill:\n  def test_load(self):\n    1\n  def test_again(self):\n    'It may load.'\n"
    till = (
        "class Till:\n  def load(self): 1\n  def again_and_on(self): 1\n  def again_and(self): 1\n"
    )
    other = (
        "class TestOther:\n  def test_load(self):\n    1\n  def test_again_and_on(self):\n    1\n"
    )
    write_files(shop, {"shop/till.py": till, "tests/test_till.py": f"{tests}\n\n{other}"})
    table.refresh()
    found = guards(table)
    assert shown(found.of_symbol(find_symbol(table, "Till.load"))) == [
        ("TestTill.test_load", NAMED)
    ]
    assert shown(found.of_symbol(find_symbol(table, "Till.again_and_on"))) == [
        ("TestOther.test_again_and_on", NAMED)
    ]
    assert NAMED not in dict(shown(found.of_symbol(find_symbol(table, "Till.again_and")))).values()


def test_the_whole_name_of_a_test_may_be_a_word_with_a_capital(
    shop: Path, table: SymbolTable
) -> None:
    code = "package a\nfunc Parse() {}\ntype Tree struct{}\nfunc (t Tree) Find() {}\n"
    run = 'package a\nimport "testing"\nfunc TestParse(t *testing.T) { t.Run("empty", func(t *testing.T) {}) }\n'
    others = "func TestTree_Find(t *testing.T) {}\nfunc TestFind(t *testing.T) {}\n"
    own = {
        "tree.py": "class Tree:\n  def tree(self): 1\n",
        "near.ts": "export function near() {}\n",
    }
    tests = "class TestTree:\n  def test_find(self):\n    1\n"
    loud = "import { near } from './near'\ndescribe('NEAR', () => { it('is', () => {}) })\n"
    write_files(shop, {"a.go": code, "a_test.go": run + others})
    write_files(shop, {**own, "test_tree.py": tests, "near.test.ts": loud})
    table.refresh()
    found = guards(table)

    def titles(name: str) -> list[str]:
        named = found.of_symbol(find_symbol(table, name))
        return [one.test.intent.title for one in named if one.how == NAMED]

    assert titles("Parse") == ["parse", "parse > empty"]
    assert titles("Tree.Find") == ["tree find"]
    assert titles("tree.py#Tree") == ["tree > find"]
    assert titles("Tree.tree") == titles("near.ts#near") == []


def test_no_other_test_guards_a_symbol(table: SymbolTable) -> None:
    assert guards(table).of_symbol(find_symbol(table, "Order.place")) == []
    assert guards(table).of_symbol(find_symbol(table, "Gateway.send")) == []


def test_tests_of_a_file_come_by_confidence(shop: Path, table: SymbolTable) -> None:
    write_files(
        shop,
        {
            "tests/test_all.py": (
                "import shop.orders\n\n\ndef test_start():\n    assert 1\n\n\n"
                "def test_report():\n    shop.orders.charge_with_retry()\n"
            ),
            "tests/test_none.py": "def test_nothing(it):\n    it.charge_with_retry()\n",
        },
    )
    table.refresh()
    found = guards(table).of_file("shop/orders.py")
    assert shown(found) == [
        ("test_report", CALLS),
        ("test_an_empty_order_is_refused", CALLS),
        ("test_charge_with_retry", FILE_NAME),
        ("test_start", IMPORTS),
    ]
    assert [one.confidence for one in found] == [CONFIDENCE[one.how] for one in found]
    assert guards(table).of_file("shop/reports.py") == []


def test_tests_in_a_file_come_first(shop: Path, table: SymbolTable) -> None:
    write_files(
        shop,
        {
            "src/area.rs": (
                "pub fn area() -> u32 { 1 }\nfn hidden() {}\n\n#[cfg(test)]\nmod tests {\n"
                "  use super::*;\n  #[test]\n  fn it_counts() { assert_eq!(area(), 1); }\n}\n"
            ),
            "src/shape/mod.rs": "pub fn shape() {}\n#[cfg(test)]\nmod tests;\n",
            "src/shape/tests.rs": "#[test]\nfn it_has_a_shape() {}\n",
            "tests/whole.rs": "#[test]\nfn it_works() { crate::area::area(); }\n",
            "go/cache.go": "package cache\n\nfunc Get() {}\n",
            "go/cache_test.go": "package cache\n\nfunc TestIt(t *testing.T) {}\n",
            "go/other.go": "package cache\n\nfunc Put() {}\n",
            "kit/math.py": 'def add(a, b):\n    """Add.\n\n    >>> add(1, 2)\n    3\n    """\n',
            "kit/inline.py": "import pytest\n\n\ndef half(): pass\n\n\ndef test_half(): half()\n",
            "kit/api.py": "class App:\n    def test_client(self): pass\n",
            "web/sum.ts": (
                "export function sum() {}\nif (import.meta.vitest) {\n"
                '  const { it } = import.meta.vitest;\n  it("adds", () => { sum(); });\n}\n'
            ),
        },
    )
    table.refresh()
    found = guards(table)

    def of_file(path: str) -> list[tuple[str, str]]:
        return [(one.test.intent.title, one.how) for one in found.of_file(path)]

    assert of_file("src/area.rs")[0] == ("it counts", INSIDE)
    assert of_file("src/shape/mod.rs") == [("it has a shape", OWN_FILE)]
    assert of_file("go/cache.go") == [("it", OWN_FILE)]
    assert of_file("go/other.go") == [("it", PACKAGE)]
    assert of_file("kit/math.py") == [("add: examples", INSIDE)]
    assert of_file("kit/inline.py") == [("half", INSIDE)]
    assert of_file("kit/api.py") == []
    assert of_file("web/sum.ts") == [("adds", INSIDE)]
    assert of_file("tests/test_orders.py")[0][1] == INSIDE
    assert [one.how for one in found.of_symbol(find_symbol(table, "kit.math.add"))] == [CALLS]
    assert found.of_symbol(find_symbol(table, "hidden")) == []


def test_a_file_of_the_same_name_in_another_package_is_not_guarded(
    shop: Path, table: SymbolTable
) -> None:
    write_files(
        shop,
        {
            "web/orders.py": "def show():\n    pass\n",
            "tests/web/test_orders.py": "def test_page():\n    assert 1\n",
        },
    )
    table.refresh()
    found = guards(table)
    assert ("test_page", FILE_NAME) in shown(found.of_file("web/orders.py"))
    assert "test_page" not in [name for name, _ in shown(found.of_file("shop/orders.py"))]
