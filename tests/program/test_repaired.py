"""What was repaired is said once, by the answer that comes next; a first index is no repair."""

import contextlib
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from sqlite3 import Connection
from typing import Any

import pytest

from memory_bank.bank.bank import Bank
from memory_bank.base import sqlite
from memory_bank.base.repairs import describe_repairs
from memory_bank.memory.create import create
from memory_bank.memory.retrieval.recall import recall
from memory_bank.memory.show import list_notes, show
from memory_bank.review.doctor import doctor
from memory_bank.search.manifest import manifest

Opening = Callable[..., Bank]
JOURNAL = ".trash/.journal-0123456789ab"


@pytest.fixture
def bank(folder: Path, opening: Opening) -> Bank:
    (folder / "a.md").write_text("# Kestrel\n\nIt hovers.\n")
    return opening(folder, memory__embedder="static")


def garbage(folder: Path, *names: str) -> None:
    for name in names:
        new = folder / ".index/new"
        new.write_bytes(b"garbage")
        file = folder / ".index" / name
        new.replace(file)
        for beside in ("-wal", "-shm"):  # the log alone may hold all that matters
            file.with_name(f"{file.name}{beside}").unlink(missing_ok=True)


def test_a_first_index_is_no_repair(bank: Bank, folder: Path) -> None:
    recall(bank, "kestrel")
    assert bank.take_repaired() == []
    bank.close()
    shutil.rmtree(folder / ".index")
    assert bank.sync().repaired == []


def test_neither_is_a_rebuild_nor_another_embedder(
    bank: Bank, folder: Path, opening: Opening
) -> None:
    bank.sync()
    assert bank.rebuild().repaired == []
    assert opening(folder, memory__embedder="static").sync().repaired == []
    assert recall(bank, "kestrel").notes
    assert bank.take_repaired() == []


@pytest.mark.parametrize(
    ("file", "repaired"),
    [("keyword/meta.json", "keyword"), ("notes/meta.json", "notes"), ("manifest.db", "manifest")],
)
@pytest.mark.parametrize("opened", [True, False], ids=["open", "closed"])
def test_damage_is_said_once(
    bank: Bank, folder: Path, file: str, repaired: str, opened: bool
) -> None:
    recall(bank, "kestrel")
    if not opened:
        bank.close()
    garbage(folder, file)
    assert recall(bank, "kestrel").notes
    assert bank.take_repaired() == [repaired]
    assert recall(bank, "kestrel").notes
    assert bank.take_repaired() == []


def test_an_index_that_goes_while_it_is_open_is_said(bank: Bank, folder: Path) -> None:
    recall(bank, "kestrel")
    shutil.rmtree(folder / ".index")
    assert recall(bank, "kestrel").notes
    assert bank.take_repaired() == ["manifest"]


@pytest.mark.parametrize("answered", [recall, list_notes, create], ids=lambda one: one.__name__)
def test_a_write_that_was_cut_short_is_said(
    bank: Bank, folder: Path, answered: Callable[..., object]
) -> None:
    bank.sync()
    (folder / JOURNAL).mkdir(parents=True)
    answered(bank, *{recall: ("kestrel",), create: ("new", "text")}.get(answered, ()))
    assert bank.take_repaired() == ["writing"]
    assert not (folder / JOURNAL).exists()


def test_a_report_says_it_too(bank: Bank, folder: Path) -> None:
    bank.sync()
    (folder / JOURNAL).mkdir(parents=True)
    garbage(folder, "keyword/meta.json")
    assert doctor(bank).repaired == ("writing", "keyword")
    assert bank.take_repaired() == []


def test_counts_that_begin_anew_are_said(bank: Bank) -> None:
    recall(bank, "kestrel")
    file = bank.state.file
    bank.close()
    file.write_bytes(b"garbage")
    recall(bank, "kestrel")
    aside = file.with_name("state.db.damaged")
    assert bank.take_repaired() == [f"accesses and edits; the damaged one is {aside}"]
    assert aside.read_bytes() == b"garbage"


def test_an_index_of_the_former_version_is_rebuilt_and_counts_of_accesses_stay(
    bank: Bank, folder: Path, opening: Opening
) -> None:
    recall(bank, "kestrel")
    recall(bank, "kestrel")
    assert show(bank, "a").access_count == 2
    bank.close()
    with contextlib.closing(sqlite3.connect(folder / ".index/manifest.db")) as base:
        base.execute(f"PRAGMA user_version = {manifest.VERSION - 1}")
    (folder / ".index/commits.db").touch()  # what another version kept besides
    again = opening(folder, memory__embedder="static")
    assert [note.path for note in recall(again, "kestrel").notes] == ["a.md"]
    said = "rebuilt the index, which another version made"
    assert describe_repairs(again.take_repaired()) == said
    assert not (folder / ".index/commits.db").exists()
    assert show(again, "a").access_count == 3
    assert again.take_repaired() == []


def test_what_waits_to_be_said_outlives_a_rebuild(bank: Bank, folder: Path) -> None:
    recall(bank, "kestrel")
    garbage(folder, "keyword/meta.json")
    recall(bank, "kestrel")
    assert bank.rebuild().repaired == ["keyword"]
    assert bank.take_repaired() == []


@pytest.mark.parametrize("times", [1, 2])
def test_an_index_that_is_deleted_while_it_is_opened_is_made_again(
    bank: Bank, folder: Path, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    opening, left = sqlite.connect, [folder / ".index"] * times

    def deleted_before(file: Path, *rest: Any, **how: Any) -> Connection:
        if left:
            shutil.rmtree(left.pop(), ignore_errors=True)
        return opening(file, *rest, **how)

    monkeypatch.setattr(sqlite, "connect", deleted_before)
    assert recall(bank, "kestrel").notes
    assert left == []
