"""Symbols are listed and shown."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memory_bank.base.errors import BadInput, SymbolNotFound
from memory_bank.code.index.codebase import Codebase, open_codebase
from memory_bank.code.index.database import SymbolRow
from memory_bank.code.parse.parsed_file import Symbol
from memory_bank.code.symbols import list_symbols, symbol
from tests.support.files import write_files
from tests.support.shop import FILES


@pytest.fixture
def code(
    tmp_path: Path, git: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Codebase]:
    """Open the code of a shop that has a bank."""
    monkeypatch.setenv("MEMORY_BANK_EMBEDDER", "static")
    root = tmp_path / "shop"
    write_files(root, {**FILES, ".memories/note.md": "# Note\n"})
    git(tmp_path, "init", "-q", str(root))
    monkeypatch.chdir(root)
    with open_codebase() as opened:
        yield opened


def names(code: Codebase, *query: str, **wanted: object) -> list[str]:
    return [one.name for one in list_symbols(code, *query, **wanted).symbols]  # type: ignore[arg-type]


def test_all_symbols_are_listed_by_file_without_tests(code: Codebase) -> None:
    found = list_symbols(code)
    assert [one.path for one in found.symbols] == sorted(one.path for one in found.symbols)
    assert {"Order.place", "Gateway", "run"} <= {one.name for one in found.symbols}
    assert not any(one.name.startswith("test_") for one in found.symbols)
    assert (found.result_count, found.more, found.problem) == (len(found.symbols), False, None)
    assert len(names(code, tests=True)) == found.result_count + 2
    two = list_symbols(code, limit=2)
    assert (two.result_count, two.more) == (2, True)


def test_words_choose_by_name_else_by_words_and_meaning(code: Codebase) -> None:
    found = list_symbols(code, "Order.pl")
    assert ([one.name for one in found.symbols], found.found_by) == (["Order.place"], "name")
    found = list_symbols(code, "up to three times")
    assert (found.symbols[0].name, found.found_by) == ("charge_with_retry", "search")
    found = list_symbols(code, "zzz quux")
    assert (found.symbols, found.result_count) == ((), 0)


def test_a_symbol_is_shown_with_its_place_and_first_sentence(code: Codebase) -> None:
    (one,) = list_symbols(code, "place").symbols
    assert (one.path, one.kind, one.language) == ("shop/orders.py", "method", "python")
    assert one.snippet == "Charge the customer, and retry on a timeout."
    assert one.signature.startswith("def place(self)")
    assert one.end_line > one.line


@pytest.mark.parametrize(
    ("doc", "shown"),
    [
        ("Add one. Then two.", "Add one."),
        ("Add one\nand two.\n\nMore.", "Add one and two."),
        ("Add version 1.2 of it", "Add version 1.2 of it"),
        ("", "def f(a, b)"),
        ("\n \n", "def f(a, b)"),
        ("x" * 500, "x" * 199 + "…"),
    ],
)
def test_a_snippet_is_one_line(doc: str, shown: str) -> None:
    one = Symbol("f", "function", "def f(a,\n  b)", doc, 1, 2, "")
    assert SymbolRow(1, "sym-1", "a.py", "python", False, one).snippet == shown


def test_a_file_has_many_names(code: Codebase, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = names(code, file="shop/payments.py")
    assert "Gateway" in expected
    forms = ["./shop/payments.py", str(code.root / "shop/payments.py"), "shop\\payments.py"]
    for form in (*forms, "payments.py", "shop/../shop/payments.py"):
        assert names(code, file=form) == expected
    monkeypatch.chdir(code.root / "shop")
    assert names(code, file="payments.py") == expected
    assert set(expected) < set(names(code, file="."))


def test_an_unknown_file_is_an_error(code: Codebase) -> None:
    with pytest.raises(BadInput, match=r"did you mean shop/orders\.py"):
        list_symbols(code, file="shop/order.py")
    with pytest.raises(BadInput, match="no file of code"):
        list_symbols(code, file="../other/a.py")
    (code.root / "min.py").write_text("x=1;" * 5000)
    with pytest.raises(BadInput, match="not indexed: generated or minified"):
        list_symbols(code, file="min.py")


def test_a_symbol_has_calls_and_callers(code: Codebase) -> None:
    found = symbol(code, "Order.place")
    assert found.doc == "Charge the customer, and retry on a timeout."
    calls = {one.written: (one.name, one.how) for one in found.calls}
    assert calls["self.check"] == ("Order.check", "same file")
    assert calls["Gateway"] == ("Gateway", "imported file")
    assert found.unclear_callers == 0
    (caller,) = found.called_by
    assert (caller.name, caller.path) == ("describe", "shop/reports.py")
    (unclear,) = symbol(code, "charge_with_retry").calls
    assert (unclear.id, unclear.path, unclear.line, unclear.alike) == (None, None, None, 1)


def test_showing_a_symbol_counts_an_access(code: Codebase) -> None:
    assert symbol(code, "Gateway").access_count == 0
    assert symbol(code, "Gateway", count_access=False).access_count == 1
    again = symbol(code, "Gateway")
    assert again.access_count == 1
    assert again.last_accessed_at.endswith("Z")


def test_an_unknown_symbol_suggests_others(code: Codebase) -> None:
    with pytest.raises(SymbolNotFound, match="did you mean Gateway"):
        symbol(code, "Gatway")
