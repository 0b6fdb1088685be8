import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_bank.base.errors import Conflict, NoteExists, StorageFailed
from memory_bank.notes.identity import hash_bytes
from memory_bank.notes.storage import files
from memory_bank.notes.storage.folders import FolderEntry

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="asks Linux's own means")


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_new_file_is_written_whole_and_leaves_nothing_beside_it(folder: Path) -> None:
    files.replace(folder / "a/b/c.md", b"text", files.ABSENT)
    assert (folder / "a/b/c.md").read_bytes() == b"text"
    assert names_in(folder / "a/b") == ["c.md"]


def test_what_is_expected_decides(folder: Path) -> None:
    file = folder / "a.md"
    files.replace(file, b"one")
    with pytest.raises(NoteExists):
        files.replace(file, b"two", files.ABSENT)
    with pytest.raises(Conflict, match=hash_bytes(b"one")):
        files.replace(file, b"two", hash_bytes(b"zero"))
    assert file.read_bytes() == b"one"
    files.replace(file, b"two", hash_bytes(b"one"))
    assert file.read_bytes() == b"two"
    file.unlink()
    with pytest.raises(Conflict):
        files.replace(file, b"three", hash_bytes(b"two"))
    assert names_in(folder) == []


def test_a_file_that_appears_meanwhile_is_not_overwritten(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A person's editor saves a note of the same name between our look and our write."""
    file = folder / "a.md"
    look = files.check

    def looked_then_saved(path: FolderEntry, expected: str | None) -> None:
        look(path, expected)
        path.path.write_bytes(b"a person's")

    monkeypatch.setattr(files, "check", looked_then_saved)
    with pytest.raises(NoteExists):
        files.replace(file, b"ours", files.ABSENT)
    assert file.read_bytes() == b"a person's"
    assert names_in(folder) == ["a.md"]


def test_without_hard_links_a_new_file_is_written_all_the_same(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    files.replace(folder / "a.md", b"one", files.ABSENT)
    assert (folder / "a.md").read_bytes() == b"one"
    with pytest.raises(NoteExists):
        files.replace(folder / "a.md", b"two", files.ABSENT)
    assert names_in(folder) == ["a.md"]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
def test_the_mode_stays(folder: Path) -> None:
    file = folder / "a.md"
    file.write_bytes(b"one")
    file.chmod(0o640)
    files.replace(file, b"two", hash_bytes(b"one"))
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    files.replace(folder / "new.md", b"", files.ABSENT)
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE((folder / "new.md").stat().st_mode) == 0o666 & ~mask


def test_reading_tells_absent_from_unreadable(folder: Path) -> None:
    assert files.read(folder / "nothing.md") is None
    assert files.current_etag(folder / "nothing.md") == files.ABSENT
    (folder / "file").write_bytes(b"")
    assert files.read(folder / "file" / "below.md") is None
    assert files.current_etag(folder / "file") == hash_bytes(b"")
    (folder / "folder.md").mkdir()
    with pytest.raises(StorageFailed, match=r"folder\.md"):
        files.read(folder / "folder.md")


def test_a_file_moves_to_a_free_name_only(folder: Path) -> None:
    (folder / "a.md").write_bytes(b"a")
    (folder / "b.md").write_bytes(b"b")
    with pytest.raises(NoteExists):
        files.move(folder / "a.md", folder / "b.md")
    files.move(folder / "a.md", folder / "deep/er/c.md")
    assert (folder / "deep/er/c.md").read_bytes() == b"a"
    assert names_in(folder) == ["b.md", "deep"]


def test_a_folder_in_the_way_is_a_clear_error(folder: Path) -> None:
    (folder / "a").write_bytes(b"a file where a folder is needed")
    with pytest.raises(StorageFailed):
        files.replace(folder / "a" / "b.md", b"x", files.ABSENT)
    (folder / "c.md").mkdir()
    with pytest.raises(StorageFailed):
        files.replace(folder / "c.md", b"x")
    assert names_in(folder) == ["a", "c.md"]


@LINUX
def test_a_full_disk_leaves_the_old_bytes_and_says_so(small_disk: Path) -> None:
    file = small_disk / "a.md"
    files.replace(file, b"old", files.ABSENT)
    with pytest.raises(StorageFailed, match="No space left") as caught:
        files.replace(file, b"x" * 10_000_000, hash_bytes(b"old"))
    assert "nothing was changed" in caught.value.hint
    assert file.read_bytes() == b"old"
    assert names_in(small_disk) == ["a.md"]


LIMITED = """
import resource, sys
sys.dont_write_bytecode = True  # Python would keep the start of what it compiles
from pathlib import Path
from memory_bank.base.errors import StorageFailed
from memory_bank.notes.storage import files
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    files.replace(Path(sys.argv[1]), b"x" * 5000)
except StorageFailed as error:
    print("refused:", error.message)
"""


@LINUX
def test_a_file_cut_short_by_the_system_never_takes_the_old_ones_place(
    folder: Path, run_python: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    (folder / "a.md").write_bytes(b"old")
    done = run_python(LIMITED, folder / "a.md")
    assert done.stdout.startswith("refused: can't write"), done.stderr
    assert (folder / "a.md").read_bytes() == b"old"
    assert names_in(folder) == ["a.md"]


def test_the_first_digits_of_an_etag_stand_for_it(tmp_path: Path) -> None:
    file = tmp_path / "note.md"
    file.write_bytes(b"one")
    whole = files.current_etag(file)
    files.check(file, whole)
    files.check(file, whole[: files.SHORT])
    for wrong in (whole[: files.SHORT - 1], "0" * files.SHORT, whole + "0"):
        with pytest.raises(Conflict):
            files.check(file, wrong)
