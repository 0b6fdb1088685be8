"""Deleted notes are meant by a name, or by the unique start of a name or an id."""

from collections.abc import Callable
from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank
from memory_bank.base.errors import NoteNotFound
from memory_bank.memory.remember import remember
from memory_bank.memory.trash import delete, restore, trash


@pytest.fixture
def bank(folder: Path, opening: Callable[..., Bank]) -> Bank:
    bank = opening(folder)
    for name in ("facts/retry-twice", "facts/return-codes", "ideas/cache", "ideas/cache-2"):
        delete(bank, remember(bank, f"Of {name}.", name=name).path)
    return bank


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("retr", "facts/retry-twice.md"),
        ("facts/retr", "facts/retry-twice.md"),
        ("RETR", "facts/retry-twice.md"),
        ("return-codes", "facts/return-codes.md"),
        ("cache", "ideas/cache.md"),
    ],
)
def test_the_unique_start_of_a_name_brings_a_note_back(bank: Bank, name: str, path: str) -> None:
    assert [note.path for note in trash(bank, name)] == [path]
    assert restore(bank, name) == path


def test_the_start_of_an_id_brings_a_note_back(bank: Bank) -> None:
    note = remember(bank, "Another text", name="facts/other")
    delete(bank, note.path)
    assert restore(bank, note.note_id[:9]) == note.path


def test_several_deleted_notes_are_named_and_none_comes_back(bank: Bank) -> None:
    with pytest.raises(NoteNotFound, match="2 notes in the trash") as caught:
        restore(bank, "ret")
    assert "facts/retry-twice.md" in caught.value.hint
    assert len(trash(bank, "ret")) == 2
    for name in ("retry-twice-", "facts/ret.md", " ", "facts/"):
        with pytest.raises(NoteNotFound):
            restore(bank, name)


def test_a_delete_that_is_repeated_takes_no_note_whose_name_begins_so(bank: Bank) -> None:
    restore(bank, "ideas/cache-2")
    for name in ("ideas/cache", "cache"):
        with pytest.raises(NoteNotFound):
            delete(bank, name)
    assert delete(bank, "cache-").path == "ideas/cache-2.md"
