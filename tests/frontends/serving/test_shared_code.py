"""The code that requests share is updated behind them, once one has asked for it."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from memory_bank.base.errors import NoRepository
from memory_bank.code.index.codebase import Codebase, open_codebase
from memory_bank.frontends.serving import shared_bank
from memory_bank.frontends.serving.serving_background import Background
from memory_bank.frontends.serving.shared_bank import SharedBank, SharedCode
from memory_bank.memory.retrieval.ask import ask, explain_answer
from tests.git.history_builder import commit_all
from tests.support.files import write_files
from tests.support.shop import FILES
from tests.support.waiting import until


def opener(folder: Path) -> Callable[[Callable[[], bool]], Codebase]:
    return lambda embeds: open_codebase(folder, embeds=embeds)


def running() -> list[threading.Thread]:
    return [one for one in threading.enumerate() if one.name == "code"]


class TestCodeThatIsSearched:
    @pytest.fixture
    def root(
        self, tmp_path: Path, git: Callable[..., str], monkeypatch: pytest.MonkeyPatch
    ) -> Path:
        made = tmp_path.resolve() / "shop"
        git(tmp_path, "init", "-q", "-b", "main", str(made))
        (made / "shop.py").write_text(functions("buy"))
        monkeypatch.chdir(made)
        return made

    @pytest.fixture
    def shared(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SharedBank]:
        monkeypatch.setattr(shared_bank, "_INTERVAL", 0.4)
        made = SharedBank()
        with closing(made), closing(Background(made)) as background:
            background.start()
            yield made

    @pytest.mark.usefixtures("shared")
    def test_nothing_is_indexed_before_a_request(self) -> None:
        time.sleep(1)
        with open_codebase() as code:
            assert not code.table.file.exists()
        assert not running()

    def test_a_request_that_came_before_the_start_is_known(self, root: Path) -> None:
        with closing(SharedCode(opener(root), searched=True)) as shared:
            ask(None, shared.wake(), "buy")
            assert not running()
            shared.start()
            until(shared.embedded_elsewhere.is_set)

    def test_what_a_request_leaves_is_embedded(
        self, shared: SharedBank, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("memory_bank.code.index.codebase.EMBED_SECONDS", 0.0)
        code = shared.codebase()
        assert "no vectors yet: a sync computes them" in (ask(None, code, "buy").problem or "")
        until(lambda: waiting() == 0)
        assert ask(None, code, "buy").mode_used == "hybrid"

    def test_the_thread_indexes_alone_if_no_request_does(
        self, shared: SharedBank, root: Path
    ) -> None:
        assert shared.code.wait_until_indexed(60)
        found = explain_answer(None, shared.codebase(), "buy", refresh_code=False)
        assert str(found.answer.results[0].title).startswith("buy")
        (root / "other.py").write_text(functions("sell"))
        until(
            lambda: (
                explain_answer(None, shared.codebase(), "sell", refresh_code=False).answer.results
            )
        )

    def test_changes_are_indexed_without_a_request(self, shared: SharedBank, root: Path) -> None:
        code = shared.codebase()
        ask(None, code, "buy")
        until(shared.code.embedded_elsewhere.is_set)
        (root / "bank.py").write_text(functions("pay"))

        def parsed() -> bool:
            with open_codebase() as other:
                return bool(other.table.symbols("s.name = ?", "pay_7"))

        until(parsed)
        until(lambda: waiting() == 0)
        answer = ask(None, code, "pay_7")
        assert (answer.mode_used, answer.results[0].title) == ("hybrid", "pay_7")

    def test_without_requests_the_thread_ends_and_requests_embed_again(
        self, root: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(shared_bank, "_INTERVAL", 0.2)
        monkeypatch.setattr(shared_bank, "_IDLE", 0.1)
        with closing(SharedCode(opener(root), searched=True)) as shared:
            shared.start()
            ask(None, shared.wake(), "buy")
            until(lambda: not running())
            assert not shared.embedded_elsewhere.is_set()
            monkeypatch.setattr(shared_bank, "_IDLE", 600.0)
            ask(None, shared.wake(), "buy")
            until(shared.embedded_elsewhere.is_set)

    @pytest.mark.usefixtures("root")
    def test_it_ends_with_the_server(self) -> None:
        with closing(SharedBank()) as shared:
            background = Background(shared)
            background.start()
            ask(None, shared.codebase(), "buy")
            begun = time.monotonic()
            background.close()
            assert time.monotonic() - begun < 30
        until(lambda: not running())


def functions(word: str) -> str:
    """Return more functions than a query embeds in any case."""
    return "".join(f"def {word}_{number}():\n    return {number}\n\n" for number in range(200))


def waiting() -> int:
    """Return how many passages have no vector, as another process sees it."""
    with open_codebase() as code:
        return code.embed(0.0).waiting


class TestCodeThatIsLookedUp:
    @pytest.fixture
    def shop(self, tmp_path: Path, git: Callable[..., str]) -> Path:
        root = tmp_path.resolve() / "shop"
        git(tmp_path, "init", "-q", "-b", "main", str(root))
        for number in range(3):
            write_files(root, {**FILES, "shop/orders.py": f"{FILES['shop/orders.py']}# {number}\n"})
            (root / "shop/payments.py").write_text(f"{FILES['shop/payments.py']}# {number}\n")
            commit_all(root, f"Change {number}")
        return root

    @pytest.fixture
    def code(self, shop: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SharedCode]:
        monkeypatch.setattr(shared_bank, "_INTERVAL", 0.05)
        with closing(SharedCode(opener(shop / "shop"), searched=False)) as made:
            made.start()
            yield made

    def test_the_thread_reads_it_the_first_time_too(self, code: SharedCode, shop: Path) -> None:
        assert not code.ready
        assert not code.coupled("shop/orders.py")
        code.wake()
        until(lambda: code.ready)
        assert "Order.place" in names(code)
        assert code.coupled("shop/orders.py")[0].file == "shop/payments.py"
        (shop / "shop/new.py").write_text("def new_one():\n    return 1\n")
        until(lambda: "new_one" in names(code))

    def test_a_request_never_waits_for_the_thread(
        self, code: SharedCode, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        reads, goes_on = threading.Event(), threading.Event()

        def slow(*_: object) -> str:
            reads.set()
            goes_on.wait(60)
            return ""

        monkeypatch.setattr(Codebase, "refresh", slow)
        code.wake()
        assert reads.wait(60)
        begun = time.monotonic()
        code.wake()
        found = code.coupled("shop/orders.py")
        goes_on.set()
        assert not found
        assert not code.ready
        assert time.monotonic() - begun < 30

    def test_one_thread_runs_at_a_time(self, code: SharedCode) -> None:
        for _ in range(3):
            code.wake()
        assert len(running()) == 1

    def test_closed_code_is_not_updated(self, shop: Path) -> None:
        made = SharedCode(opener(shop), searched=False)
        made.start()
        made.close()
        made.wake()
        assert not running()
        made.close()

    def test_a_folder_outside_of_git_has_no_code(self, tmp_path: Path) -> None:
        made = SharedCode(opener(tmp_path), searched=False)
        with pytest.raises(NoRepository):
            made.wake()
        assert not running()


def names(code: SharedCode) -> set[str]:
    return {row.symbol.qualified for row in code.code.table.symbols("NOT s.test")}
