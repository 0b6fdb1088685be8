"""What a change of a file may affect, and the tests that guard it."""

from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank
from memory_bank.base.errors import BadInput, FileNotFound, SymbolNotFound
from memory_bank.base.text import Quotes
from memory_bank.base.view import write_agent
from memory_bank.code import explain_symbol
from memory_bank.code.explain_symbol import blast_radius
from memory_bank.code.index.codebase import Codebase
from memory_bank.code.lookup import list_symbols
from memory_bank.code.views import view_affected
from memory_bank.memory.retrieval.recall import recall

ORDERS = "shop/orders.py"
FORMS = ["./shop/orders.py", "shop\\orders.py", ".\\shop\\orders.py", "shop//orders.py",
         "{root}/shop/orders.py", "shop/../shop/orders.py"]  # fmt: skip


def test_a_file_has_its_symbols_with_their_callers_and_notes(
    code: Codebase, shop_bank: Bank
) -> None:
    found = blast_radius(code, ORDERS, shop_bank)
    assert (found.schema_version, found.file, found.problem) == ("1.0", ORDERS, None)
    by_name = {one.symbol.name: one for one in found.symbols}
    assert list(by_name) == ["LIMIT", "Order", "Order.place", "Order.check", "charge_with_retry"]
    assert [one.name for one in by_name["Order.place"].called_by] == ["describe"]
    assert [note.path for note in by_name["Order.place"].notes] == ["refs.md"]
    assert [note.path for note in by_name["charge_with_retry"].notes] == ["link.md"]
    assert [note.path for note in by_name["Order.check"].notes] == ["inside.md"]
    assert [note.path for note in found.notes] == ["heading.md", "file.md"]


def test_overloads_are_one_symbol_since_a_call_may_mean_any(
    code: Codebase, shop_bank: Bank
) -> None:
    methods = "  void pay(int a) {}\n  void pay(String a) {}\n  void go() { pay(1); }\n"
    till = code.root / "Till.java"
    till.write_text(f"class Till {{\n{methods}}}\n")
    found = blast_radius(code, till.name, shop_bank)
    till.unlink()  # other tests have the same work tree
    assert [(one.symbol.name, one.symbol.line, one.others) for one in found.symbols] == [
        ("Till", 1, 0), ("Till.pay", 2, 1), ("Till.go", 4, 0),
    ]  # fmt: skip
    assert [one.name for one in found.symbols[1].called_by] == ["Till.go"]
    assert "Till.java:2 | method | Till.pay, one of 2 of that name" in write_agent(
        view_affected(found), Quotes()
    )


def test_calls_by_tests_are_tests_only(code: Codebase, shop_bank: Bank) -> None:
    found = blast_radius(code, ORDERS, shop_bank)
    assert found.callers == ("shop/reports.py",)
    assert {one.test_file for one in found.tests} == {"tests/test_orders.py"}
    assert found.tests[0].how == "calls it"
    assert blast_radius(code, "tests/test_orders.py", shop_bank).symbols[0].symbol.name == "run"


@pytest.mark.parametrize("file", ["plain.txt", "secret.cfg", "./plain.txt"])
def test_a_file_that_nothing_names_has_an_empty_answer(
    code: Codebase, shop_bank: Bank, file: str
) -> None:
    found = blast_radius(code, file, shop_bank)
    assert (found.symbols, found.tests, found.notes) == ((), (), ())
    linked = recall(shop_bank, "order", linked_to=file)
    assert (linked.result_count, linked.notes) == (0, ())


@pytest.mark.parametrize("form", FORMS)
def test_notes_that_link_to_a_file_are_found_by_each_form(
    code: Codebase, shop_bank: Bank, form: str
) -> None:
    found = recall(shop_bank, "order", linked_to=form.format(root=code.root))
    assert {one.path for one in found.notes} >= {"file.md", "inside.md"}


def test_an_unknown_file_or_one_outside_is_an_error(code: Codebase, shop_bank: Bank) -> None:
    with pytest.raises(FileNotFound, match=r"did you mean shop/orders\.py"):
        blast_radius(code, "shop/order.py", shop_bank)
    with pytest.raises(FileNotFound, match="shop is a folder"):
        blast_radius(code, "shop", shop_bank)
    for outside in ("../orders.py", "/etc/passwd", "", "a\0b"):
        with pytest.raises(BadInput, match="is no file below"):
            blast_radius(code, outside, shop_bank)


def test_an_access_of_every_symbol_of_the_file_is_counted(code: Codebase, shop_bank: Bank) -> None:
    path = "shop/payments.py"
    blast_radius(code, path, shop_bank, count_access=False)
    assert {one.access_count for one in blast_radius(code, path, shop_bank).symbols} == {0}
    assert {one.access_count for one in blast_radius(code, path, shop_bank).symbols} == {1}
    ids = [one.id for one in list_symbols(code.table, path)]
    assert {one.times for one in code.accesses(ids).values()} == {2}
    others = [one.id for one in list_symbols(code.table, "shop/reports.py")]
    assert code.accesses(others) == {}


def test_a_file_that_is_a_note_has_the_notes_that_link_to_it(
    cited_shop: Path, code: Codebase, shop_bank: Bank
) -> None:
    note = cited_shop / ".memories/more.md"
    note.write_text("# More\n\nAs [[refs]] says, it is so.\n")
    try:
        found = blast_radius(code, ".memories/refs.md", shop_bank)
    finally:
        note.unlink()
    assert [one.path for one in found.notes] == ["more.md"]


def test_the_tests_of_a_symbol_and_of_a_file(code: Codebase) -> None:
    found = explain_symbol.tests_for(code, "charge_with_retry")
    assert (found.kind, found.name, found.path) == ("symbol", "charge_with_retry", ORDERS)
    assert [one.title for one in found.tests] == ["charge with retry: Three times at most."]
    of_file = explain_symbol.tests_for(code, "./shop/orders.py")
    assert (of_file.kind, of_file.name, of_file.result_count) == ("file", ORDERS, 2)
    cut = explain_symbol.tests_for(code, ORDERS, 1)
    assert (cut.result_count, cut.more) == (1, True)
    assert explain_symbol.tests_for(code, "plain.txt").tests == ()
    assert explain_symbol.tests_for(code, "LIMIT").kind == "symbol"


def test_tests_of_something_unknown_are_an_error(code: Codebase) -> None:
    with pytest.raises(SymbolNotFound, match="did you mean Gateway"):
        explain_symbol.tests_for(code, "Gatway")
    with pytest.raises(FileNotFound, match=r"did you mean shop/orders\.py"):
        explain_symbol.tests_for(code, "shop/order.py")


def test_only_files_with_a_reason_that_holds_are_coupled(code: Codebase, shop_bank: Bank) -> None:
    def shown(file: str) -> list[tuple[str, str]]:
        found = blast_radius(code, file, shop_bank, count_access=False).coupled
        return [(one.file, one.snippet) for one in found]

    assert shown("shop/payments.py")[0] == (ORDERS, "imports it, changed in 4 of its 4 commits")
    reasons = dict(shown(ORDERS))
    assert "imports it" not in reasons.get("shop/payments.py", ""), "it is only imported"
    assert all(reasons.values())
    with code.lock:
        coupling, _ = code.coupling(refresh=False)
    assert {one.file for one in coupling.of(ORDERS)} > {file for file, _ in shown(ORDERS)}
