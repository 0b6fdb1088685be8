"""The index is held against a fresh one, and every difference is named."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_bank.bank import open_index
from memory_bank.bank.bank import Bank
from memory_bank.memory.maintenance import compare
from memory_bank.search import retrievers
from memory_bank.search.manifest.manifest import PENDING
from tests.search.views import view_of


@pytest.fixture
def bank(folder: Path, opening: Callable[..., Bank]) -> Bank:
    (folder / "a.md").write_text("---\ntags: [x]\n---\n# A\n\n[[b]] ^block\n")
    (folder / "b.md").write_text("---\nteam: core\ntitle: [wrong\n---\nkestrel")
    (folder / "c.md").write_bytes(b"\0")
    (folder / "link.md").symlink_to("nowhere")
    opened = opening(folder, memory__embedder="static")
    time.sleep(0.15)  # until signatures are trusted: what is read again is repaired
    opened.sync()
    return opened


def test_an_index_that_is_right_has_no_difference(bank: Bank, folder: Path) -> None:
    before = sorted(path.name for path in folder.iterdir())
    found = compare(bank)
    assert found == (3, ())
    assert sorted(path.name for path in folder.iterdir()) == before


@pytest.mark.parametrize(
    ("sql", "table"),
    [
        ("UPDATE documents SET title = 'Other' WHERE key = 'a.md'", "documents"),
        ("UPDATE documents SET created = 1 WHERE key = 'a.md'", "documents"),
        ("UPDATE documents SET reason = '' WHERE key = 'c.md'", "documents"),
        ("UPDATE links SET dest = NULL", "links"),
        ("UPDATE links SET other_ghost = 'z'", "links"),
        ("UPDATE field_values SET value = 'other' WHERE key = 'tag'", "fields"),
        ("DELETE FROM names WHERE rank > 0", "names"),
        ("DELETE FROM sections", "sections"),
        ("UPDATE passages SET line = 99", "passages"),
        ("DELETE FROM anchors", "anchors"),
        ("DELETE FROM faults", "faults"),
        ("DELETE FROM document_fields", "fields"),
    ],
)
def test_a_row_that_is_wrong_is_named(bank: Bank, sql: str, table: str) -> None:
    assert view_of(bank).manifest.execute(sql).rowcount > 0
    assert any(line.startswith(f"{table}: ") for line in compare(bank)[1])


def test_a_note_that_is_not_finished_is_finished_first(bank: Bank) -> None:
    view_of(bank).manifest.execute(f"UPDATE documents SET state = {PENDING}")
    assert compare(bank)[1] == ()


@pytest.mark.parametrize("name", retrievers.list_retrievers())
def test_a_retriever_that_lost_a_passage_is_named_and_a_sync_mends_it(
    bank: Bank, name: str
) -> None:
    note = open_index.note_at(view_of(bank).manifest, "b.md")
    assert note is not None
    retriever = view_of(bank).index.retrievers.get(name)
    assert retriever is not None
    retriever.put([], [note.number])
    retriever.commit()
    assert len(compare(bank)[1]) == 1
    assert bank.sync().repaired == [retriever.name]
    assert compare(bank)[1] == ()
