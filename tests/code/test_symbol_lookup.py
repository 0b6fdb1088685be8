"""Symbols are found by the names that people write."""

from pathlib import Path

import pytest

from memory_bank.base.errors import SymbolNotFound
from memory_bank.code.index.symbol_table import SymbolTable
from memory_bank.code.lookup import (
    find_meant_symbols,
    find_symbol,
    find_symbols,
    last_name,
    list_symbols,
    match_symbols,
)
from tests.support.files import write_files


@pytest.mark.parametrize(
    "name",
    [
        "charge_with_retry",
        "charge_with_retry()",
        "shop/orders.py#charge_with_retry",
        "orders.py#charge_with_retry",
        "./shop/orders.py#charge_with_retry",
        "shop.orders.charge_with_retry",
        "orders.charge_with_retry",
        "shop::orders::charge_with_retry",
    ],
)
def test_a_function_has_many_names(table: SymbolTable, name: str) -> None:
    found = find_symbol(table, name)
    assert (found.path, found.symbol.qualified) == ("shop/orders.py", "charge_with_retry")


@pytest.mark.parametrize(
    "name",
    [
        "Order.place", "Order::place", "Order#place", "place", "shop.orders.Order.place",
        "orders.py#place", "orders.py#Order.place", " Order.place ", "Order.prototype.place",
        "exports.Order.place", "orders.py#module.exports.Order.place",
    ],
)  # fmt: skip
def test_so_has_a_method(table: SymbolTable, name: str) -> None:
    assert find_symbol(table, name).symbol.qualified == "Order.place"


def test_an_id_is_a_name(table: SymbolTable) -> None:
    found = find_symbol(table, "Order.place")
    assert find_symbol(table, found.id) == found


def test_an_ambiguous_name_lists_what_it_may_mean(table: SymbolTable) -> None:
    with pytest.raises(SymbolNotFound) as caught:
        find_symbol(table, "describe")
    assert "'describe' is the name of 2 symbols" in caught.value.message
    assert "shop/payments.py#describe:12" in caught.value.message
    assert "shop/reports.py#describe:4" in caught.value.message
    assert "shop/payments.py#describe" in caught.value.hint
    assert find_symbol(table, "payments.describe").path == "shop/payments.py"


def test_overloads_are_told_apart_by_their_lines(shop: Path, table: SymbolTable) -> None:
    methods = "    void pay(int a) {}\n    void pay(String a) {}\n"
    write_files(shop, {"Till.java": f"class Till {{\n{methods}}}\n"})
    table.refresh()
    with pytest.raises(SymbolNotFound) as caught:
        find_symbol(table, "Till.java#Till.pay")
    assert "Till.java#Till.pay:2, Till.java#Till.pay:3" in caught.value.message
    assert "such as Till.java#Till.pay:2" in caught.value.hint
    for name in ("Till.java#Till.pay:3", "Till::pay:3", "pay:3"):
        assert find_symbol(table, name).symbol.line == 3
    assert not find_symbols(table, "Till.pay:4")
    assert not find_symbols(table, "Till.pay::3")


def test_a_whole_name_means_no_nested_symbol(shop: Path, table: SymbolTable) -> None:
    write_files(shop, {"a.py": "class Shop:\n    def describe(self):\n        pass\n"})
    table.refresh()
    assert len(find_symbols(table, "describe")) == 2
    assert find_symbol(table, "Shop.describe").path == "a.py"


def test_a_file_may_stand_for_its_folder(shop: Path, table: SymbolTable) -> None:
    write_files(
        shop,
        {"web/__init__.py": "def serve():\n    pass\n", "a/index.py": "def serve():\n    pass\n"},
    )
    table.refresh()
    assert find_symbol(table, "web.serve").path == "web/__init__.py"
    assert find_symbol(table, "web.__init__.serve").path == "web/__init__.py"
    assert find_symbol(table, "a.index.serve").path == "a/index.py"


def test_an_unknown_name_suggests_similar_ones(table: SymbolTable) -> None:
    for name, near in [
        ("charge_with_retries", "charge_with_retry"),
        ("Order.plaec", "Order.place"),
        ("shop/orders.py#chek", "check"),
        ("nowhere.Ordre", "Order"),
    ]:
        with pytest.raises(SymbolNotFound, match=f"did you mean.*{near}"):
            find_symbol(table, name)


@pytest.mark.parametrize("name", ["", "#", "a#", ".", "::", "x" * 100_000, "%", "_", "sym-"])
def test_any_text_is_a_name_or_none(table: SymbolTable, name: str) -> None:
    with pytest.raises(SymbolNotFound) as caught:
        find_symbol(table, name)
    assert len(caught.value.message) < 1000


def test_matching_symbols_come_by_closeness(table: SymbolTable) -> None:
    def matching(*words: str, **wanted: object) -> list[str]:
        found = match_symbols(table, words, limit=10, **wanted)  # type: ignore[arg-type]
        return [one.symbol.qualified for one in found]

    assert matching("order") == ["Order", "Order.place", "Order.check"]
    assert "test_an_empty_order_is_refused" in matching("order", tests=True)
    assert matching("order", "pl") == ["Order.place"]
    assert matching("CHARGE") == ["Gateway.charge", "charge_with_retry"]
    assert matching("%") == []
    assert "Gateway" in matching(path="shop/payments.py")


def test_symbols_of_a_file_are_in_the_order_of_lines(table: SymbolTable) -> None:
    found = list_symbols(table, "shop/orders.py")
    assert [one.symbol.line for one in found] == sorted(one.symbol.line for one in found)


@pytest.mark.parametrize("name", ["describe", "describe()", " describe "])
def test_a_reference_means_every_symbol_of_the_qualified_name(
    table: SymbolTable, name: str
) -> None:
    found = find_meant_symbols(table, name)
    assert [one.path for one in found] == ["shop/payments.py", "shop/reports.py"]


@pytest.mark.parametrize(
    ("name", "meant"),
    [("place", ["Order.place"]), ("orders.py#Order.place", ["Order.place"]), ("Order#place", ["Order.place"]), ("nothing", [])],
)  # fmt: skip
def test_a_reference_means_the_only_symbol_that_fits(
    table: SymbolTable, name: str, meant: list[str]
) -> None:
    assert [one.symbol.qualified for one in find_meant_symbols(table, name)] == meant


def test_a_part_of_several_names_means_none(shop: Path, table: SymbolTable) -> None:
    farm = "class Oat:\n    def grow(self): ...\nclass Rye:\n    def grow(self): ...\n"
    write_files(shop, {"farm.py": farm})
    table.refresh()
    assert len(find_symbols(table, "grow")) == 2
    assert find_meant_symbols(table, "grow") == []
    assert len(find_meant_symbols(table, "Rye.grow")) == 1


@pytest.mark.parametrize("name", ["open", "Bank.open", "bank.py#Bank.open", "a::Bank->open()", "memory_bank.bank.Bank.open"])  # fmt: skip
def test_the_last_name(name: str) -> None:
    assert last_name(name) == "open"


def test_of_declared_overloads_the_definition_is_meant(shop: Path, table: SymbolTable) -> None:
    declared = "@overload\ndef send(event: {}): ...\n\n\n"
    text = declared.format("int") + declared.format("str") + "def send(event):\n    return event\n"
    write_files(shop, {"events.py": text})
    table.refresh()
    assert find_symbol(table, "events.send").symbol.line == 9
