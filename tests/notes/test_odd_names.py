"""Names with what nobody sees: read, shown written out and listed, but never given by us."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank
from memory_bank.base.errors import BadName
from memory_bank.base.text import one_line
from memory_bank.memory.create import create
from memory_bank.memory.move_and_merge import merge, rename
from memory_bank.memory.remember import remember
from memory_bank.memory.retrieval.recall import recall
from memory_bank.memory.show import list_notes
from memory_bank.memory.trash import delete, restore
from memory_bank.review.doctor import doctor
from tests.support import forked

Opening = Callable[..., Bank]

FAMILY = "👨\u200d👩\u200d👧.md"
PERSIAN = "می\u200cخواهم.md"
LINES = "one\ntwo.md"
TURNED = "a\u202edm.exe.md"
OPTION = "-rf.md"
ODD = (FAMILY, PERSIAN, LINES, TURNED, OPTION, "aux.md", "COM¹.md")


@pytest.fixture
def odd(folder: Path) -> Path:
    for name in ODD:
        (folder / name).write_text(f"# Kestrel\n\nIt hovers: {ODD.index(name)}\n")
    return folder


def test_files_with_odd_names_are_read_and_listed(odd: Path, opening: Opening) -> None:
    bank = opening(odd)
    assert {note.path for note in recall(bank, "kestrel", 20).notes} == set(ODD)
    assert {note.path for note in list_notes(bank, 20).notes} == set(ODD)
    health = doctor(bank)
    assert {one.path for one in health.findings if one.rule == "odd-name"} == set(ODD)
    assert health.healthy, "nothing has to be repaired"
    for name in ODD:
        assert bank.find(name) == name
        delete(bank, name)
        assert restore(bank, name) == name


def test_they_are_shown_written_out(odd: Path) -> None:
    def asked(*words: str) -> str:
        return forked.run(
            [sys.executable, "-P", "-m", "memory_bank", "--bank", str(odd), *words],
            capture_output=True, text=True, check=True, encoding="utf-8",
            env={**os.environ, "MEMORY_BANK_EMBEDDER": "none", "PYTHONUTF8": "1"},
        ).stdout  # fmt: skip

    for shown in (
        asked("recall", "kestrel", "--limit", "20"),
        asked("notes", "--limit", "20"),
        asked("doctor"),
    ):
        for written in (r"👨\u200d👩\u200d👧", r"می\u200cخواهم", r"one\ntwo", r"a\u202edm.exe"):
            assert written in shown
        for char in "\u200d\u200c\u202e":
            assert char not in shown


@pytest.mark.parametrize("name", [PERSIAN, TURNED, FAMILY])
def test_one_is_named_as_answers_write_it(odd: Path, opening: Opening, name: str) -> None:
    assert opening(odd).find(one_line(name)) == name


@pytest.mark.parametrize("name", ODD)
def test_no_new_note_gets_such_a_name(folder: Path, opening: Opening, name: str) -> None:
    (folder / "a.md").write_text("kestrel")
    (folder / "b.md").write_text("osprey")
    bank = opening(folder)
    delete(bank, "b")
    for write in (
        lambda: create(bank, name, "text"),
        lambda: remember(bank, "text", name=name),
        lambda: rename(bank, "a", name),
        lambda: rename(bank, "a", f"{name}/"),
        lambda: merge(bank, ["a"], name, "text"),
        lambda: restore(bank, "b", name),
    ):
        with pytest.raises(BadName):
            write()
    assert [path.name for path in folder.iterdir() if path.suffix == ".md"] == ["a.md"]


@pytest.mark.parametrize(
    "first", [FAMILY, PERSIAN, "aux", "- x", "COM¹", "conin$", "\u200b", "می\u200cخواهم"]
)
def test_a_name_that_is_made_of_the_text_is_never_odd(
    folder: Path, opening: Opening, first: str
) -> None:
    made = remember(opening(folder), f"{first}\n\ntext").path
    assert all(char.isprintable() for char in made)


def test_a_note_with_an_odd_name_may_be_merged_into(odd: Path, opening: Opening) -> None:
    bank = opening(odd)
    assert merge(bank, [OPTION, PERSIAN], PERSIAN, "both").path == PERSIAN
