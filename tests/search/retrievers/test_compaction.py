"""Many saves in a row: small segments are made one by us before tantivy merges all of them."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank
from memory_bank.memory.maintenance import compare
from memory_bank.memory.retrieval.recall import recall
from memory_bank.search.retrievers.keyword import keyword_index

Opening = Callable[..., Bank]
NOTES = 80


def segments(folder: Path, unit: str) -> dict[str, int]:
    """Map the segments of an index to how many documents were written into each."""
    found = json.loads((folder / ".index" / unit / "meta.json").read_text())["segments"]
    return {one["segment_id"]: one["max_doc"] for one in found}


@pytest.fixture
def bank(folder: Path, opening: Opening) -> Bank:
    for number in range(NOTES):
        (folder / f"n{number}.md").write_text(
            f"# Note {number}\n\nA kestrel.\n\n## More\n\nText.\n"
        )
    opened = opening(folder, memory__embedder="none")
    opened.sync()
    return opened


def save(bank: Bank, folder: Path, number: int) -> None:
    """Save a note as an editor does; the next question must find what it says now."""
    text = f"# Note {number}\n\nAn osprey, word{number}x.\n\n## More\n\nText.\n"
    (folder / f"n{number}.md").write_text(text)
    found = recall(bank, f"word{number}x", mode="lexical", count_access=False)
    assert found.notes[0].path == f"n{number}.md"


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["keyword", "notes"])
def test_a_large_segment_is_not_written_again(
    bank: Bank, folder: Path, unit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keyword_index, "_LARGE_MERGE", NOTES // 2)
    (large,) = segments(folder, unit)
    for number in range(30):
        save(bank, folder, number)
        assert large in segments(folder, unit)
        assert len(segments(folder, unit)) < 8
    assert compare(bank)[1] == ()


def test_few_documents_are_left_to_tantivy(bank: Bank, folder: Path) -> None:
    (large,) = segments(folder, "notes")
    for number in range(7):
        save(bank, folder, number)
    assert large not in segments(folder, "notes")


def test_a_file_that_changes_meanwhile_keeps_its_place(
    bank: Bank, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is put again with its new text, by the batch that is for it."""
    monkeypatch.setattr(keyword_index, "_LARGE_MERGE", NOTES // 2)
    for number in range(6):
        save(bank, folder, number)
    (folder / "n1.md").unlink()
    (folder / "n2.md").write_text("# Note 2\n\nA merlin now.\n")
    save(bank, folder, 6)
    assert recall(bank, "merlin", mode="lexical", count_access=False).notes[0].path == "n2.md"
    assert compare(bank)[1] == ()
