"""A disk that is full in the middle of a write: a clear error, old bytes whole, all well after."""

import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank
from memory_bank.base.errors import StorageFailed
from memory_bank.memory.edit import append, update
from memory_bank.memory.forget import forget
from memory_bank.memory.maintenance import compare
from memory_bank.memory.move_and_merge import merge, rename
from memory_bank.memory.remember import remember
from memory_bank.memory.retrieval.recall import recall
from memory_bank.memory.trash import delete
from memory_bank.sessions import observations
from memory_bank.sessions.sessions import store_observation

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="asks Linux's own means"),
    pytest.mark.slow,
]

Opening = Callable[..., Bank]
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def bank(small_disk: Path, opening: Opening) -> Bank:
    root = small_disk / "bank"
    root.mkdir()
    (root / "a.md").write_text("kestrel\n")
    for number in range(6):
        (root / f"b{number}.md").write_text(f"[[a]] {'words ' * 3000}\n")
    opened = opening(root)
    opened.sync()
    return opened


@contextmanager
def full(disk: Path, left: int = 0) -> Iterator[None]:
    """Fill a disk but for some bytes; free it again in the end."""
    ballast = disk / "ballast"
    with ballast.open("wb", buffering=0) as stream:
        for size in (65536, 4096):
            try:
                while True:
                    stream.write(b"x" * size)
            except OSError:
                continue
        stream.truncate(max(stream.tell() - left, 0))
    try:
        yield
    finally:
        ballast.unlink()


def notes(bank: Bank) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in bank.layout.root.glob("*.md")}


BIG = "new words " * 8000
WRITES: dict[str, Callable[[Bank], object]] = {
    "remember": lambda bank: remember(bank, BIG),
    "append": lambda bank: append(bank, "a", BIG),
    "update": lambda bank: update(bank, "a", BIG),
    "rename": lambda bank: rename(bank, "a", "another"),
    "merge": lambda bank: merge(bank, ["a", "b1"], "c", BIG),
}


@pytest.mark.parametrize("left", [0, 30_000])
@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_a_write_that_finds_no_space_changes_nothing(
    bank: Bank, small_disk: Path, write: Callable[[Bank], object], left: int
) -> None:
    before = notes(bank)
    with full(small_disk, left), pytest.raises(StorageFailed, match=r"No space|is full") as caught:
        write(bank)
    assert "space" in caught.value.hint
    assert notes(bank) == before
    assert not list(bank.layout.root.rglob(".mb-*"))
    assert recall(bank, "kestrel").notes[0].path == "a.md"
    assert compare(bank)[1] == ()
    write(bank)


def test_a_delete_needs_no_space_to_lose_nothing(bank: Bank, small_disk: Path) -> None:
    before = notes(bank)
    with full(small_disk):
        try:
            delete(bank, "a")
        except StorageFailed:
            assert notes(bank) == before
    if "a.md" not in notes(bank):
        bank.store.restore("a.md")
    assert notes(bank) == before


@pytest.mark.parametrize("left", [0, 20_000, 60_000, 150_000])
def test_an_index_that_finds_no_space_is_finished_later(
    bank: Bank, small_disk: Path, left: int
) -> None:
    for number in range(20):
        (bank.layout.root / f"new{number}.md").write_text(f"osprey {BIG[:3000]} {number}\n")
    with full(small_disk, left):
        try:
            found = recall(bank, "kestrel")
        except StorageFailed as error:
            assert error.hint, error.message  # noqa: PT017  (either is right: an answer, or this)
        else:
            assert found.notes[0].path == "a.md"
    assert len(recall(bank, "osprey", 100).notes) == 20
    assert compare(bank)[1] == ()


@pytest.mark.parametrize("full_too", [(), ("CACHE",), ("CACHE", "TMP", "STATE")], ids=str)
@pytest.mark.parametrize("left", [0, 30_000, 400_000])
def test_without_an_index_a_full_disk_still_gives_an_answer(
    bank: Bank,
    small_disk: Path,
    opening: Opening,
    monkeypatch: pytest.MonkeyPatch,
    full_too: tuple[str, ...],
    left: int,
) -> None:
    bank.close()
    subprocess.run(["rm", "-rf", str(bank.layout.index)], check=True)
    for name in full_too:
        (small_disk / name).mkdir()
        monkeypatch.setenv(f"XDG_{name}_HOME", str(small_disk / name))
    temporary = small_disk / "TMP" if "TMP" in full_too else small_disk.parent
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    with full(small_disk, left):
        ours = opening(bank.layout.root)
        found = recall(ours, "kestrel")
        assert found.notes[0].path == "a.md"
        index = ours.layout.index
        if not index.is_relative_to(small_disk):
            assert any("the disk of the index is full" in one for one in ours.take_notices())
        assert recall(ours, "words words").notes
        ours.close()
        in_memory = "TMP" in full_too and not index.is_relative_to(small_disk)
        assert index.exists() == (not in_memory)
    again = opening(bank.layout.root)
    assert recall(again, "kestrel").notes[0].path == "a.md"
    assert again.layout.index == bank.layout.root / ".index"
    assert compare(again)[1] == ()


def test_accesses_that_can_not_be_counted_do_not_stop_the_answer(
    folder: Path, opening: Opening, small_disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(small_disk))
    (folder / "a.md").write_text("kestrel")
    bank = opening(folder)
    with full(small_disk):
        found = recall(bank, "kestrel")
        assert found.notes[0].path == "a.md"
        assert found.problem is not None
        assert "accesses are not counted" in found.problem
    assert recall(bank, "kestrel").problem is None
    assert recall(bank, "kestrel").notes[0].access_count == 1


# Python itself keeps the first ten kilobytes of a module that it compiles under such a limit, and
# every process after it fails to load that: nothing compiled is to be kept.
LIMITED = """
import resource, sys
sys.dont_write_bytecode = True
from memory_bank.bank.bank import open_bank
from memory_bank.base import filenames
from memory_bank.base.errors import StorageFailed
from memory_bank.memory.edit import append
from memory_bank.memory.move_and_merge import rename
from memory_bank.memory.retrieval.recall import recall
filenames._RACY_NS = 0  # files that are this young are indexed again, which would be refused first
with open_bank(sys.argv[1], settings={"memory.embedder": "none"}) as bank:
    recall(bank, "kestrel")
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
    for write in (
        lambda: append(bank, "a", "words " * 3000),
        lambda: rename(bank, "a", "c"),
    ):
        try:
            write()
        except StorageFailed as error:
            print("refused:", error.message)
"""


def test_a_file_that_may_not_grow_is_never_half_written(folder: Path, run_python: Run) -> None:
    """As under a quota: no file may be larger than ten kilobytes."""
    (folder / "a.md").write_text("kestrel\n")
    (folder / "b.md").write_text(f"[[a]] {'words ' * 3000}\n")
    before = {path.name: path.read_bytes() for path in folder.glob("*.md")}
    done = run_python(LIMITED, folder)
    assert done.stdout.count("refused: can't write") == 2, done.stdout + done.stderr
    assert {path.name: path.read_bytes() for path in folder.glob("*.md")} == before


FORGOTTEN = {
    "a text": lambda bank, note: "kestrel",
    "a note by its id": lambda bank, note: note.note_id,
    "a note by its path": lambda bank, note: note.path,
    "a session": lambda bank, note: "session-1",
    "an observation": lambda bank, note: observations.search(bank, "kestrel").results[0].id,
}


@pytest.mark.parametrize("name", FORGOTTEN.values(), ids=FORGOTTEN)
def test_what_a_full_disk_keeps_is_said_to_be_here(
    small_disk: Path, opening: Opening, monkeypatch: pytest.MonkeyPatch, name: Callable[..., str]
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(small_disk))
    root = small_disk.parent / "bank"
    root.mkdir()
    bank = opening(root)
    note = remember(bank, "The kestrel rule.")
    store_observation(bank, "session-1", title="The kestrel lands")
    what = name(bank, note)
    with full(small_disk), pytest.raises(StorageFailed, match=r"^what is to be forgotten is still"):
        forget(bank, what)
    assert forget(bank, what).done


def test_an_index_whose_disk_is_full_is_removed_with_what_is_forgotten(
    small_disk: Path, bank: Bank
) -> None:
    with full(small_disk):
        forget(bank, "a.md")
    left = (file for file in bank.layout.root.rglob("*") if file.is_file())
    assert not [file for file in left if b"kestrel" in file.read_bytes()]
