import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memory_bank.code import coupled
from memory_bank.code.coupled import Similarity, WordTable
from memory_bank.code.index.symbol_table import SymbolTable
from memory_bank.code.index.work_tree import WorkTree
from memory_bank.code.parse import parsing
from memory_bank.code.parse.parsing import ParseCache
from tests.git.history_builder import run
from tests.support.files import write_files

LONG_AGO = 1_600_000_000


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path.resolve() / "tree"
    root.mkdir()
    run(root, "init", "-q")
    texts = {
        "card.py": "charge the card, refund the card, currency\n",
        "bank/test.py": "refund a card in another currency\n",
        "manual.md": "welcome to this program\n",
    }
    write_files(root, texts)
    for name in texts:
        os.utime(root / name, (LONG_AGO, LONG_AGO))
    return root


@pytest.fixture
def work_tree(tree: Path) -> WorkTree:
    return WorkTree(tree, max_bytes=10_000)


@pytest.fixture
def table(work_tree: WorkTree, tmp_path: Path) -> Iterator[SymbolTable]:
    cache = ParseCache(tmp_path / "cache/parses.db", parsing.parser_version())
    table = SymbolTable(work_tree, tmp_path / "cache", cache)
    table.refresh()
    yield table
    table.close()
    cache.close()


@pytest.fixture
def words(table: SymbolTable) -> WordTable:
    return WordTable(table)


@pytest.fixture
def refreshed(words: WordTable, work_tree: WorkTree) -> Callable[[], Similarity]:
    return lambda: words.refresh(work_tree.scan())


def test_texts_are_compared_as_they_are_now(
    tree: Path, words: WordTable, refreshed: Callable[[], Similarity]
) -> None:
    before = refreshed()
    assert before("card.py")["bank/test.py"] > before("card.py").get("manual.md", 0)
    assert words.files == {"card.py", "bank/test.py", "manual.md"}
    write_files(tree, {"manual.md": "charge the card, refund the card, currency\n"})
    assert refreshed()("card.py")["manual.md"] > before("card.py").get("manual.md", 0)
    (tree / "manual.md").unlink()
    assert "manual.md" not in refreshed()("card.py")


def test_only_changed_files_are_read(
    tree: Path,
    words: WordTable,
    monkeypatch: pytest.MonkeyPatch,
    refreshed: Callable[[], Similarity],
) -> None:
    asked: list[str] = []
    real = WorkTree.read

    def read(self: WorkTree, path: str) -> object:
        asked.append(path)
        return real(self, path)

    monkeypatch.setattr(WorkTree, "read", read)
    monkeypatch.setattr(coupled, "is_trusted", lambda _: True)
    first = refreshed()
    assert sorted(asked) == ["bank/test.py", "card.py", "manual.md"]
    assert refreshed() is first
    words.close()
    refreshed()
    assert len(asked) == 3
    write_files(tree, {"new.py": "card\n"})
    refreshed()
    assert asked[3:] == ["new.py"]


def test_what_is_no_text_is_a_file_without_likeness(
    tree: Path, words: WordTable, refreshed: Callable[[], Similarity]
) -> None:
    (tree / "image.png").write_bytes(b"card\0" * 10)
    (tree / "large.txt").write_text("card currency\n" * 1000)
    (tree / "link.py").symlink_to("card.py")
    found = refreshed()("card.py")
    assert not found.keys() & {"image.png", "large.txt", "link.py"}
    assert {"image.png", "large.txt", "link.py"} <= words.files


def test_bounds_are_said(
    tree: Path,
    words: WordTable,
    monkeypatch: pytest.MonkeyPatch,
    refreshed: Callable[[], Similarity],
) -> None:
    monkeypatch.setattr(coupled, "_BATCH", 1)
    monkeypatch.setattr(coupled, "_SECONDS", 0.0)
    monkeypatch.setattr(coupled, "MOST_FILES", 2)
    refreshed()
    assert words.notes == (
        "only 2 of 3 files are compared",
        "1 of 2 files are not compared yet: the next call goes on",
    )


@pytest.mark.parametrize("damage", [b"", b"nonsense" * 1000])
def test_a_damaged_database_is_made_again(
    table: SymbolTable, words: WordTable, damage: bytes, refreshed: Callable[[], Similarity]
) -> None:
    before = refreshed()("card.py")
    words.close()
    table.close()
    table.file.write_bytes(damage)
    assert refreshed()("card.py") == before


def test_a_damaged_row_is_made_again(
    table: SymbolTable, words: WordTable, refreshed: Callable[[], Similarity]
) -> None:
    before = refreshed()("card.py")
    table.opened().execute("UPDATE words SET words = '[1]'")
    words.close()
    assert refreshed()("card.py") == before


def test_the_last_scan_is_not_read_again(
    tree: Path, words: WordTable, refreshed: Callable[[], Similarity], work_tree: WorkTree
) -> None:
    scan = work_tree.scan()
    before = words.refresh(scan)
    write_files(tree, {"manual.md": "charge the card, refund the card, currency\n"})
    assert words.refresh(scan) is before
    assert refreshed() is not before
