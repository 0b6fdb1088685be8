"""Rows follow the files; what a retriever is given follows the rows."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank
from memory_bank.memory.overview import stats
from memory_bank.memory.show import list_notes
from memory_bank.search.manifest import document_rows
from memory_bank.search.manifest.manifest import DONE, GONE, PENDING, UNREADABLE
from tests.search.views import view_of
from tests.support.files import write_files

Opening = Callable[..., Bank]


def rows(bank: Bank, sql: str) -> list[tuple[object, ...]]:
    bank.catch_up()
    return view_of(bank).manifest.execute(sql).fetchall()


def test_a_note_keeps_its_number_and_its_passages_do_not(folder: Path, opening: Opening) -> None:
    """A passage's number is never given to another: a late reader must not see it elsewhere."""
    bank = opening(folder)
    (folder / "a.md").write_text("one\n\n# Two\n\ntwo")
    first = rows(bank, "SELECT id FROM documents"), rows(bank, "SELECT row FROM passages")
    (folder / "a.md").write_text("other")
    second = rows(bank, "SELECT id FROM documents"), rows(bank, "SELECT row FROM passages")
    assert first[0] == second[0]
    assert not set(first[1]) & set(second[1])
    (folder / "a.md").unlink()
    rows(bank, "SELECT 1")
    (folder / "a.md").write_text("back")
    assert rows(bank, "SELECT id FROM documents") != first[0]


def test_a_size_is_that_of_the_file_from_the_first_moment(folder: Path, opening: Opening) -> None:
    (folder / "a.md").write_text("x" * 123)
    bank = opening(folder)
    assert [note.size for note in list_notes(bank).notes] == [123]
    assert stats(bank).total_bytes == 123


def test_states_end_in_done_or_unindexed(folder: Path, opening: Opening) -> None:
    (folder / "a.md").write_text("x")
    (folder / "b.md").write_bytes(b"\0")
    bank = opening(folder)
    assert rows(bank, "SELECT key, state FROM documents ORDER BY key") == [
        ("a.md", DONE),
        ("b.md", UNREADABLE),
    ]
    (folder / "a.md").unlink()
    (folder / "b.md").unlink()
    assert rows(bank, "SELECT * FROM documents") == []
    assert {PENDING, GONE}.isdisjoint({DONE, UNREADABLE})


def test_nothing_stays_of_a_note_that_can_not_be_indexed_any_more(
    folder: Path, opening: Opening
) -> None:
    text = (
        "---\nid: abc\ntype: fact\nstatus: archived\ntags: [t]\ncreated: 2020-01-01\nown: 1\n"
        "source_type: agent\n---\n# Title\n\n[[x]] ^block"
    )
    (folder / "a.md").write_text(text)
    bank = opening(folder)
    bank.catch_up()
    (folder / "a.md").write_bytes(b"\0")
    kept = "known_as, title, hidden, created, updated, data"
    assert rows(bank, f"SELECT {kept} FROM documents") == [("", "", 0, 0, 0, "{}")]
    tables = "field_values names sections passages anchors links faults"
    for table in ("fields", *tables.split()):
        assert rows(bank, f"SELECT * FROM {table}") == [], table
    assert document_rows.list_unindexed(view_of(bank).manifest)[0][0] == "a.md"


@pytest.mark.parametrize("updated", ["", "updated: 2026-03-04\n"])
def test_a_date_from_the_file_follows_the_file(
    folder: Path, opening: Opening, updated: str
) -> None:
    """Touched, copied or checked out anew: the bytes stay and the mtime does not."""
    file = folder / "a.md"
    file.write_text(f"---\nx: 1\n{updated}---\n")
    os.utime(file, (1e9, 1e9))
    bank = opening(folder)
    said = 1772582400.0  # 2026-03-04
    expected = (1e9, said if updated else 1e9)
    assert rows(bank, "SELECT created, updated FROM documents") == [expected]
    os.utime(file, (1.1e9, 1.1e9))
    expected = (1.1e9, said if updated else 1.1e9)
    assert rows(bank, "SELECT created, updated FROM documents") == [expected]


def test_a_date_that_a_note_says_stays(folder: Path, opening: Opening) -> None:
    (folder / "a.md").write_text("---\ncreated: 2026-03-04\n---\n")
    bank = opening(folder)
    before = rows(bank, "SELECT created, updated FROM documents")
    os.utime(folder / "a.md", (1e9, 1e9))
    assert rows(bank, "SELECT created, updated FROM documents") == before


def test_files_that_are_refused_come_and_go(folder: Path, opening: Opening) -> None:
    bank = opening(folder)
    (folder / "a.md").symlink_to("nowhere")
    assert rows(bank, "SELECT key FROM refused") == [("a.md",)]
    (folder / "a.md").unlink()
    (folder / "a.md").write_text("now a note")
    assert rows(bank, "SELECT key FROM refused") == []
    assert rows(bank, "SELECT key FROM documents") == [("a.md",)]


def test_an_old_unchanged_file_is_looked_at_by_its_stamp_only(
    folder: Path, opening: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "a.md").write_text("x")
    bank = opening(folder)
    bank.catch_up()
    time.sleep(0.15)
    bank.catch_up()

    seen: list[str] = []

    def watched(file: Path, *_: object, **__: object) -> None:
        seen.append(file.name)

    monkeypatch.setattr("memory_bank.notes.storage.files.read", watched)
    bank.catch_up()
    assert "a.md" not in seen


def test_links_and_emphasis_are_no_code(folder: Path, opening: Opening) -> None:
    texts = {
        "turn.md": "**Ann:** Hi!\n\nSession: [[s-1]]\nPrevious: [[d1-1]]\nNext: [[d1-3]]\n",
        "code.md": "def add(a, b):\n    total = a + b\n    return round(total, _DIGITS)\n",
    }
    write_files(folder, texts)
    bank = opening(folder)
    sql = "SELECT key, row FROM passages JOIN documents ON documents.id = document"
    numbers = dict(rows(bank, sql))
    assert document_rows.code_ratio(view_of(bank).manifest, [numbers["turn.md"]]) == 0
    assert document_rows.code_ratio(view_of(bank).manifest, [numbers["code.md"]]) > 0.1
