from __future__ import annotations

import logging
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from watchdog.observers import Observer
from watchdog.observers.polling import PollingObserver

from memory_bank import Bank, recall
from memory_bank.actions.upkeep import watch
from memory_bank.indexer import watch as watching
from memory_bank.indexer.watch import Watcher


@pytest.fixture
def watcher(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Watcher]:
    monkeypatch.setattr(watching, "_POLL", 0.05)
    with Watcher(folder) as started:
        time.sleep(0.05)
        yield started


def hears(watcher: Watcher, seconds: float = 5) -> bool:
    """Tell whether a batch of changes is reported within some seconds."""
    stop = threading.Event()
    timer = threading.Timer(seconds, stop.set)
    timer.start()
    try:
        return watcher.wait(stop)
    finally:
        timer.cancel()


def quiet(watcher: Watcher) -> None:
    while hears(watcher, 0.4):
        pass


def test_each_kind_of_change_is_heard(watcher: Watcher, folder: Path, tmp_path: Path) -> None:
    file = folder / "a.md"

    def write() -> None:
        file.write_text("x")

    def append() -> None:
        with file.open("a") as stream:
            stream.write("more")

    def replace() -> None:
        (folder / ".mb-x").write_text("new")
        (folder / ".mb-x").replace(file)

    def move() -> None:
        file.rename(folder / "b.md")

    def away() -> None:
        (folder / "b.md").rename(tmp_path / "b.md")

    def deep() -> None:
        (folder / "new/deep").mkdir(parents=True)
        (folder / "new/deep/c.md").write_text("x")

    def drag() -> None:
        (tmp_path / "other").mkdir()
        (tmp_path / "other/d.md").write_text("x")
        (tmp_path / "other").rename(folder / "other")

    def delete() -> None:
        shutil.rmtree(folder / "new")

    for change in (write, append, replace, move, away, deep, drag, delete):
        change()
        assert hears(watcher), change.__name__
        quiet(watcher)


def test_reading_and_what_is_not_ours_is_not_heard(watcher: Watcher, folder: Path) -> None:
    (folder / "a.md").write_text("x")
    (folder / ".index").mkdir()
    quiet(watcher)
    (folder / "a.md").read_text()
    (folder / "x.txt").write_text("x")
    (folder / ".index/manifest.md").write_text("x")
    (folder / ".mb-123").write_text("x")
    assert not hears(watcher, 0.5)


def test_a_burst_is_one_batch(watcher: Watcher, folder: Path) -> None:
    for number in range(200):
        (folder / f"{number}.md").write_text("x")
    batches = 0
    while hears(watcher, 0.5):
        batches += 1
    assert 1 <= batches <= 3


def test_changes_that_never_end_are_reported_all_the_same(
    watcher: Watcher, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "LONGEST", 0.3)
    stop = threading.Event()

    def scribble() -> None:
        while not stop.wait(0.02):
            (folder / "a.md").write_text("x")

    thread = threading.Thread(target=scribble)
    thread.start()
    started = time.monotonic()
    try:
        assert hears(watcher)
        assert time.monotonic() - started < 3
    finally:
        stop.set()
        thread.join()


def test_waiting_ends_when_told(watcher: Watcher) -> None:
    stop = threading.Event()
    stop.set()
    assert not watcher.wait(stop)


def test_files_are_looked_at_now_and_then_without_any_event(
    watcher: Watcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "RECONCILE", 0.1)
    assert hears(watcher)


def test_events_that_were_lost_are_looked_for(watcher: Watcher) -> None:
    logging.getLogger("watchdog.observers.inotify_buffer").warning("queue overflow")
    assert hears(watcher)


def test_a_folder_that_was_removed_and_made_again_is_heard_again(
    watcher: Watcher, folder: Path
) -> None:
    shutil.rmtree(folder)
    quiet(watcher)
    folder.mkdir()
    assert hears(watcher)
    quiet(watcher)
    (folder / "a.md").write_text("x")
    assert hears(watcher)


def test_without_watches_files_are_looked_at_in_turns(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when inotify's watches have run out."""
    start = Observer.start  # type: ignore[attr-defined]

    def refuse(self: object) -> None:
        if isinstance(self, PollingObserver):
            start(self)
        else:
            raise OSError(28, "inotify watch limit reached")

    monkeypatch.setattr(Observer, "start", refuse)
    monkeypatch.setattr(watching, "_POLL", 0.05)
    with Watcher(folder) as watcher:
        assert "inotify watch limit" in watcher.polling
        time.sleep(0.2)
        (folder / "a.md").write_text("x")
        assert hears(watcher)


def test_watching_a_bank_indexes_what_changes(folder: Path, opening: Callable[..., Bank]) -> None:
    bank = opening(folder)
    stop = threading.Event()
    said: list[str] = []
    thread = threading.Thread(target=watch, args=(bank, said.append, stop))
    thread.start()
    try:
        until(lambda: said)
        (folder / "a.md").write_text("kestrel")
        until(lambda: any("1 indexed" in line for line in said))
        (folder / "a.md").unlink()
        until(lambda: any("1 removed" in line for line in said))
    finally:
        stop.set()
        thread.join()
    assert said[0].startswith("up to date")
    assert recall(bank, "kestrel").result_count == 0


def until(there: Callable[[], object], seconds: float = 10) -> None:
    deadline = time.monotonic() + seconds
    while not there():
        assert time.monotonic() < deadline, "it did not come"
        time.sleep(0.02)
