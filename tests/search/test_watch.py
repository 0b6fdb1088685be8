import errno
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank
from memory_bank.base import file_watches
from memory_bank.memory.maintenance import watch as watch_of_maintenance
from memory_bank.memory.retrieval.recall import recall
from memory_bank.notes.roots import Watched
from memory_bank.review.doctor import doctor
from memory_bank.search import watch
from memory_bank.search.watch import Watcher
from tests.git.history_builder import commit_all
from tests.support.waiting import until

linux = pytest.mark.skipif(sys.platform != "linux", reason="inotify is Linux's")


@pytest.fixture(params=["watched", "polled"])
def watcher(
    folder: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Iterator[Watcher]:
    """Watch by each of the means there are."""
    monkeypatch.setattr(watch, "POLL", 0.05)
    if request.param == "polled":
        refuse(monkeypatch)
    with Watcher(lambda: [Watched(folder)]) as started:
        time.sleep(0.05)
        yield started


@pytest.fixture
def live(folder: Path) -> Iterator[Watcher]:
    """Watch by the system's notifications."""
    with Watcher(lambda: [Watched(folder)]) as started:
        if started.polling:
            pytest.skip(started.polling)
        yield started


def refuse(monkeypatch: pytest.MonkeyPatch) -> None:
    def observer() -> None:
        raise OSError(errno.ENOSPC, "no watches are left")

    monkeypatch.setattr(watch, "Observer", observer)


def changed(watcher: Watcher, seconds: float = 60) -> bool:
    """Tell whether a burst of changes is reported within some seconds."""
    stop = threading.Event()
    timer = threading.Timer(seconds, stop.set)
    timer.start()
    try:
        return watcher.wait(stop)
    finally:
        timer.cancel()


def quiet(watcher: Watcher) -> None:
    while changed(watcher, 0.3):
        pass


@pytest.mark.slow
def test_each_kind_of_change_is_reported(watcher: Watcher, folder: Path, tmp_path: Path) -> None:
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
        assert changed(watcher), change.__name__
        quiet(watcher)


def test_reading_and_what_is_not_ours_is_not_reported(watcher: Watcher, folder: Path) -> None:
    (folder / "a.md").write_text("x")
    (folder / ".index").mkdir()
    quiet(watcher)
    (folder / "a.md").read_text()
    (folder / "x.txt").write_text("x")
    (folder / ".index/manifest.md").write_text("x")
    (folder / ".mb-123").write_text("x")
    assert not changed(watcher, 0.5)


def test_a_burst_is_reported_once(watcher: Watcher, folder: Path) -> None:
    for number in range(200):
        (folder / f"{number}.md").write_text("x")
    bursts = 0
    while changed(watcher, 0.5):
        bursts += 1
    assert 1 <= bursts <= 3


def test_changes_that_never_end_are_reported_all_the_same(
    watcher: Watcher, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "LONGEST", 0.3)
    stop = threading.Event()

    def scribble() -> None:
        while not stop.wait(0.02):
            (folder / "a.md").write_text("x")

    thread = threading.Thread(target=scribble)
    thread.start()
    try:
        assert changed(watcher, 20)
    finally:
        stop.set()
        thread.join()


def test_waiting_ends_when_told(watcher: Watcher) -> None:
    stop = threading.Event()
    stop.set()
    assert not watcher.wait(stop)


def test_a_change_is_reported_now_and_then_without_any_event(
    watcher: Watcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "RECONCILE", 0.1)
    assert changed(watcher)


def test_a_folder_that_was_removed_and_made_again_is_watched_again(
    watcher: Watcher, folder: Path
) -> None:
    (folder / "a.md").write_text("x")
    quiet(watcher)
    shutil.rmtree(folder)
    quiet(watcher)
    folder.mkdir()
    quiet(watcher)
    (folder / "a.md").write_text("x")
    assert changed(watcher)


def test_without_watches_files_are_scanned_in_turns(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refuse(monkeypatch)
    monkeypatch.setattr(watch, "POLL", 0.05)
    with Watcher(lambda: [Watched(folder)]) as watcher:
        assert "no watches are left" in watcher.polling
        (folder / "a.md").write_text("x")
        assert changed(watcher)
    assert "no watches are left" in unavailable(folder)


def test_watching_is_tried_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        refuse(patch)
        watcher = Watcher(lambda: [Watched(folder)]).__enter__()
        assert watcher.polling
    with monkeypatch.context() as patch:
        patch.setattr(watch, "RECONCILE", 0.0)
        assert changed(watcher)
    assert not watcher.polling
    watcher.__exit__()


def unavailable(folder: Path) -> str:
    with Watcher(lambda: [Watched(folder)]) as watcher:
        return watcher.polling


@linux
def test_a_file_system_that_reports_no_change_is_polled(
    folder: Path, monkeypatch: pytest.MonkeyPatch, opening: Callable[..., Bank]
) -> None:
    assert not unavailable(folder)
    monkeypatch.setattr(file_watches, "_file_system", lambda _: "nfs4")
    assert "nfs4" in unavailable(folder)
    assert "nfs4" in (doctor(opening(folder)).polling or "")


ASKING = """
import sys
from pathlib import Path
from memory_bank.bank.bank import open_bank
from memory_bank.memory.edit import append
from memory_bank.memory.retrieval.recall import recall
from memory_bank.notes.roots import Watched
from memory_bank.search.watch import Watcher
from memory_bank import doctor
with Watcher(lambda: [Watched(Path(sys.argv[1]))]) as watcher:
    print(watcher.polling)
with open_bank(sys.argv[1], settings={"memory.embedder": "none"}) as bank:
    for number in range(4):
        append(bank, "a", f"kestrel{number}x")
        (bank.layout.root / "sub/b.md").write_text(f"osprey{number}x")
        print([recall(bank, f"{name}{number}x").result_count for name in ("kestrel", "osprey")])
"""


@linux
@pytest.mark.slow
@pytest.mark.parametrize("limit", ["instances", "watches"])
def test_when_watches_really_ran_out_nothing_is_missed(folder: Path, limit: str) -> None:
    """In a user namespace of its own, so that nobody else's run out."""
    (folder / "a.md").write_text("x")
    (folder / "sub").mkdir()
    allowed = 1 if limit == "watches" else 0
    shell = f'echo {allowed} > /proc/sys/user/max_inotify_{limit} && exec "$@"'
    words = ["unshare", "-Ur", "sh", "-c", shell, "sh", sys.executable, "-P", "-c", ASKING]
    done = subprocess.run([*words, str(folder)], capture_output=True, text=True, check=False)
    if "unshare:" in done.stderr or "cannot create" in done.stderr:
        pytest.skip(f"no user namespace can be made here: {done.stderr}")
    said = done.stdout.splitlines()
    assert f"max_user_{limit}" in said[0], done.stderr
    assert said[1:] == ["[1, 1]"] * 4


def in_place(file: Path) -> None:
    with file.open("r+") as stream:
        stream.write("new words")


def vim(file: Path) -> None:
    (file.parent / f".{file.name}.swp").write_text("swap")
    (file.parent / "4913").touch()  # what vim tries a folder with
    (file.parent / "4913").unlink()
    backup = file.with_name(f"{file.name}~")
    file.rename(backup)
    file.write_text("new words")
    backup.unlink()
    (file.parent / f".{file.name}.swp").unlink()


def vs_code(file: Path) -> None:
    beside = file.with_name(f"{file.name}.vsctmp")
    beside.write_text("new words")
    beside.replace(file)


def jetbrains(file: Path) -> None:
    new, old = (file.with_name(f"{file.name}___jb_{kind}___") for kind in ("tmp", "old"))
    new.write_text("new words")
    file.rename(old)
    new.rename(file)
    old.unlink()


def from_elsewhere(file: Path) -> None:
    (file.parent.parent / "elsewhere").write_text("new words")
    (file.parent.parent / "elsewhere").replace(file)


@pytest.mark.parametrize("save", [in_place, vim, vs_code, jetbrains, from_elsewhere])
def test_each_way_to_save_is_one_burst(
    live: Watcher, folder: Path, save: Callable[[Path], None], opening: Callable[..., Bank]
) -> None:
    bank = opening(folder)
    (folder / "a.md").write_text("old words")
    assert recall(bank, "old").result_count == recall(bank, "words").result_count == 1
    quiet(live)
    save(folder / "a.md")
    assert recall(bank, "new").result_count == 1
    assert changed(live)
    assert not changed(live, 0.3)
    save(folder / "a.md")
    (folder / "a.md").write_text("other words")
    assert recall(bank, "other").result_count == 1


@pytest.mark.slow
@pytest.mark.parametrize("harm", ["rename", "away", "back", "remove"])
def test_folders_that_move(
    live: Watcher, folder: Path, harm: str, opening: Callable[..., Bank]
) -> None:
    bank = opening(folder)
    (folder / "old/deep").mkdir(parents=True)
    (folder / "old/deep/a.md").write_text("kestrel")
    assert recall(bank, "kestrel").notes[0].path == recall(bank, "kestrel").notes[0].path
    quiet(live)
    if harm == "remove":
        shutil.rmtree(folder / "old")
        wanted = []
    elif harm == "rename":
        (folder / "old").rename(folder / "new")
        wanted = ["new/deep/a.md"]
    else:
        (folder / "old").rename(folder.parent / "away")
        wanted = []
        if harm == "back":
            assert recall(bank, "kestrel").notes == ()
            (folder.parent / "away").rename(folder / "back")
            wanted = ["back/deep/a.md"]
    assert [note.path for note in recall(bank, "kestrel").notes] == wanted
    assert changed(live)
    for path in wanted:
        quiet(live)
        (folder / path).write_text("osprey")
        assert changed(live)
        assert recall(bank, "osprey").notes[0].path == path


@pytest.mark.slow
def test_a_checkout_of_thousands_of_files_is_one_burst(
    live: Watcher, folder: Path, git: Callable[..., str]
) -> None:
    git(folder, "init", "-q")
    for number in range(3000):
        (folder / f"{number % 20}").mkdir(exist_ok=True)
        (folder / f"{number % 20}/{number}.md").write_text("one")
    commit_all(folder, "x")
    for file in folder.rglob("*.md"):
        file.write_text("two")
    git(folder, "commit", "-qam", "y")
    quiet(live)
    git(folder, "checkout", "-q", "HEAD~1")
    assert changed(live)
    bursts = 1
    while changed(live, 0.5):
        bursts += 1
    assert bursts <= 5, "on a busy machine the checkout pauses"


def test_watching_a_bank_indexes_what_changes(folder: Path, opening: Callable[..., Bank]) -> None:
    bank = opening(folder)
    stop = threading.Event()
    said: list[str] = []
    thread = threading.Thread(target=watch_of_maintenance, args=(bank, said.append, stop))
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
