"""What an ear hears, and when it says that it can't know."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_bank.indexer import ear as module
from memory_bank.indexer.ear import Ear

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="inotify is Linux's")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "facts/deep").mkdir(parents=True)
    (tmp_path / ".index").mkdir()
    (tmp_path / "facts/a.md").write_text("# A\n")
    return tmp_path


@pytest.fixture
def ear(root: Path) -> Iterator[Ear]:
    found = Ear(root)
    yield found
    found.close()


def test_silence_is_proof(ear: Ear, root: Path) -> None:
    assert ear.heard() == frozenset()
    (root / "facts/a.md").read_text()
    assert ear.heard() == frozenset()


def test_each_kind_of_change_to_a_note_is_heard_once(ear: Ear, root: Path) -> None:
    (root / "new.md").write_text("x")
    with (root / "facts/a.md").open("a") as stream:
        stream.write("more")
    (root / "facts/deep/b.markdown").write_text("x")
    assert ear.heard() == {"new.md", "facts/a.md", "facts/deep/b.markdown"}
    assert ear.heard() == frozenset()
    (root / "new.md").rename(root / "facts/moved.md")
    assert ear.heard() == {"new.md", "facts/moved.md"}
    (root / "facts/a.md").unlink()
    os.utime(root / "facts/moved.md", (1, 1))
    assert ear.heard() == {"facts/a.md", "facts/moved.md"}


def test_an_editor_that_saves_by_renaming_is_heard(ear: Ear, root: Path) -> None:
    (root / "facts/.a.md.swp").write_text("x")
    (root / "facts/4913").write_text("")
    (root / "facts/a.md").rename(root / "facts/a.md~")
    (root / "facts/a.md").write_text("new")
    (root / "facts/a.md~").unlink()
    assert ear.heard() == {"facts/a.md"}


def test_what_is_no_note_makes_no_sound(ear: Ear, root: Path) -> None:
    (root / ".index/x.md").write_text("x")
    (root / ".hidden.md").write_text("x")
    (root / "facts/picture.png").write_text("x")
    (root / ".new").mkdir()
    assert ear.heard() == frozenset()


@pytest.mark.parametrize("what", ["made", "moved", "removed", "the bank itself"])
def test_with_a_folder_anything_may_have_changed(ear: Ear, root: Path, what: str) -> None:
    match what:
        case "made":
            (root / "more").mkdir()
        case "moved":
            (root / "facts/deep").rename(root / "shallow")
        case "removed":
            shutil.rmtree(root / "facts")
        case _:
            root.rename(root.parent / "elsewhere")
    assert ear.heard() is None


def test_more_than_the_queue_holds_is_anything(ear: Ear, root: Path) -> None:
    most = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text(encoding="utf-8"))
    files = [root / "a.md", root / "b.md"]
    for number in range(most + 10):
        os.utime(files[number % 2]) if files[number % 2].exists() else files[number % 2].touch()
    assert ear.heard() is None


def test_a_silence_is_trusted_for_some_time_only(root: Path) -> None:
    ear = Ear(root, trusted=0.0)
    assert ear.heard() is None
    ear.close()


def test_a_bank_that_another_stands_in_for_is_noticed(root: Path) -> None:
    """As when a folder above it is moved, which no watch hears."""
    bank = root / "facts/deep"
    ear = Ear(bank)
    (root / "facts").rename(root / "moved")
    assert ear.heard() is None
    ear.close()


def test_a_folder_that_goes_while_it_is_listened_to_is_no_failure(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = module._below

    def below(folder: str) -> list[str]:
        found = real(folder)
        shutil.rmtree(root / "facts/deep", ignore_errors=True)
        return found

    monkeypatch.setattr(module, "_below", below)
    ear = Ear(root)
    assert sorted(ear._folders.values()) == ["", "facts/"]
    ear.close()


def test_another_process_does_not_take_what_is_for_this_one(ear: Ear, root: Path) -> None:
    (root / "new.md").write_text("x")
    child = os.fork()
    if child == 0:
        os._exit(0 if ear.heard() is None else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert ear.heard() == {"new.md"}


def test_where_changes_are_made_elsewhere_there_is_no_ear(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_file_system", lambda _: "nfs4")
    assert Ear.at(root) is None


def test_without_watches_left_there_is_no_ear(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = len(os.listdir("/proc/self/fd"))
    monkeypatch.setattr(module, "_add_watch", lambda *_: -1)
    assert Ear.at(root) is None
    assert len(os.listdir("/proc/self/fd")) == opened
