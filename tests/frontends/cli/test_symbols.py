from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from memory_bank.code.index.codebase import open_codebase
from tests.shop import FILES, write

from .conftest import Run


@pytest.fixture
def shop(project: Path) -> Path:
    """Add the code of a shop to the project."""
    write(project, FILES)
    return project


def test_symbols_are_listed_in_columns(mb: Run, shop: Path) -> None:
    answer = mb("symbols", "order", "place")
    assert answer.out.split("  ") == [
        "shop/orders.py:12", "method", "Order.place",
        "Charge the customer, and retry on a timeout.\n",
    ]  # fmt: skip
    assert (answer.code, answer.err) == (0, "")


def test_places_are_seen_from_the_working_directory(
    mb: Run, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(shop / "tests")
    assert mb("symbols", "--file", "../shop/payments.py", "--kind", "class").out.startswith(
        "../shop/payments.py:1  class"
    )


def test_a_cut_list_and_a_search_are_remarked(mb: Run, shop: Path) -> None:
    assert "there are more than 1" in mb("symbols", "--limit", "1").err
    answer = mb("symbols", "who", "charges", "a", "customer")
    assert "Order.place" in answer.out
    assert "no name has these words: found by words and meaning" in answer.err


def test_json_has_all_fields(mb: Run, shop: Path) -> None:
    found = mb("symbols", "Gateway", "--kind", "class", "--json").json
    (one,) = found.pop("symbols")
    assert found == {"query": "Gateway", "result_count": 1, "more": False, "found_by": "name"} | {
        key: value for key, value in found.items() if key == "problem"
    }
    assert one["id"].startswith("sym-")
    assert (one["name"], one["path"], one["line"]) == ("Gateway", "shop/payments.py", 1)


def test_nothing_found_is_exit_code_1(mb: Run, shop: Path) -> None:
    answer = mb("symbols", "--language", "ruby")
    assert (answer.code, answer.out, answer.err) == (1, "", "no symbols\n")


def test_without_a_repository_the_error_says_so(
    mb: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "plain").mkdir()
    monkeypatch.chdir(tmp_path / "plain")
    answer = mb("symbols")
    assert answer.code == 2
    assert "is in no git work tree: there is no code to read" in answer.err


def test_no_bank_is_needed(mb: Run, shop: Path, git: Callable[..., str]) -> None:
    git(shop, "clone", "-q", str(shop), "../clone")
    git(shop.parent / "clone", "rm", "-q", "-r", ".memories")
    (shop.parent / "clone/a.py").write_text("def walrus():\n    pass\n")
    monkeypatch = pytest.MonkeyPatch()
    with monkeypatch.context() as patch:
        patch.chdir(shop.parent / "clone")
        assert "walrus" in mb("symbols", "walrus").out


def test_sync_embeds_the_code_that_was_asked_for(mb: Run, shop: Path) -> None:
    with open_codebase(shop) as code:
        assert mb("sync").err == ""
        assert not code.table.file.exists()
        assert code.refresh() == ""
        assert mb("sync").err == ""
        found = code.search("symbols", "who charges a customer", 1, mode="semantic")
    assert (found.mode, found.fallback_reason) == ("semantic", "")
    assert found.hits[0].path == "shop/orders.py"


def test_doctor_tells_what_is_not_indexed_of_the_code(mb: Run, shop: Path) -> None:
    assert "code:" not in mb("doctor").out
    assert mb("doctor", "--json").json.get("code") is None
    for number in range(5):
        (shop / f"min{number}.py").write_text("x=1;" * 5000)
    (shop / "link.py").symlink_to("min0.py")
    mb("symbols")
    shown = mb("doctor").out
    assert "code: 6 files, " in shown
    assert (
        "  generated or minified: its lines are very long (5): min0.py, min1.py, min2.py and 2 more"
        in shown
    )
    assert "  symbolic link: not followed (1): link.py" in shown
    assert "all is well" not in shown
    found = mb("doctor", "--json").json
    assert found["healthy"]
    assert found["code"]["files"] == 6
    assert found["code"]["tests"] == 2
    assert len(found["code"]["unindexed"]) == 6
