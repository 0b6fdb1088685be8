"""`ask` prints what a question finds in code and notes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.frontends.cli.conftest import Run
from tests.git.history_builder import Made, extend, make

CODE = 'def charge(amount):\n    """Charge a card. Never twice."""\n    return amount\n'


@pytest.fixture
def shop(tmp_path: Path, mb: Run, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = make(tmp_path / "shop", [Made({"shop/pay.py": CODE, "README.md": "# Shop\n"})])
    monkeypatch.chdir(root)
    return root


def test_a_result_has_its_place_kind_title_and_a_line(shop: Path, mb: Run) -> None:
    answer = mb("ask", "charge", "a", "card", "--include", "symbols")
    assert answer.code == 0
    first, title, line = answer.out.splitlines()[:3]
    assert first.startswith("1  shop/pay.py:1  symbol  ")
    assert (title.strip(), line.strip()) == ("charge", "Charge a card.")
    assert "not searched" not in answer.err


def test_what_is_missing_is_a_warning(shop: Path, mb: Run) -> None:
    assert "notes not searched: there is no bank here" in mb("ask", "charge").err


def test_missing_vectors_are_one_warning_and_sync_counts_those_that_it_computes(
    shop: Path, mb: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory_bank.code.index.codebase.EMBED_SECONDS", 0.0)
    functions = (f'def charge_{n}():\n    """Charge card {n}."""\n\n\n' for n in range(60))
    (shop / "many.py").write_text("".join(functions))
    mb("init")
    warned = mb("ask", "charge", "a", "card")
    assert warned.err.count("warning: ") == 1
    assert "passages have no vectors yet: a sync computes them (vectors_pending)" in warned.err
    waiting = int(warned.err.partition("warning: ")[2].split()[0])
    synced = mb("sync").out
    assert re.search(
        rf"^code: indexed \d+ documents?, embedded {waiting} passages in ", synced, re.MULTILINE
    )
    assert "warning" not in mb("ask", "charge").err
    assert "code" not in mb("sync").out
    assert mb("sync", "--json").json["code"]["embedded"] == 0


def test_json_has_a_kind_for_each_result(shop: Path, mb: Run) -> None:
    found = json.loads(mb("ask", "charge", "--limit", "1", "--json").out)
    (first,) = found["results"]
    assert found["schema_version"] == "1.0"
    assert found["result_count"] == 1
    assert (first["kind"], first["file"], first["language"]) == ("symbol", "shop/pay.py", "python")


def test_every_result_has_the_fields_of_its_kind(shop: Path, mb: Run) -> None:
    text = "charge a card"
    extend(
        shop, [Made({"shop/pay.py": f"{CODE}{n}\n", "bill.toml": f"x = {n}\n"}) for n in "12"], 1
    )
    tests = "from shop.pay import charge\n\ndef test_charge_a_card():\n    assert charge(1)\n"
    (shop / "test_pay.py").write_text(tests)
    (shop / "README.md").write_text("# Shop\n\nIt can charge a card.\n")
    mb("init")
    (shop / ".memories/facts").mkdir(exist_ok=True)
    (shop / ".memories/facts/cards.md").write_text("We charge a card once.\n")
    found = json.loads(mb("ask", text, "--limit", "50", "--json").out)["results"]
    common = {"kind", "id", "title", "snippet", "relevance_score"}
    fields = {one["kind"]: set(one) - common for one in found if common <= set(one)}
    assert fields == {
        "symbol": {"file", "line", "language"},
        "note": {"tags", "source_type", "path", "line", "created_at"},
        "doc": {"path", "line"},
        "test_guard": {"test_file", "line"},
        "coupled_file": {"fused_score", "coupling_type"},
    }
    assert [one["id"] for one in found if one["kind"] == "coupled_file"] == [None]
    (guard,) = (one for one in found if one["kind"] == "test_guard")
    assert guard["snippet"] == "def test_charge_a_card():"


def test_nothing_found_and_wrong_use_have_their_exit_codes(shop: Path, mb: Run) -> None:
    assert mb("ask", "xylophone", "--include", "symbols").code == 1
    wrong = mb("ask", "charge", "--include", "people")
    assert wrong.code == 2
    assert "symbols, notes, docs, coupling, tests, commits" in wrong.err


def test_without_bank_and_repository_it_says_so(
    tmp_path: Path, mb: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    answer = mb("ask", "charge")
    assert answer.code != 0
    assert "no .memories folder" in answer.err
    assert "in no git work tree: there is no code to read" in answer.err


def test_notes_are_no_coupled_files(shop: Path, mb: Run) -> None:
    note = {".memories/facts/pay.md": "# Paying\n\nTo charge a card, pay the amount.\n"}
    extend(shop, [Made({**note, "shop/pay.py": f"{CODE}\n# {one}\n"}) for one in "ab"], 1)
    found = json.loads(mb("ask", "charge a card", "--json").out)["results"]
    assert "note" in {one["kind"] for one in found}
    assert not [one for one in found if one["kind"] == "coupled_file" and "pay.md" in one["title"]]


def test_sync_without_a_bank_embeds_the_code(
    shop: Path, mb: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert mb("sync").code == 2
    monkeypatch.setattr("memory_bank.code.index.codebase.EMBED_SECONDS", 0.0)
    many = "".join(f"def pay_{one}():\n    return {one}\n\n" for one in range(100))
    (shop / "shop/many.py").write_text(many)
    assert "a sync computes them" in mb("ask", "pay").err
    assert mb("sync").code == 0
    assert "sync" not in mb("ask", "pay").err


@pytest.mark.parametrize("command", ["ask", "recall", "symbols", "tests-for", "blast-radius"])
def test_arguments_that_are_not_utf8_are_understood(shop: Path, mb: Run, command: str) -> None:
    mb("init")
    (shop / "shop/caf\udce9.py").write_text("def latin():\n    pass\n")
    answer = mb(command, "shop/caf\udce9.py")
    assert "unexpected" not in answer.err
    assert "damaged" not in answer.err
