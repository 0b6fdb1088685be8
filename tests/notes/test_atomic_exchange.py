"""An editor that saves in the middle of our write, whichever moment it chooses, loses nothing."""

import errno
import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_bank.base.errors import Conflict
from memory_bank.base.paths import Layout
from memory_bank.notes.identity import hash_bytes
from memory_bank.notes.storage import files
from memory_bank.notes.storage.files import exchange, open_for_writing
from memory_bank.notes.storage.folders import FolderEntry
from memory_bank.notes.storage.journal import JournalEntry
from memory_bank.notes.storage.store import Store

linux = pytest.mark.skipif(sys.platform != "linux", reason="renameat2 and leases are Linux's")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "a.md"
    file.write_text("old")
    (tmp_path / "x").touch()
    if sys.platform == "linux" and not exchange(FolderEntry(tmp_path / "x"), FolderEntry(file)):
        pytest.skip("files can't be exchanged on this file system")
    file.write_text("old")
    return file


def by_renaming(file: Path) -> None:
    (file.parent / "beside").write_text("theirs")
    (file.parent / "beside").replace(file)


def in_place(file: Path) -> None:
    file.write_text("theirs")


def at_the_moment(
    monkeypatch: pytest.MonkeyPatch, act: Callable[[], None], *, after: bool = False
) -> None:
    """Act just before, or just after, the first time that files are exchanged."""
    acted = False

    def exchanged(one: FolderEntry, other: FolderEntry) -> bool:
        nonlocal acted
        now, acted = not acted, True
        if now and not after:
            act()
        done = exchange(one, other)
        if now and after:
            act()
        return done

    monkeypatch.setattr(files, "exchange", exchanged)


@linux
@pytest.mark.parametrize("save", [by_renaming, in_place])
def test_a_save_just_before_the_rename_stays(
    file: Path, monkeypatch: pytest.MonkeyPatch, save: Callable[[Path], None]
) -> None:
    at_the_moment(monkeypatch, lambda: save(file))
    with pytest.raises(Conflict, match=hash_bytes(b"theirs")):
        files.replace(file, b"ours", hash_bytes(b"old"))
    assert file.read_text() == "theirs"
    assert not list(file.parent.glob(".mb-*"))


@linux
def test_a_save_that_began_before_and_ends_after_the_rename_stays(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The editor has the old file open: what it writes must not go with the old name."""
    opened: list[int] = []
    at_the_moment(monkeypatch, lambda: opened.append(os.open(file, os.O_WRONLY)))
    with pytest.raises(Conflict):
        files.replace(file, b"ours", hash_bytes(b"old"))
    os.write(opened[0], b"theirs")
    os.close(opened[0])
    assert file.read_text() == "theirs"


@linux
def test_a_save_between_two_swaps_is_the_newest(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def both() -> None:
        by_renaming(file)
        at_the_moment(monkeypatch, lambda: file.write_text("theirs again"), after=False)

    at_the_moment(monkeypatch, both)
    with pytest.raises(Conflict):
        files.replace(file, b"ours", hash_bytes(b"old"))
    assert file.read_text() == "theirs again"


@linux
def test_a_program_that_is_writing_is_waited_for(file: Path) -> None:
    handle = file.open("r+")
    assert open_for_writing(file)
    timer = threading.Timer(0.1, handle.close)
    timer.start()
    files.replace(file, b"ours", hash_bytes(b"old"))
    timer.join()
    assert file.read_text() == "ours"
    with file.open("r+"), pytest.raises(Conflict, match="is being written"):
        files.replace(file, b"more", hash_bytes(b"ours"))
    with file.open():
        assert not open_for_writing(file)
    assert file.read_text() == "ours"


@linux
def test_a_note_that_goes_at_that_moment_is_a_conflict(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_the_moment(monkeypatch, file.unlink)
    with pytest.raises(Conflict, match=f"{hash_bytes(b'old')}, found no file"):
        files.replace(file, b"ours", hash_bytes(b"old"))
    with pytest.raises(Conflict, match="no file"):
        files.remove(file, file.parent / "aside", hash_bytes(b"old"))
    assert not file.exists()


@pytest.mark.parametrize("number", [errno.EINVAL, errno.ENOSYS])
def test_where_files_can_not_be_swapped_the_look_comes_first(
    file: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    monkeypatch.setattr(files, "exchange", lambda *_: False)
    files.replace(file, b"ours", hash_bytes(b"old"))
    assert file.read_text() == "ours"
    with pytest.raises(Conflict):
        files.replace(file, b"more", hash_bytes(b"old"))
    assert file.read_text() == "ours"


@linux
def test_what_is_saved_while_a_note_moves_away_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Renaming a note writes the new file and removes the old one."""
    (tmp_path / "a.md").write_text("old")
    store = Store(Layout(tmp_path, tmp_path / ".index"))
    real = files.is_unchanged

    def unchanged(file: FolderEntry, expected: str) -> bool:
        if "leaving" in file.name:
            file.path.write_text("theirs")  # through a handle that was open
        return real(file, expected)

    monkeypatch.setattr(files, "is_unchanged", unchanged)
    changes = [
        JournalEntry("b.md", b"old", files.ABSENT),
        JournalEntry("a.md", None, hash_bytes(b"old")),
    ]
    with store.writing(), pytest.raises(Conflict):
        store.apply(changes)
    assert (tmp_path / "a.md").read_text() == "theirs"
    assert not (tmp_path / "b.md").exists()


@linux
@pytest.mark.parametrize("save", ["rename", "place"])
def test_no_save_is_lost_to_writers_that_name_what_they_read(file: Path, save: str) -> None:
    """An editor saves and saves; each of its texts stays, or one of ours was made from it."""
    stop = threading.Event()
    saved: list[bytes] = []
    bases: set[bytes] = set()
    met = [0, 0]

    def edit() -> None:
        for number in range(400):
            text = f"theirs {number:04}".encode()
            if save == "rename":
                (file.parent / "beside").write_bytes(text)
                (file.parent / "beside").replace(file)
            else:
                with file.open("r+b") as stream:
                    time.sleep(0.0005)
                    stream.seek(0)
                    stream.write(text)
                    stream.truncate()
            saved.append(text)
            time.sleep(0.001)
        stop.set()

    thread = threading.Thread(target=edit)
    thread.start()
    number = 0
    while not stop.is_set():
        base = file.read_bytes()
        number += 1
        try:
            files.replace(file, f"ours {number:06}".encode(), hash_bytes(base))
            bases.add(base)
            met[0] += 1
        except Conflict:
            met[1] += 1
    thread.join()
    last = file.read_bytes()
    assert min(met) > 0, met
    # what the editor itself wrote over is its own doing: only its last text is ours to keep
    assert saved[-1] == last or saved[-1] in bases
