"""The table of symbols follows the files of the work tree."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_bank.base.errors import Busy
from memory_bank.base.locks import hold_lock
from memory_bank.code.index.symbol_table import SymbolTable
from memory_bank.code.index.work_tree import BINARY, GENERATED, LINK, TOO_LARGE
from memory_bank.code.parse import parsing
from memory_bank.git.repository import repository_cache, worktree_cache

Git = Callable[..., str]
OpenTable = Callable[..., SymbolTable]


def names(table: SymbolTable, path: str = "shop/orders.py") -> list[str]:
    return [one.symbol.qualified for one in table.symbols("f.path = ?", path)]


def ids(table: SymbolTable) -> dict[tuple[str, str], str]:
    return {(one.path, one.symbol.qualified): one.id for one in table.symbols("1")}


def parsed(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Return the contents that are parsed from now on."""
    found: list[bytes] = []
    real = parsing.parse

    def parse(data: bytes, language: str) -> object:
        found.append(data)
        return real(data, language)

    monkeypatch.setattr(parsing, "parse", parse)
    return found


def test_a_table_has_symbols_calls_imports_and_tests(table: SymbolTable) -> None:
    assert {"Order", "Order.place", "Order.check", "charge_with_retry"} <= set(names(table))
    (place,) = table.symbols("s.qualified = 'Order.place'")
    assert (place.path, place.symbol.kind, place.test) == ("shop/orders.py", "method", False)
    assert "self.check" in place.symbol.calls
    assert "Charge the customer" in place.symbol.doc
    tests = table.tests("1")
    assert [one.intent.symbol for one in tests] == [
        "test_an_empty_order_is_refused", "test_charge_with_retry",
    ]  # fmt: skip
    assert [one.symbol.name for one in table.symbols("s.test")] == [
        one.intent.symbol for one in tests
    ]
    imports = [(path, one.target, one.names) for path, one in table.imports()]
    assert ("shop/orders.py", "shop.payments", ("Gateway",)) in imports


def test_only_changed_files_are_read_and_only_unknown_content_is_parsed(
    shop: Path, table: SymbolTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    (shop / "a.py").write_text("def one():\n    pass\n")
    table.refresh()
    seen = parsed(monkeypatch)
    generation = table.generation
    assert not table.refresh()
    os.utime(shop / "a.py", (1, 1))
    assert not table.refresh()
    assert (seen, table.generation) == ([], generation)
    (shop / "b.py").write_text("def one():\n    pass\n")
    assert table.refresh()
    assert seen == []
    (shop / "b.py").write_text("def two():\n    pass\n")
    assert table.refresh()
    assert seen == [b"def two():\n    pass\n"]
    assert names(table, "b.py") == ["two"]
    (shop / "b.py").unlink()
    assert table.refresh()
    assert names(table, "b.py") == []


def test_a_change_of_the_same_size_and_time_is_seen(shop: Path, table: SymbolTable) -> None:
    (shop / "a.py").write_text("def one():\n    pass\n")
    table.refresh()
    before = (shop / "a.py").stat()
    (shop / "a.py").write_text("def two():\n    pass\n")
    os.utime(shop / "a.py", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert table.refresh()
    assert names(table, "a.py") == ["two"]


def test_a_moved_or_changed_symbol_keeps_its_id(shop: Path, table: SymbolTable) -> None:
    before = ids(table)
    text = (shop / "shop/orders.py").read_text()
    (shop / "shop/orders.py").unlink()
    (shop / "shop/sales.py").write_text(text.replace("LIMIT = 3", "LIMIT = 4\nMORE = 5"))
    table.refresh()
    after = ids(table)
    for name in ("Order", "Order.place", "charge_with_retry"):
        assert after["shop/sales.py", name] == before["shop/orders.py", name]
    assert all(one.startswith("sym-") and len(one) == 16 for one in after.values())


def test_symbols_of_the_same_name_have_ids_of_their_own(shop: Path, table: SymbolTable) -> None:
    twins = ids(table)
    assert twins["shop/payments.py", "describe"] != twins["shop/reports.py", "describe"]
    (shop / "shop/payments.py").write_text("def describe():\n    return 'changed'\n")
    table.refresh()
    assert ids(table)["shop/payments.py", "describe"] == twins["shop/payments.py", "describe"]
    state = table.files()["shop/reports.py"]
    (shop / "shop/payments.py").unlink()
    table.refresh()
    alone = ids(table)["shop/reports.py", "describe"]
    assert alone not in twins.values()
    assert table.files()["shop/reports.py"].ids != state.ids
    assert table.files()["shop/reports.py"].blob == state.blob


def test_several_definitions_of_a_name_in_a_file_differ(shop: Path, table: SymbolTable) -> None:
    (shop / "a.py").write_text("def one():\n    pass\n\n\ndef one():\n    return 2\n")
    table.refresh()
    found = [one.id for one in table.symbols("f.path = 'a.py'")]
    assert len(found) == len(set(found)) == 2


def test_another_table_of_the_same_files_is_equal(
    shop: Path, table: SymbolTable, open_table: OpenTable
) -> None:
    (shop / "shop/b.py").write_text("def describe():\n    pass\n")
    table.refresh()
    (shop / "shop/reports.py").unlink()
    table.refresh()
    fresh = open_table(shop, "fresh")
    fresh.refresh()
    assert ids(fresh) == ids(table)
    assert [one[1:] for one in fresh.symbols("1")] == [one[1:] for one in table.symbols("1")]
    assert [one[1:] for one in fresh.tests("1")] == [one[1:] for one in table.tests("1")]
    assert list(fresh.imports()) == list(table.imports())
    assert {path: one.ids for path, one in fresh.files().items()} == {
        path: one.ids for path, one in table.files().items()
    }


def test_work_trees_share_what_was_parsed(
    shop: Path, table: SymbolTable, open_table: OpenTable, tmp_path: Path, git: Git,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    git(shop, "worktree", "add", "-q", str(tmp_path / "other"))
    seen = parsed(monkeypatch)
    other = open_table(tmp_path / "other", "other")
    other.refresh()
    assert seen == []
    assert ids(other) == ids(table)
    assert repository_cache(tmp_path / "other") == repository_cache(shop)
    assert worktree_cache(tmp_path / "other") != worktree_cache(shop)


def test_refused_files_are_listed_and_not_read_again(
    shop: Path, open_table: OpenTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    (shop / "data.py").write_bytes(b"x = '\0'\n")
    (shop / "min.py").write_text("x=1;" * 5000)
    (shop / "huge.py").write_bytes(b"# generated\n" * 5_000_000)
    (shop / "link.py").symlink_to("min.py")
    table = open_table(shop)
    table.refresh()
    assert table.refused() == {
        "data.py": BINARY, "huge.py": TOO_LARGE, "link.py": LINK, "min.py": GENERATED,
    }  # fmt: skip
    monkeypatch.setattr("memory_bank.base.filenames._RACY_NS", 0)
    for file in ("data.py", "min.py"):
        os.utime(shop / file, (1, 1))
    table.refresh()
    read: list[str] = []
    monkeypatch.setattr(table.tree, "read", read.append)
    assert not table.refresh()
    (shop / "data.py").write_text("x = 1\n")
    monkeypatch.undo()
    table.refresh()
    assert "data.py" not in table.refused()
    assert read == []


def test_another_version_of_the_parser_reads_all_again(
    shop: Path, table: SymbolTable, open_table: OpenTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parsing, "VERSION", "another")
    seen = parsed(monkeypatch)
    newer = open_table(shop)
    assert newer.refresh()
    assert len(set(seen)) == len(table.files())


@pytest.mark.slow
def test_a_killed_reader_loses_nothing(shop: Path, open_table: OpenTable, tmp_path: Path) -> None:
    for number in range(450):
        (shop / f"part{number}.py").write_text(f"def part{number}():\n    pass\n")
    program = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from memory_bank.code.parse import parsing\n"
        "from memory_bank.code.parse.parsing import ParseCache\n"
        "from memory_bank.code.index.symbol_table import SymbolTable\n"
        "from memory_bank.code.index.work_tree import WorkTree\n"
        "cache = ParseCache(Path(sys.argv[2]) / 'parses.db', parsing.VERSION)\n"
        "tree = WorkTree(Path(sys.argv[1]), max_bytes=10**6)\n"
        "table = SymbolTable(tree, Path(sys.argv[2]) / 'table', cache)\n"
        "table.refresh(lambda what, done, total: done >= 400 and os.kill(os.getpid(), 9))\n"
    )
    words = [sys.executable, "-c", program, str(shop), str(tmp_path / "cache")]
    killed = subprocess.run(words, check=False)
    assert killed.returncode == -signal.SIGKILL
    table = open_table(shop)
    assert len(table.files()) == 400
    assert table.refresh()
    fresh = open_table(shop, "fresh")
    fresh.refresh()
    assert ids(fresh) == ids(table)


def test_two_processes_do_not_write_at_once(shop: Path, table: SymbolTable) -> None:
    (shop / "a.py").write_text("def one():\n    pass\n")
    with hold_lock(table.file.parent), pytest.raises(Busy):
        table.refresh(wait=0.01)
    assert table.refresh()
