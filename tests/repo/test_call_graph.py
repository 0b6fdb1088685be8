"""Calls lead to symbols, as far as names tell."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory_bank.repo.call_graph import IMPORTED, ONLY_ONE, SAME_FILE, CallGraph
from memory_bank.repo.code_database import last_part
from memory_bank.repo.import_targets import ImportTargets
from memory_bank.repo.symbol_lookup import symbol_named
from memory_bank.repo.symbol_table import SymbolTable
from tests.shop import write


@pytest.fixture
def graph(table: SymbolTable) -> CallGraph:
    return CallGraph(table, ImportTargets(table))


def callees(table: SymbolTable, name: str) -> dict[str, tuple[str, str] | None]:
    graph = CallGraph(table, ImportTargets(table))
    return {
        one.written: (f"{one.called.path}#{one.called.symbol.qualified}", one.how)
        if one.called
        else None
        for one in graph.callees(symbol_named(table, name))
    }


def test_calls_out_lead_to_symbols(table: SymbolTable) -> None:
    found = callees(table, "Order.place")
    assert found["self.check"] == ("shop/orders.py#Order.check", SAME_FILE)
    assert found["charge_with_retry"] == ("shop/orders.py#charge_with_retry", SAME_FILE)
    assert found["Gateway"] == ("shop/payments.py#Gateway", IMPORTED)
    assert callees(table, "Order.check")["ValueError"] is None
    assert callees(table, "charge_with_retry")["gateway.charge"] == (
        "shop/payments.py#Gateway.charge", IMPORTED,
    )  # fmt: skip


def test_callers_come_with_how_they_are_known(table: SymbolTable, graph: CallGraph) -> None:
    found = graph.callers(symbol_named(table, "Order.check"))
    assert [(one.caller.path, one.how) for one in found] == [
        ("shop/orders.py", SAME_FILE),
        ("tests/test_orders.py", IMPORTED),
    ]
    assert found[0].written == "self.check"
    assert graph.callers(symbol_named(table, "payments.describe")) == []


def test_the_only_symbol_of_a_name_is_meant_last(shop: Path, table: SymbolTable) -> None:
    write(shop, {"a.py": "def total(door):\n    return door.send(1) + door.describe()\n"})
    table.refresh()
    assert callees(table, "total") == {
        "door.send": ("shop/payments.py#Gateway.send", ONLY_ONE),
        "door.describe": None,
    }


def test_what_a_call_is_made_on_decides(shop: Path, table: SymbolTable) -> None:
    write(
        shop,
        {
            "door.py": "class Front:\n    def open(self):\n        pass\n\n\nclass Back:\n    def open(self):\n        pass\n",
            "house.py": (
                "import door\n\n\nclass House:\n    def open(self, front, back, other):\n"
                "        front.open()\n        back.open()\n        other.open()\n"
                "        self.open()\n        open()\n"
            ),
        },
    )
    table.refresh()
    assert callees(table, "House.open") == {
        "front.open": ("door.py#Front.open", IMPORTED),
        "back.open": ("door.py#Back.open", IMPORTED),
        "other.open": None,
        "self.open": ("house.py#House.open", SAME_FILE),
        "open": None,
    }


def test_files_of_a_package_need_no_import(shop: Path, table: SymbolTable) -> None:
    write(
        shop,
        {
            "go/store/disk.go": "package store\n\nfunc Open() {\n\treset()\n}\n",
            "go/store/memory.go": "package store\n\nfunc reset() {}\n",
            "go/other/memory.go": "package other\n\nfunc reset() {}\n",
        },
    )
    table.refresh()
    assert callees(table, "disk.go#Open") == {"reset": ("go/store/memory.go#reset", IMPORTED)}


def test_overloaded_methods_count_as_one(shop: Path, table: SymbolTable) -> None:
    write(
        shop,
        {
            "Json.java": (
                "class Json {\n  int read(String a) { return read(a, 1); }\n"
                "  int read(String a, int b) { return check(b); }\n"
                "  int check(int b) { return b; }\n}\n"
            ),
            "Main.java": "class Main {\n  int go(Json json) { return json.read(null); }\n}\n",
        },
    )
    table.refresh()
    graph = CallGraph(table, ImportTargets(table))
    for one in table.symbols("s.qualified = 'Json.read'"):
        callers = {call.caller.path: call.how for call in graph.callers(one)}
        assert callers["Main.java"] == IMPORTED
    assert callees(table, "Json.check") == {}
    (check,) = table.symbols("s.qualified = 'Json.check'")
    assert [call.how for call in graph.callers(check)] == [SAME_FILE]


def test_a_test_calls_symbols(table: SymbolTable, graph: CallGraph) -> None:
    (test,) = table.tests("t.symbol = 'test_an_empty_order_is_refused'")
    found = [one.called.symbol.qualified for one in graph.called_by_test(test) if one.called]
    assert sorted(found) == ["Order", "Order.check"]
    (call,) = graph.tests_calling(symbol_named(table, "Order.check"))
    assert call.caller == test


@pytest.mark.parametrize(
    ("written", "name"),
    [
        *(("self.store.create", "create"), ("Cart::new", "new"), ("$this?->rates", "rates")),
        *(("order&.save!", "save!"), ("a!.b", "b"), (r"App\tax", "tax"), ("empty?", "empty?")),
    ],
)
def test_the_last_part_of_a_call(written: str, name: str) -> None:
    assert last_part(written) == name


def test_methods_with_an_exclamation_mark_are_found(shop: Path, table: SymbolTable) -> None:
    write(shop, {"order.rb": "def save!; end\n\ndef keep_all; save!; end\n"})
    table.refresh()
    assert callees(table, "keep_all") == {"save!": ("order.rb#save!", SAME_FILE)}
