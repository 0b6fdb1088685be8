"""All or nothing, whatever fails on the way; kills are in properties/test_kill.py."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from memory_bank.base.errors import Conflict, NoteExists, StorageFailed
from memory_bank.notes.identity import hash_bytes
from memory_bank.notes.storage import files, journal
from memory_bank.notes.storage.journal import JournalEntry

STAMP = "20261121100000000000"


@pytest.fixture
def trash(folder: Path) -> Path:
    place = folder / ".trash"
    place.mkdir()
    return place


@pytest.fixture
def three(folder: Path) -> list[JournalEntry]:
    """Lay down two notes; rewrite one, take the other away, make a third."""
    (folder / "a.md").write_bytes(b"a")
    (folder / "b.md").write_bytes(b"b")
    return [
        JournalEntry("deep/c.md", b"c", files.ABSENT),
        JournalEntry("a.md", b"a2", hash_bytes(b"a")),
        JournalEntry("b.md", None, hash_bytes(b"b"), trash=True),
    ]


def tree(root: Path) -> dict[str, bytes]:
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file()
    }


def but_trash(root: Path) -> dict[str, bytes]:
    return {path: data for path, data in tree(root).items() if ".trash/" not in path}


BEFORE = {"a.md": b"a", "b.md": b"b"}
AFTER = {"a.md": b"a2", "deep/c.md": b"c", f".trash/{STAMP}/b.md": b"b"}


@pytest.mark.parametrize("path", ["a.md", "b.md", "deep/c.md"])
def test_one_file_that_is_not_as_expected_stops_all(
    folder: Path, trash: Path, three: list[JournalEntry], path: str
) -> None:
    files.replace(folder / path, b"a person's")
    before = tree(folder)
    with pytest.raises((Conflict, NoteExists)):
        journal.apply(folder, trash, three, STAMP)
    assert tree(folder) == before


@pytest.mark.parametrize("number", range(3))
def test_a_step_that_fails_takes_back_those_before_it(
    folder: Path,
    trash: Path,
    three: list[JournalEntry],
    monkeypatch: pytest.MonkeyPatch,
    number: int,
) -> None:
    fail_at(monkeypatch, number, StorageFailed("no space"))
    with pytest.raises(StorageFailed, match="no space"):
        journal.apply(folder, trash, three, STAMP)
    assert but_trash(folder) == BEFORE
    assert not list(trash.glob(".journal-*"))


@pytest.mark.parametrize("number", range(4))
def test_an_interrupt_leaves_a_plan_that_the_next_writer_finishes(
    folder: Path,
    trash: Path,
    three: list[JournalEntry],
    monkeypatch: pytest.MonkeyPatch,
    number: int,
) -> None:
    """Ctrl-C between two steps must leave neither half a change nor a forgotten one."""
    with monkeypatch.context() as patch:
        fail_at(patch, number, KeyboardInterrupt())
        if number < len(three):
            with pytest.raises(KeyboardInterrupt):
                journal.apply(folder, trash, three, STAMP)
        else:
            journal.apply(folder, trash, three, STAMP)
    journal.recover(folder, trash)
    assert tree(folder) == AFTER


def test_what_can_not_be_taken_back_is_finished_later(
    folder: Path, trash: Path, three: list[JournalEntry], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk turns read-only in the middle: neither the step nor its undoing can be done."""

    def refuse(*_: object) -> None:
        raise StorageFailed("read-only")

    with monkeypatch.context() as patch:
        fail_at(patch, 2, StorageFailed("read-only"))
        patch.setattr(journal, "undo_step", refuse)
        with pytest.raises(StorageFailed):
            journal.apply(folder, trash, three, STAMP)
    journal.recover(folder, trash)
    assert tree(folder) == AFTER


def fail_at(patch: pytest.MonkeyPatch, number: int, error: BaseException) -> None:
    calls = iter(range(100))
    do = journal.do_step

    def failing(*arguments: Any) -> None:
        if next(calls) == number:
            raise error
        do(*arguments)

    patch.setattr(journal, "do_step", failing)


def test_where_case_is_ignored_a_note_may_change_its_case(
    folder: Path, trash: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No such file system here: a hard link is the same file under another name, too."""
    (folder / "note.md").write_bytes(b"x")
    (folder / "Note.md").hardlink_to(folder / "note.md")
    move = os.replace

    def move_both(source: str, target: str, **folders: int) -> None:
        if source == "note.md":
            (folder / "Note.md").unlink()
        move(source, target, **folders)

    monkeypatch.setattr(os, "replace", move_both)
    journal.apply(
        folder,
        trash,
        [
            JournalEntry("note.md", None, hash_bytes(b"x")),
            JournalEntry("Note.md", b"x", files.ABSENT),
        ],
        STAMP,
    )
    assert tree(folder) == {"Note.md": b"x"}


def test_a_note_that_a_person_changed_since_the_kill_keeps_that_version(
    folder: Path, trash: Path, three: list[JournalEntry], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        fail_at(patch, 1, KeyboardInterrupt())
        with pytest.raises(KeyboardInterrupt):
            journal.apply(folder, trash, three, STAMP)
    (folder / "a.md").write_bytes(b"a person's")
    journal.recover(folder, trash)
    found = tree(folder)
    assert found["a.md"] == b"a person's"
    assert found["deep/c.md"] == b"c"
    assert "b.md" not in found
    kept = [name for name, data in found.items() if data == b"a2"]
    assert len(kept) == 1
    assert kept[0].startswith(".trash/")


def step(**values: str) -> dict[str, str]:
    return {"path": "a.md", "before": "", "after": hash_bytes(b"evil"), "staged": "new-0", "kept": "",
            "trash": ""} | values  # fmt: skip


PLANS = {
    "above": [step(path="../evil.md")],
    "far above": [step(path="x/../../../evil.md")],
    "absolute": [step(path="{outside}/evil.md")],
    "git": [step(path=".git/hooks/evil.md")],
    "settings": [step(path="config.toml")],
    "through a link": [step(path="away/evil.md")],
    "over a link": [step(path="link.md")],
    "from outside": [step(staged="{outside}/new.md")],
    "trash above": [step(after="", staged="", before=hash_bytes(b"a"), trash="../../x/a.md")],
    "NUL": [step(path="a\0.md")],
    "half a surrogate": [step(path="\ud800.md")],
    "long": [step(path="x" * 300 + ".md")],
    "numbers": [step() | {"path": 7}],
    "words": ["path"],
    "other keys": [{"a": 1}],
    "other bytes staged": [step(after=hash_bytes(b"good"))],
    "nothing staged": [step(staged="new-0"), step(staged="new-1")],
    "a mapping": {"a": step()},
    "a number": 7,
}


@pytest.mark.parametrize("plan", [*PLANS, "no json", "deep", "cut short"])
def test_a_plan_that_a_repository_brings_touches_nothing(
    folder: Path, trash: Path, tmp_path: Path, plan: str
) -> None:
    """A clone may hold `.trash/.journal-x/plan.json`: it must not write where it likes."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "new.md").write_bytes(b"evil")
    (folder / "a.md").write_bytes(b"a")
    (folder / "away").symlink_to(outside)
    (folder / "link.md").symlink_to(outside / "target.md")
    place = trash / ".journal-123"
    place.mkdir()
    (place / "new-0").write_bytes(b"evil")
    text = json.dumps(PLANS.get(plan, [])).replace("{outside}", str(outside))
    text = {"no json": "{", "deep": "[" * 100_000, "cut short": text[:-1]}.get(plan, text)
    (place / "plan.json").write_text(text)
    before = but_trash(tmp_path)
    journal.recover(folder, trash)
    assert but_trash(tmp_path) == before
    assert not list(trash.glob(".journal-*")), "it would be tried at every query"
    journal.apply(folder, trash, [JournalEntry("b.md", b"b", files.ABSENT)], STAMP)


def test_a_journal_without_a_plan_is_forgotten(folder: Path, trash: Path) -> None:
    """Killed while the new contents were laid down: nothing had been changed."""
    place = trash / ".journal-1"
    place.mkdir()
    (place / "new-0").write_bytes(b"x")
    assert journal.recover(folder, trash) == []
    assert tree(folder) == {}


def test_a_trash_that_is_a_link_is_left_alone(folder: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    (outside / ".journal-1").mkdir(parents=True)
    (outside / ".journal-1" / "plan.json").write_text("[]")
    (folder / ".trash").symlink_to(outside)
    assert journal.recover(folder, folder / ".trash") == []
    assert (outside / ".journal-1" / "plan.json").exists()
