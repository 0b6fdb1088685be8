"""A repository with code of a small shop, and its table of symbols."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memory_bank.code.index.symbol_table import SymbolTable
from memory_bank.code.index.work_tree import WorkTree
from memory_bank.code.parse import parsing
from memory_bank.code.parse.parsing import ParseCache
from tests.git.history_builder import commit_all
from tests.support.files import write_files
from tests.support.shop import FILES


@pytest.fixture
def shop(tmp_path: Path, git: Callable[..., str]) -> Path:
    """Make a repository of a shop's code, with one commit."""
    root = tmp_path.resolve() / "shop"
    write_files(root, FILES)
    git(tmp_path, "init", "-q", "-b", "main", str(root))
    commit_all(root, "Start")
    return root


@pytest.fixture
def open_table(tmp_path: Path) -> Iterator[Callable[..., SymbolTable]]:
    """Return a function that opens the table of a work tree."""
    opened: list[SymbolTable] = []

    def at(root: Path, name: str = "table", max_bytes: int = 1_000_000) -> SymbolTable:
        cache = ParseCache(tmp_path / "cache" / "parses.db", parsing.VERSION)
        tree = WorkTree(root, max_bytes=max_bytes)
        opened.append(SymbolTable(tree, tmp_path / "cache" / name, cache))
        return opened[-1]

    yield at
    for table in opened:
        table._cache.close()
        table.close()


@pytest.fixture
def table(shop: Path, open_table: Callable[..., SymbolTable]) -> SymbolTable:
    """Return the table of the shop, up to date."""
    found = open_table(shop)
    found.refresh()
    return found
