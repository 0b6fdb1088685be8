"""The code's indices are updated behind requests, once one has asked for the code."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from memory_bank.actions.ask import ask
from memory_bank.codebase import open_codebase
from memory_bank.serving import code_updates
from memory_bank.serving.background import Background
from memory_bank.serving.shared_bank import SharedBank


@pytest.fixture
def root(tmp_path: Path, git: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> Path:
    made = tmp_path.resolve() / "shop"
    git(tmp_path, "init", "-q", "-b", "main", str(made))
    (made / "shop.py").write_text(functions("buy"))
    monkeypatch.chdir(made)
    return made


@pytest.fixture
def shared(root: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SharedBank]:
    monkeypatch.setattr(code_updates, "_INTERVAL", 0.4)
    made = SharedBank()
    with closing(made), closing(Background(made)) as background:
        background.start()
        yield made


def functions(word: str) -> str:
    """Return more functions than a query embeds in any case."""
    return "".join(f"def {word}_{number}():\n    return {number}\n\n" for number in range(200))


def waiting() -> int:
    """Return how many passages have no vector, as another process sees it."""
    with open_codebase() as code:
        return code.embed(0.0)


def until(done: Callable[[], object]) -> None:
    end = time.monotonic() + 60
    while not done():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.usefixtures("shared")
def test_nothing_is_indexed_before_a_request() -> None:
    time.sleep(1)
    with open_codebase() as code:
        assert not code.table.file.exists()


def test_what_a_request_leaves_is_embedded(
    shared: SharedBank, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory_bank.codebase.EMBED_SECONDS", 0.0)
    code = shared.codebase()
    assert "no vectors yet: a sync computes them" in (ask(None, code, "buy").problem or "")
    until(lambda: waiting() == 0)
    assert ask(None, code, "buy").mode_used == "hybrid"


def test_changes_are_indexed_without_a_request(shared: SharedBank, root: Path) -> None:
    code = shared.codebase()
    ask(None, code, "buy")
    until(shared.code_embedded_elsewhere.is_set)
    (root / "bank.py").write_text(functions("pay"))

    def parsed() -> bool:
        with open_codebase() as other:
            return bool(other.table.symbols("s.name = ?", "pay_7"))

    until(parsed)
    until(lambda: waiting() == 0)
    answer = ask(None, code, "pay_7")
    assert (answer.mode_used, answer.results[0].title) == ("hybrid", "pay_7")


@pytest.mark.usefixtures("root")
def test_it_ends_with_the_server() -> None:
    with closing(SharedBank()) as shared:
        background = Background(shared)
        background.start()
        ask(None, shared.codebase(), "buy")
        begun = time.monotonic()
        background.close()
        assert time.monotonic() - begun < 5
    until(lambda: not any(one.name == "code updates" for one in threading.enumerate()))
