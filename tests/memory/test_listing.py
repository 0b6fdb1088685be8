from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank
from memory_bank.base.errors import BadInput, Conflict, NoteNotFound, UnreadableNote
from memory_bank.memory.retrieval.recall import recall
from memory_bank.memory.show import (
    known_names,
    list_notes,
    show,
    show_section,
    tag_counts,
)
from tests.support.files import write_files

NOTES = {
    "a.md": "---\nid: one\ntype: fact\ntags: [x, y]\ncreated: 2026-01-01\n---\n# A\n\ntext\n\n## B\n\nb\n",
    "b.md": "---\ntags: [x]\ncreated: 2025-01-01\nupdated: 2026-06-01\n---\n[[a]]\n\n# C\n\n## B\n\n# D\n\n## B\n",
    "c.md": "---\nstatus: archived\ntags: [z]\ncreated: 2026-05-01\n---\n[[a]] [[a]]",
}


@pytest.fixture
def bank(folder: Path, opening: Callable[..., Bank]) -> Bank:
    write_files(folder, NOTES)
    return opening(folder)


def paths(bank: Bank, limit: int = 10, **filters: object) -> list[str]:
    found = list_notes(bank, limit, **filters)  # type: ignore[arg-type]
    assert found.result_count == len(found.notes)
    return [note.path for note in found.notes]


def test_the_newest_come_first(bank: Bank) -> None:
    assert paths(bank) == ["b.md", "a.md"]
    assert paths(bank, include_archived=True) == ["b.md", "c.md", "a.md"]
    assert paths(bank, 1) == ["b.md"]
    assert paths(bank, -5) == ["b.md"]


def test_filters_are_those_of_recall(bank: Bank) -> None:
    assert paths(bank, tags=["x", "Y"]) == ["a.md"]
    assert paths(bank, type="FACT") == ["a.md"]
    assert paths(bank, since="2026-02-01") == ["b.md"]
    assert paths(bank, before="2025-06-01") == ["b.md"]
    assert paths(bank, tags=["nothing"]) == []
    with pytest.raises(BadInput):
        paths(bank, since="whenever")


def test_an_empty_bank_has_no_notes(tmp_path: Path, opening: Callable[..., Bank]) -> None:
    (tmp_path / "empty").mkdir()
    assert list_notes(opening(tmp_path / "empty")).result_count == 0


def test_a_note_is_shown_whole(bank: Bank) -> None:
    shown = show(bank, "one")
    assert shown.content == NOTES["a.md"]
    assert shown.body == "# A\n\ntext\n\n## B\n\nb\n"
    assert (shown.path, shown.title, shown.meta.type, shown.meta.status) == (
        "a.md",
        "A",
        "fact",
        "active",
    )
    assert (shown.created_at, shown.backlinks_count) == ("2026-01-01T00:00:00Z", 3)
    assert shown.access_count == 0
    recall(bank, "text")
    assert show(bank, "a").access_count == 1
    assert show(bank, "a").access_count == 1, "showing counts nothing"


def test_a_superseded_note_names_its_successor(bank: Bank, folder: Path) -> None:
    (folder / "new.md").write_text("# New\n\nsupersedes:: [[a]]\n")
    bank.catch_up()
    assert show(bank, "a").superseded_by == "new.md"
    assert show(bank, "new").superseded_by is None


def test_a_note_says_when_it_was_last_accessed(bank: Bank) -> None:
    assert show(bank, "a").last_accessed_at == ""
    before = datetime.now(UTC).replace(microsecond=0)
    first = recall(bank, "text").notes[0]
    assert (first.access_count, first.last_accessed_at) == (0, ""), "before this answer"
    seen = show(bank, "a").last_accessed_at
    assert before <= datetime.fromisoformat(seen) <= datetime.now(UTC)
    again = recall(bank, "text").notes[0]
    assert (again.access_count, again.last_accessed_at) == (1, seen)


def test_a_note_without_an_id_is_known_by_its_path(bank: Bank) -> None:
    assert show(bank, "b").note_id == "b.md"
    assert [note.note_id for note in list_notes(bank).notes] == ["b.md", "one"]
    assert recall(bank, "tag:x D").notes[0].note_id == "b.md"


def test_what_can_not_be_shown_is_said(bank: Bank, folder: Path) -> None:
    (folder / "binary.md").write_bytes(b"\0")
    with pytest.raises(NoteNotFound):
        show(bank, "nothing")
    with pytest.raises(UnreadableNote, match="NUL"):
        show(bank, "binary.md")


def test_one_section_is_shown(bank: Bank) -> None:
    found = show_section(bank, "a", "b")
    assert (found.line, found.heading, found.content) == (11, "A > B", "## B\n\nb\n")
    assert show_section(bank, "b", "D > B").line == 14
    with pytest.raises(Conflict):
        show_section(bank, "b", "B")
    with pytest.raises(NoteNotFound):
        show_section(bank, "a", "Z")


def test_tags_are_counted(bank: Bank) -> None:
    assert tag_counts(bank) == {"x": 2, "y": 1, "z": 1}


def test_completion_asks_what_is_indexed_and_makes_nothing(bank: Bank, folder: Path) -> None:
    assert known_names(bank) == []
    assert not (folder / ".index").exists()
    bank.catch_up()
    assert known_names(bank) == ["a", "b", "c"]
