from __future__ import annotations

import ctypes
import errno
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memory_bank import Bank, doctor, recall
from memory_bank.actions.upkeep import watch
from memory_bank.indexer import _ears, ear
from memory_bank.indexer import watch as watching
from memory_bank.indexer.watch import EVERYTHING, Heard, Watcher, deaf
from memory_bank.notes.scan import scan

linux = pytest.mark.skipif(sys.platform != "linux", reason="inotify is Linux's")


@pytest.fixture(params=["best", "observed", "looked"])
def watcher(
    folder: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Iterator[Watcher]:
    """Listen by each of the means there are."""
    monkeypatch.setattr(_ears, "POLL", 0.05)
    if request.param == "observed":
        monkeypatch.setattr(watching, "_SYSTEM", "another")
    if request.param == "looked":
        refuse(monkeypatch)
    with Watcher(folder) as started:
        time.sleep(0.05)
        yield started


@pytest.fixture
def live(folder: Path) -> Iterator[Watcher]:
    """Listen by inotify."""
    if sys.platform != "linux":
        pytest.skip("inotify is Linux's")
    with Watcher(folder) as started:
        if started.polling:
            pytest.skip(started.polling)
        yield started


def refuse(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let listening fail as when inotify's watches have run out."""

    def hearing(root: Path) -> None:
        raise OSError(errno.ENOSPC, "no watches are left")

    monkeypatch.setattr(watching, "_hearing", hearing)


def only(*paths: str) -> Heard:
    return Heard(frozenset(paths))


def hears(watcher: Watcher, seconds: float = 5) -> Heard:
    """Return the batch of changes that is reported within some seconds."""
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
    assert hears(watcher) == EVERYTHING


def test_a_folder_that_was_removed_and_made_again_is_heard_again(
    watcher: Watcher, folder: Path
) -> None:
    (folder / "a.md").write_text("x")
    quiet(watcher)
    shutil.rmtree(folder)
    quiet(watcher)
    folder.mkdir()
    quiet(watcher)
    (folder / "a.md").write_text("x")
    assert hears(watcher)


def test_without_watches_files_are_looked_at_in_turns(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refuse(monkeypatch)
    monkeypatch.setattr(_ears, "POLL", 0.05)
    with Watcher(folder) as watcher:
        assert "no watches are left" in watcher.polling
        (folder / "a.md").write_text("x")
        assert hears(watcher) == only("a.md")
    assert "no watches are left" in deaf(folder)


def test_listening_is_tried_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        refuse(patch)
        watcher = Watcher(folder).__enter__()
        assert watcher.polling
    with monkeypatch.context() as patch:
        patch.setattr(watching, "RECONCILE", 0.0)
        assert hears(watcher) == EVERYTHING
    assert not watcher.polling
    watcher.__exit__()


@linux
def test_what_runs_out_is_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch, opening: Callable[..., Bank]
) -> None:
    (folder / "sub").mkdir()
    real = ear._add_watch

    def add(queue: int, path: bytes, mask: int) -> int:
        ctypes.set_errno(errno.ENOSPC)
        return -1 if path.endswith(b"/sub") else real(queue, path, mask)

    def init(flags: int) -> int:
        ctypes.set_errno(errno.EMFILE)
        return -1

    assert not deaf(folder)
    with monkeypatch.context() as patch:
        patch.setattr(ear, "_add_watch", add)
        assert "max_user_watches" in deaf(folder), "a folder without a watch is a deaf spot"
        assert "max_user_watches" in (doctor(opening(folder)).polling or "")
    monkeypatch.setattr(ear, "_init", init)
    assert "max_user_instances" in deaf(folder)
    monkeypatch.setattr(ear, "_file_system", lambda _: "nfs4")
    assert "nfs4" in deaf(folder)


ASKING = """
import sys
from pathlib import Path
from memory_bank import append, doctor, open_bank, recall
from memory_bank.indexer.watch import deaf
print(deaf(Path(sys.argv[1])))
with open_bank(sys.argv[1], settings={"memory.embedder": "none"}) as bank:
    for number in range(4):
        append(bank, "a", f"kestrel{number}x")
        (bank.layout.root / "sub/b.md").write_text(f"osprey{number}x")
        print([recall(bank, f"{name}{number}x").result_count for name in ("kestrel", "osprey")])
"""


@linux
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
def test_each_way_to_save_is_one_batch_of_that_note(
    live: Watcher, folder: Path, save: Callable[[Path], None], opening: Callable[..., Bank]
) -> None:
    bank = opening(folder)
    (folder / "a.md").write_text("old words")
    assert recall(bank, "old").result_count == recall(bank, "words").result_count == 1
    quiet(live)
    save(folder / "a.md")
    assert recall(bank, "new").result_count == 1
    assert hears(live) == only("a.md")
    assert not hears(live, 0.3)
    save(folder / "a.md")
    (folder / "a.md").write_text("other words")
    assert recall(bank, "other").result_count == 1


def test_never_listens_inside_git(live: Watcher, folder: Path) -> None:
    for place in (".git/objects/00", ".trash", ".index", "sub/.hidden"):
        (folder / place).mkdir(parents=True)
    assert hears(live) == EVERYTHING
    assert isinstance(live._hearing, ear.Ear)
    assert sorted(live._hearing._folders.values()) == ["", "sub/"]


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
    assert hears(live) == EVERYTHING
    for path in wanted:
        quiet(live)
        (folder / path).write_text("osprey")
        assert hears(live) == only(path)
        assert recall(bank, "osprey").notes[0].path == path


def test_a_checkout_of_thousands_of_files_is_one_batch(
    live: Watcher, folder: Path, git: Callable[..., str]
) -> None:
    git(folder, "init", "-q")
    for number in range(3000):
        (folder / f"{number % 20}").mkdir(exist_ok=True)
        (folder / f"{number % 20}/{number}.md").write_text("one")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "x")
    for file in folder.rglob("*.md"):
        file.write_text("two")
    git(folder, "commit", "-qam", "y")
    quiet(live)
    git(folder, "checkout", "-q", "HEAD~1")
    heard = hears(live)
    assert heard.everything or len(heard.paths) == 3000
    assert not hears(live, 0.5)


def test_all_that_was_done_is_told(live: Watcher, folder: Path) -> None:
    """While a thread makes and removes folders and files: each was heard of, or met by a look."""
    done: list[str] = []
    stop = threading.Event()

    def write() -> None:
        number = 0
        while not stop.is_set():
            place = folder / f"f{number % 7}"
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
            live._hear()
            heard, live._batch = live._batch, Heard()
            known |= heard.paths
            if heard.everything:
                known |= {*done, *scan(folder).files}
            assert not [path for path in done[:so_far] if path not in known]
    finally:
        stop.set()
        thread.join()


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
