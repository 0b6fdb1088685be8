"""What the kernel's queue reports, and when it says that it can't know."""

from __future__ import annotations

import os
import shutil
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_bank.base import inotify
from memory_bank.base.inotify import InotifyQueue
from memory_bank.notes.files import scan

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="inotify is Linux's")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "facts/deep").mkdir(parents=True)
    (tmp_path / ".index").mkdir()
    (tmp_path / "facts/a.md").write_text("# A\n")
    return tmp_path


@pytest.fixture
def queue(root: Path) -> Iterator[InotifyQueue]:
    found = InotifyQueue(root)
    yield found
    found.close()


def test_an_empty_queue_is_proof(queue: InotifyQueue, root: Path) -> None:
    assert queue.read() == frozenset()
    (root / "facts/a.md").read_text()
    assert queue.read() == frozenset()


def test_each_kind_of_change_to_a_note_is_reported_once(queue: InotifyQueue, root: Path) -> None:
    (root / "new.md").write_text("x")
    with (root / "facts/a.md").open("a") as stream:
        stream.write("more")
    (root / "facts/deep/b.markdown").write_text("x")
    assert queue.read() == {"new.md", "facts/a.md", "facts/deep/b.markdown"}
    assert queue.read() == frozenset()
    (root / "new.md").rename(root / "facts/moved.md")
    assert queue.read() == {"new.md", "facts/moved.md"}
    (root / "facts/a.md").unlink()
    os.utime(root / "facts/moved.md", (1, 1))
    assert queue.read() == {"facts/a.md", "facts/moved.md"}


def test_an_editor_that_saves_by_renaming_is_reported(queue: InotifyQueue, root: Path) -> None:
    (root / "facts/.a.md.swp").write_text("x")
    (root / "facts/4913").write_text("")
    (root / "facts/a.md").rename(root / "facts/a.md~")
    (root / "facts/a.md").write_text("new")
    (root / "facts/a.md~").unlink()
    assert queue.read() == {"facts/a.md"}


def test_what_is_no_note_is_not_reported(queue: InotifyQueue, root: Path) -> None:
    (root / ".index/x.md").write_text("x")
    (root / ".hidden.md").write_text("x")
    (root / "facts/picture.png").write_text("x")
    (root / ".new").mkdir()
    assert queue.read() == frozenset()


@pytest.mark.parametrize("what", ["made", "moved", "removed", "the bank itself"])
def test_with_a_folder_anything_may_have_changed(
    queue: InotifyQueue, root: Path, what: str
) -> None:
    match what:
        case "made":
            (root / "more").mkdir()
        case "moved":
            (root / "facts/deep").rename(root / "shallow")
        case "removed":
            shutil.rmtree(root / "facts")
        case _:
            root.rename(root.parent / "elsewhere")
    assert queue.read() is None


def test_more_than_the_queue_holds_is_anything(queue: InotifyQueue, root: Path) -> None:
    most = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text(encoding="utf-8"))
    files = [root / "a.md", root / "b.md"]
    for number in range(most + 10):
        os.utime(files[number % 2]) if files[number % 2].exists() else files[number % 2].touch()
    assert queue.read() is None


def test_a_silence_is_trusted_for_some_time_only(root: Path) -> None:
    queue = InotifyQueue(root, trusted=0.0)
    assert queue.read() is None
    queue.close()


def test_a_bank_that_another_stands_in_for_is_noticed(root: Path) -> None:
    """As when a folder above it is moved, which no watch hears."""
    bank = root / "facts/deep"
    queue = InotifyQueue(bank)
    (root / "facts").rename(root / "moved")
    assert queue.read() is None
    queue.close()


def test_a_folder_that_goes_while_it_is_listened_to_is_no_failure(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = inotify._below

    def below(folder: str) -> list[str]:
        found = real(folder)
        shutil.rmtree(root / "facts/deep", ignore_errors=True)
        return found

    monkeypatch.setattr(inotify, "_below", below)
    queue = InotifyQueue(root)
    assert sorted(queue._folders.values()) == ["", "facts/"]
    queue.close()


def test_another_process_does_not_take_what_is_for_this_one(
    queue: InotifyQueue, root: Path
) -> None:
    (root / "new.md").write_text("x")
    child = os.fork()
    if child == 0:
        os._exit(0 if queue.read() is None else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert queue.read() == {"new.md"}


def test_where_changes_are_made_elsewhere_there_is_no_queue(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inotify, "_file_system", lambda _: "nfs4")
    assert InotifyQueue.at(root) is None


def test_without_watches_left_there_is_no_queue(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = len(os.listdir("/proc/self/fd"))
    monkeypatch.setattr(inotify, "_add_watch", lambda *_: -1)
    assert InotifyQueue.at(root) is None
    assert len(os.listdir("/proc/self/fd")) == opened


def test_all_that_was_done_is_reported(queue: InotifyQueue, root: Path) -> None:
    """While a thread makes and removes folders and files: each is reported, or met by a scan."""
    done: list[str] = []
    stop = threading.Event()

    def write() -> None:
        number = 0
        while not stop.is_set():
            place = root / f"f{number % 7}"
            place.mkdir(exist_ok=True)
            (place / f"{number}.md").write_text("x")
            done.append(f"f{number % 7}/{number}.md")
            number += 1
            if number % 50 == 0:
                shutil.rmtree(place)

    thread = threading.Thread(target=write)
    thread.start()
    known: set[str] = set()
    try:
        for _ in range(200):
            so_far = len(done)
            reported = queue.read()
            if reported is None:
                queue.close()
                queue = InotifyQueue(root)
                known |= {*done, *scan(root).files}
            else:
                known |= reported
            assert not [path for path in done[:so_far] if path not in known]
    finally:
        stop.set()
        thread.join()
        queue.close()
