from collections.abc import Callable
from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank
from memory_bank.memory.overview import format_bytes, stats
from tests.support.files import write_files


def test_all_is_counted(folder: Path, opening: Callable[..., Bank]) -> None:
    notes = {
        "a.md": "---\ntype: fact\ntags: [x, y]\n---\n[[b]] [[ghost]] [[b#Nowhere]]",
        "b.md": "---\ntags: [x]\n---\ntext",
        "archived.md": "---\nstatus: archived\n---\n",
        "alone.md": "x",
        "self.md": "[[self]]",
        "binary.md": "\0",
    }
    write_files(folder, notes)
    (folder / "link.md").symlink_to("a.md")
    found = stats(opening(folder))
    assert (found.count, found.archived, found.unindexed) == (5, 1, 2)
    bytes_of_notes = sum(len(text) for path, text in notes.items() if path != "binary.md")
    assert found.total_bytes == bytes_of_notes
    assert found.total_size == f"{bytes_of_notes}B"
    assert found.tags == {"x": 2, "y": 1}
    assert found.types["fact"] == 1
    assert sum(found.types.values()) == 5
    assert (found.ghosts, found.broken_links) == (1, 1)
    assert found.orphans == 3, "archived, alone, self; what is not indexed is no note"


def test_an_empty_bank_counts_nothing(folder: Path, opening: Callable[..., Bank]) -> None:
    found = stats(opening(folder))
    assert (found.count, found.total_bytes, found.tags, found.types) == (0, 0, {}, {})
    assert (found.ghosts, found.broken_links, found.orphans, found.unindexed) == (0, 0, 0, 0)


@pytest.mark.parametrize(
    ("size", "shown"),
    [
        (0, "0B"), (999, "999B"), (1000, "1.0KB"), (2070, "2.1KB"), (9940, "9.9KB"),
        (9960, "10KB"), (45_210, "45KB"), (999_499, "999KB"), (999_500, "1.0MB"),
        (3_200_000_000, "3.2GB"), (7 * 10**15, "7000TB"),
    ],
)  # fmt: skip
def test_a_size_is_readable(size: int, shown: str) -> None:
    assert format_bytes(size) == shown
