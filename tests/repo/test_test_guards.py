"""Tests guard symbols and files."""

from __future__ import annotations

from pathlib import Path

from memory_bank.repo.call_graph import CallGraph
from memory_bank.repo.import_targets import ImportTargets
from memory_bank.repo.symbol_lookup import symbol_named
from memory_bank.repo.symbol_table import SymbolTable
from memory_bank.repo.test_guards import (
    CALLS,
    CALLS_NAME,
    CONFIDENCE,
    FILE_NAME,
    IMPORTS,
    NAMED,
    Guard,
    TestGuards,
)
from tests.shop import write


def guards(table: SymbolTable) -> TestGuards:
    imports = ImportTargets(table)
    return TestGuards(table, imports, CallGraph(table, imports))


def shown(found: list[Guard]) -> list[tuple[str, str]]:
    return [(one.test.intent.symbol, one.how) for one in found]


def test_a_test_guards_what_it_calls_or_is_named_after(table: SymbolTable) -> None:
    found = guards(table)
    assert shown(found.of_symbol(symbol_named(table, "Order.check"))) == [
        ("test_an_empty_order_is_refused", CALLS)
    ]
    assert shown(found.of_symbol(symbol_named(table, "charge_with_retry"))) == [
        ("test_charge_with_retry", NAMED)
    ]


def test_without_these_the_file_s_tests_guard_a_symbol(table: SymbolTable) -> None:
    found = guards(table).of_symbol(symbol_named(table, "Order.place"))
    assert {one.how for one in found} == {FILE_NAME}
    assert len(found) == 2
    assert guards(table).of_symbol(symbol_named(table, "Gateway.send")) == []


def test_tests_of_a_file_come_by_confidence(shop: Path, table: SymbolTable) -> None:
    write(
        shop,
        {
            "tests/test_all.py": (
                "import shop.orders\n\n\ndef test_start():\n    assert 1\n\n\n"
                "def test_report(it):\n    it.charge_with_retry()\n"
            ),
            "tests/test_none.py": "def test_nothing(it):\n    it.charge_with_retry()\n",
        },
    )
    table.refresh()
    found = guards(table).of_file("shop/orders.py")
    assert shown(found) == [
        ("test_report", CALLS),
        ("test_an_empty_order_is_refused", CALLS),
        ("test_nothing", CALLS_NAME),
        ("test_charge_with_retry", FILE_NAME),
        ("test_start", IMPORTS),
    ]
    assert [one.confidence for one in found] == [CONFIDENCE[one.how] for one in found]
    assert guards(table).of_file("shop/reports.py") == []


def test_a_file_of_the_same_name_in_another_package_is_not_guarded(
    shop: Path, table: SymbolTable
) -> None:
    write(
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


def test_a_test_tells_what_it_guards(table: SymbolTable) -> None:
    found = guards(table)
    by_name = {one.intent.symbol: one for one in table.tests("1")}
    guarded = found.guarded_by(by_name["test_an_empty_order_is_refused"])
    assert [(one.symbol.symbol.qualified, one.how) for one in guarded] == [
        ("Order", CALLS), ("Order.check", CALLS),
    ]  # fmt: skip
    (named,) = found.guarded_by(by_name["test_charge_with_retry"])
    assert (named.symbol.symbol.qualified, named.how) == ("charge_with_retry", NAMED)
