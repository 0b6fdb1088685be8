import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from memory_bank.base.errors import Busy, StorageFailed
from memory_bank.base.locks import hold_lock

HOLDER = """
import sys, time
from pathlib import Path
from memory_bank.base.locks import hold_lock
with hold_lock(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def test_the_lock_leaves_no_file_and_is_free_again(folder: Path) -> None:
    for _ in range(3):
        with hold_lock(folder, wait=0):
            pass
    assert os.name == "nt" or list(folder.iterdir()) == []


def test_an_error_inside_frees_the_lock(folder: Path) -> None:
    with pytest.raises(KeyError), hold_lock(folder):
        raise KeyError
    with hold_lock(folder, wait=0):
        pass


def test_threads_exclude_each_other(folder: Path) -> None:
    inside: list[int] = []
    seen: list[int] = []

    def work() -> None:
        for _ in range(5):
            with hold_lock(folder):
                inside.append(1)
                time.sleep(0.001)
                seen.append(len(inside))
                inside.pop()

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [1] * 30


def test_who_waits_for_too_long_is_told(folder: Path) -> None:
    with hold_lock(folder):
        started = time.monotonic()
        with pytest.raises(Busy, match="locked by another process"), hold_lock(folder, wait=0.1):
            pass
        assert 0.1 <= time.monotonic() - started < 20


def test_a_holder_that_is_killed_frees_the_lock(folder: Path) -> None:
    words = [sys.executable, "-c", HOLDER, str(folder)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as holder:
        try:
            assert holder.stdout is not None
            assert holder.stdout.readline() == "held\n"
            with pytest.raises(Busy), hold_lock(folder, wait=0.05):
                pass
        finally:
            holder.kill()
    with hold_lock(folder, wait=1):
        pass


def test_a_folder_that_is_not_there_is_a_clear_error(folder: Path) -> None:
    with pytest.raises(StorageFailed, match="can't be locked"), hold_lock(folder / "nothing"):
        pass


@pytest.mark.skipif(os.name == "nt", reason="flock is not Windows's")
def test_a_file_system_without_locks_is_a_clear_error(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """NFS and some FUSE mounts refuse; none can be mounted here."""
    import fcntl

    def refuse(*_: object) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(StorageFailed, match="not supported"), hold_lock(folder):
        pass


@pytest.mark.skipif(os.name == "nt", reason="a folder in use can't be deleted there")
def test_who_waited_holds_the_lock_of_the_folder_that_stands_there_now(folder: Path) -> None:
    place = folder / "index"
    place.mkdir()
    waiting, inside, done = threading.Event(), threading.Event(), threading.Event()

    def wait() -> None:
        waiting.set()
        with hold_lock(place):
            inside.set()
            assert done.wait(60)

    with hold_lock(place):
        thread = threading.Thread(target=wait)
        thread.start()
        assert waiting.wait(60)
        time.sleep(0.05)  # it has opened the folder that goes now
        place.rmdir()
        place.mkdir()
    assert inside.wait(60)
    with pytest.raises(Busy), hold_lock(place, wait=0):
        pass
    done.set()
    thread.join()


def test_a_folder_that_was_deleted_is_made_to_be_locked(folder: Path) -> None:
    place = folder / "index"
    with pytest.raises(StorageFailed), hold_lock(place):
        pass
    with hold_lock(place, make=place.mkdir), pytest.raises(Busy), hold_lock(place, wait=0):
        pass
    with pytest.raises(StorageFailed), hold_lock(folder / "never", make=lambda: None):
        pass
