"""A folder that is swapped for a symbolic link while something is done leads nowhere."""

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from memory_bank.base.documents import Document
from memory_bank.base.errors import BadName, MemoryBankError
from memory_bank.base.paths import Layout
from memory_bank.notes.identity import hash_bytes
from memory_bank.notes.roots import NoteRoot, Roots
from memory_bank.notes.source import NotesSource
from memory_bank.notes.storage import files
from memory_bank.notes.storage.folders import HOLDS, FolderEntry, hold_folder, names_in
from memory_bank.notes.storage.journal import JournalEntry
from memory_bank.notes.storage.store import Store

pytestmark = pytest.mark.skipif(not HOLDS, reason="the system looks up no names in open folders")
SECRET = b"# Secret\n\nnobody of this bank may read it\n"
SWAPPING = """
import ctypes, os, sys
library, (here, link) = ctypes.CDLL(None, use_errno=True), map(os.fsencode, sys.argv[1:])
print("swapping", flush=True)
while os.getppid() != 1:
    for _ in range(100):
        library.renameat2(-100, here, -100, link, 2)
"""


@contextmanager
def swapping(here: Path, link: Path) -> Iterator[None]:
    """Let a process exchange a folder and a link, over and over."""
    process = subprocess.Popen(
        [sys.executable, "-c", SWAPPING, str(here), str(link)], stdout=subprocess.PIPE
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == b"swapping\n"
        yield
    finally:
        process.kill()
        process.communicate()


def state(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {
        path.relative_to(folder).as_posix(): (
            path.read_bytes() if path.is_file() else b"",
            path.stat().st_mtime_ns,
        )
        for path in (folder, *folder.rglob("*"))
    }


def deeds(store: Store) -> dict[str, Callable[[int], object]]:
    """Return what is done with notes of the folder that is swapped."""

    def apply(number: int) -> None:
        with store.writing():
            store.apply(
                [
                    JournalEntry("sub/x.md", f"{number}".encode(), files.current_in(store.root, "sub/x.md")),
                    JournalEntry(f"sub/deep/{number}.md", b"new", files.ABSENT),
                ]
            )  # fmt: skip

    def look(_: int) -> None:
        for path in store.scan().files:
            found = NotesSource(Roots(NoteRoot(store.root)), max_bytes=10**6).read(path)
            assert not (isinstance(found, Document) and found.hash == hash_bytes(SECRET)), path

    def read_it(_: int) -> None:
        assert store.read_bytes("sub/x.md") != SECRET

    return {
        "read": read_it,
        "create": lambda number: store.create(f"sub/new-{number}.md", "text"),
        "create below": lambda number: store.create(f"sub/a/{number}/new.md", "text"),
        "change": lambda number: store.change("sub/x.md", lambda _: f"changed {number}"),
        "delete": lambda number: (
            store.create(f"sub/gone-{number}.md", "text"),
            store.delete(f"sub/gone-{number}.md"),
        ),
        "restore": lambda number: store.restore(f"sub/gone-{number - 1}.md"),
        "keep": lambda _: store.keep("sub/x.md"),
        "apply": apply,
        "look": look,
        "sweep": lambda _: store.sweep(["sub/.mb-0"]),
    }


@pytest.mark.skipif(sys.platform != "linux", reason="two names are exchanged in one step on Linux")
@pytest.mark.parametrize("where", ["sub", ".trash"])
@pytest.mark.parametrize(
    "rounds",
    [15, pytest.param(50, marks=pytest.mark.slow), pytest.param(1000, marks=pytest.mark.torture)],
)
def test_nothing_outside_is_read_or_made(tmp_path: Path, where: str, rounds: int) -> None:
    root, outside = tmp_path.resolve() / "bank", tmp_path / "outside"
    for folder in (root / "sub", root / ".trash", outside):
        folder.mkdir(parents=True)
    (root / "sub/x.md").write_text("ours")
    for name in ("x.md", ".mb-0", ".gitignore"):
        (outside / name).write_bytes(SECRET)
        os.utime(outside / name, (0, 0))
    (root / f"{where}-link").symlink_to(outside)
    store = Store(Layout(root, root / ".index"))
    before = state(outside)
    ended: Counter[str] = Counter()
    with swapping(root / where, root / f"{where}-link"):
        for number in range(rounds):
            for deed in deeds(store).values():
                try:
                    deed(number)
                except MemoryBankError as error:
                    ended[error.code] += 1
                else:
                    ended["done"] += 1
    assert state(outside) == before
    assert ended["done"] > rounds, ended
    assert ended["bad_name"] + ended["storage_failed"] > 0, f"no swap was met: {ended}"


def test_a_link_on_the_way_or_in_the_end_is_refused(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "outside/deep").mkdir(parents=True)
    (tmp_path / "outside/x.md").write_bytes(SECRET)
    (folder / "away").symlink_to(tmp_path / "outside")
    (folder / "in").mkdir()
    (folder / "in/x.md").symlink_to(tmp_path / "outside/x.md")
    for path in ("away/x.md", "away/deep/x.md", "../outside/x.md", "in/../x.md", "/etc/passwd", ""):
        with pytest.raises(BadName), hold_folder(folder, path, make=True):
            pass
    with pytest.raises(BadName):
        files.read_in(folder, "in/x.md")
    assert names_in(folder, "away") == []
    assert names_in(folder) == ["away", "in"] or names_in(folder) == ["in", "away"]


def test_a_bank_that_is_swapped_itself_leads_nowhere(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/x.md").write_bytes(SECRET)
    store = Store(Layout(folder, folder / ".index"))
    folder.rmdir()
    folder.symlink_to(tmp_path / "outside")
    with pytest.raises(BadName):
        store.read_bytes("x.md")
    with pytest.raises(MemoryBankError):
        store.scan()


def test_no_descriptor_is_left_open(folder: Path) -> None:
    store = Store(Layout(folder, folder / ".index"))
    before = len(os.listdir("/proc/self/fd")) if sys.platform == "linux" else 0
    for number, deed in enumerate([*deeds(store).values()] * 3):
        try:
            deed(number)
        except MemoryBankError:
            continue
    if sys.platform == "linux":
        assert len(os.listdir("/proc/self/fd")) == before


def test_a_pipe_in_the_place_of_a_note_keeps_nobody_waiting(folder: Path) -> None:
    os.mkfifo(folder / "x.md")
    with hold_folder(folder, "x.md") as file:
        assert files.read(file) == b""


def test_a_path_of_the_users_own_may_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert files.read(tmp_path / "link") == b"mine"
    assert FolderEntry(tmp_path / "link").exists()
