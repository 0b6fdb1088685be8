from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memory_bank.errors import NoRepository
from memory_bank.serving import shared_code
from memory_bank.serving.shared_code import SharedCode
from tests.shop import FILES, write


@pytest.fixture
def shop(tmp_path: Path, git: Callable[..., str]) -> Path:
    root = tmp_path.resolve() / "shop"
    git(tmp_path, "init", "-q", "-b", "main", str(root))
    for number in range(3):
        write(root, {**FILES, "shop/orders.py": f"{FILES['shop/orders.py']}# {number}\n"})
        (root / "shop/payments.py").write_text(f"{FILES['shop/payments.py']}# {number}\n")
        git(root, "add", "-A")
        git(root, "commit", "-q", "-m", f"Change {number}")
    return root


@pytest.fixture
def code(shop: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SharedCode]:
    monkeypatch.setattr(shared_code, "_FRESH", 0.0)
    made = SharedCode(shop / "shop")
    yield made
    made.close()


def wait(true: Callable[[], object]) -> None:
    end = time.monotonic() + 20
    while not true() and time.monotonic() < end:
        time.sleep(0.01)
    assert true()


def names(code: SharedCode) -> set[str]:
    with code.code.lock:
        return {row.symbol.qualified for row in code.code.table.symbols("NOT s.test")}


def test_it_is_updated_in_a_thread(code: SharedCode, shop: Path) -> None:
    assert not code.ready
    assert not code.coupled("shop/orders.py")
    code.update()
    wait(lambda: code.ready)
    assert "Order.place" in names(code)
    assert code.coupled("shop/orders.py")[0].file == "shop/payments.py"
    (shop / "shop/new.py").write_text("def new_one():\n    return 1\n")

    def known() -> bool:
        code.update()
        return "new_one" in names(code)

    wait(known)


def test_one_update_runs_at_a_time(code: SharedCode) -> None:
    code.update()
    first = code._thread
    code.update()
    assert code._thread is first
    wait(lambda: code.ready)


def test_closed_code_is_not_updated(shop: Path) -> None:
    made = SharedCode(shop)
    made.close()
    made.update()
    assert made._thread is None


def test_a_folder_outside_of_git_has_no_code(tmp_path: Path) -> None:
    with pytest.raises(NoRepository):
        SharedCode(tmp_path)
