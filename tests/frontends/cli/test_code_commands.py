"""`explain-symbol`, `blast-radius`, `tests-for`, and what `doctor` says of names of symbols."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.shop import FILES, write

from .conftest import Run

NOTE = """---
id: aaaaaaaaaaaa
created_at: 2026-01-05T00:00:00Z
symbol_refs: [Order.place, Order.plaice, grow]
---
# Placing

An order is charged once. See [[shop/orders.py]] before it changes.
"""
FARM = "".join(f"class {name}:\n    def grow(self):\n        pass\n\n\n" for name in ("Oat", "Rye"))


@pytest.fixture
def shop(project: Path) -> Path:
    """Add the code of a shop to the project, and a note about it."""
    write(project, {**FILES, "farm.py": FARM, ".memories/facts/placing.md": NOTE})
    return project


def test_a_symbol_is_explained_in_tables(mb: Run, shop: Path) -> None:
    answer = mb("explain-symbol", "Order.place")
    lines = answer.out.splitlines()
    assert lines[0].startswith("Order.place  method  shop/orders.py:12  sym-")
    assert lines[1:3] == ["  def place(self)", "  Charge the customer, and retry on a timeout."]
    assert "called by (1)" in lines
    assert "  shop/reports.py:4  describe  imported file" in lines
    assert "notes (1)" in lines
    assert "  .memories/facts/placing.md:1  Placing  2026-01-05" in lines
    assert "      An order is charged once." in lines
    assert "notes of shop/orders.py (1)" in lines
    assert any("See [shop/orders.py] before it changes." in line for line in lines)
    assert answer.code == 0
    assert "asked for 1 time, last on " in mb("explain-symbol", "Order.place").out


def test_what_a_call_may_mean_is_said(mb: Run, shop: Path) -> None:
    lines = mb("explain-symbol", "charge_with_retry").out.splitlines()
    assert "  -  gateway.charge  1 symbol of that name" in lines
    assert not any("range" in line for line in lines)  # a call that leaves this code
    said = "1 more calls something of that name, which may be another"
    assert f"  {said}" in mb("explain-symbol", "Gateway.charge").out.splitlines()
    assert "1 unclear" in mb("blast-radius", "shop/payments.py").out


def test_tests_of_a_file_itself_are_known(mb: Run, shop: Path) -> None:
    text = "pub fn area() {}\n\n#[cfg(test)]\nmod tests {\n  #[test]\n  fn it_fits() {}\n}\n"
    write(shop, {"src/area.rs": text})
    found = mb("tests-for", "src/area.rs")
    assert found.code == 0
    assert "  src/area.rs:6  it fits  is in its file" in found.out.splitlines()


def test_an_explanation_as_json_has_the_accesses(mb: Run, shop: Path) -> None:
    mb("explain-symbol", "Gateway")
    found = mb("explain-symbol", "Gateway", "--json").json
    assert found["schema_version"] == "1.0"
    assert found["details"]["symbol"]["path"] == "shop/payments.py"
    assert found["details"]["access_count"] == 1
    assert found["details"]["last_accessed_at"].endswith("Z")
    assert {"tests", "coupled", "notes", "file_notes", "commits"} <= set(found)


def test_accesses_change_the_order_of_symbols(mb: Run, shop: Path) -> None:
    twins = "".join(f"def zebra_{one}():\n    '''Graze in the wild.'''\n" for one in "abc")
    write(shop, {"twins.py": twins})

    def names() -> list[str]:
        return [one["name"] for one in mb("symbols", "grazing", "wild", "--json").json["symbols"]]

    first = names()
    assert {"zebra_a", "zebra_b", "zebra_c"} <= set(first[:3])
    for _ in range(3):
        mb("explain-symbol", first[2])
    assert names()[0] == first[2]


def test_the_blast_radius_of_a_file_is_shown_in_tables(
    mb: Run, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = mb("blast-radius", "shop/orders.py")
    assert "symbols of shop/orders.py (5)" in answer.out
    assert "method    Order.place        shop/reports.py:4" in answer.out
    assert "notes of Order.place (1)" in answer.out
    assert "tests (2)\n  tests/test_orders.py:4  an empty order is refused" in answer.out
    monkeypatch.chdir(shop / "shop")
    found = mb("blast-radius", "./orders.py", "--json").json
    assert (found["file"], found["callers"]) == ("shop/orders.py", ["shop/reports.py"])
    assert found["symbols"][0]["access_count"] == 1


def test_a_file_that_nothing_depends_on_is_no_error(mb: Run, shop: Path) -> None:
    (shop / "alone.dat").write_text("zzz\n")
    answer = mb("blast-radius", "alone.dat")
    assert (answer.code, answer.out) == (1, "")
    assert "nothing is known to depend on alone.dat" in answer.err
    unknown = mb("blast-radius", "shop/order.py")
    assert unknown.code == 1
    assert "did you mean shop/orders.py" in unknown.err


def test_the_tests_for_a_symbol_or_a_file_are_listed(mb: Run, shop: Path) -> None:
    answer = mb("tests-for", "Order.check")
    assert answer.out.splitlines() == [
        "tests (1)", "  tests/test_orders.py:4  an empty order is refused  calls it",
    ]  # fmt: skip
    found = mb("tests-for", "shop/orders.py", "--limit", "1", "--json").json
    assert (found["kind"], found["result_count"], found["more"]) == ("file", 1, True)
    write(shop, {"lone.dat": "x\n"})
    nothing = mb("tests-for", "lone.dat")
    assert (nothing.code, nothing.err) == (1, "no test is known to guard lone.dat\n")
    assert "did you mean Gateway" in mb("tests-for", "Gatway").err


def test_doctor_lists_unknown_symbols_and_all_is_well(mb: Run, shop: Path) -> None:
    mb("symbols", "Order")
    answer = mb("doctor")
    assert "unknown symbols in notes (2):" in answer.out
    said = "info: names the symbol Order.plaice, which the code doesn't have"
    assert f".memories/facts/placing.md:1  {said}" in answer.out
    assert "names the symbol grow, which may be 2 symbols" in answer.out
    found = mb("doctor", "--json").json
    assert found["healthy"]
    assert [one["severity"] for one in found["code"]["unknown_symbols"]] == ["info", "info"]


def test_names_of_symbols_are_completed(
    mb: Run, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mb("symbols", "Order")
    monkeypatch.setenv("COMP_WORDS", "memory-bank explain-symbol Order.")
    monkeypatch.setenv("COMP_CWORD", "2")
    monkeypatch.setenv("_MEMORY_BANK_COMPLETE", "bash_complete")
    assert "Order.place" in mb().out


def test_a_bank_that_is_named_must_exist(mb: Run, shop: Path) -> None:
    assert mb("explain-symbol", "Order", "--bank", "nowhere").code != 0


def test_without_a_repository_the_error_says_so(
    mb: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "plain", {".memories/note.md": "# Note\n"})
    monkeypatch.chdir(tmp_path / "plain")
    for line in (("explain-symbol", "x"), ("blast-radius", "x"), ("tests-for", "x")):
        answer = mb(*line)
        assert answer.code == 2
        assert "is in no git work tree" in answer.err


def test_doctor_names_a_link_to_a_symbol_that_its_file_does_not_have(mb: Run, shop: Path) -> None:
    write(shop, {"src/pay.py": "def total(x):\n    return x\n"})
    text = "See [[src/pay.py#totl]], [[src/pay.py#total]] and [[src/pay.py#L1]]."
    write(shop, {".memories/facts/sums.md": f"# Sums\n\n{text}\n"})
    mb("symbols", "total")
    said = "names the symbol src/pay.py#totl, which the code doesn't have; did you mean total?"
    assert mb("doctor").out.count("facts/sums.md") == 1
    assert said in mb("doctor").out
