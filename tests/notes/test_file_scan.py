import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_bank.base import filenames
from memory_bank.base.errors import NoBank
from memory_bank.notes.roots import NoteRoot
from memory_bank.notes.storage import files
from tests.support.files import write_files


def test_every_markdown_file_at_any_depth_is_met(folder: Path) -> None:
    met = ("a.md", "b.markdown", "deep/er/still/c.md", "Ünï/日本語.md", "e.md/f.md")
    others = (
        *("x.txt", "x.md.bak", ".hidden.md"),
        *(".obsidian/x.md", ".trash/x.md", "deep/.x/y.md"),
    )
    write_files(folder, {path: path for path in met + others})
    found = files.scan(folder)
    assert set(found.files) == {"a.md", "b.markdown", "deep/er/still/c.md", "Ünï/日本語.md"}
    assert found.refused == {"e.md": "not a plain file"}
    assert found.files["a.md"] == filenames.read_signature((folder / "a.md").lstat())


def test_what_one_would_take_for_notes_is_named_when_it_is_left_out(
    folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other/x.md").write_text("x")
    (folder / "link.md").symlink_to(tmp_path / "other/x.md")
    (folder / "dangling.md").symlink_to(tmp_path / "nothing")
    (folder / "linked").symlink_to(tmp_path / "other")
    (folder / "loop").symlink_to(folder)
    (folder / "itself").symlink_to("itself")
    (folder / "README.MD").write_text("x")
    (folder / "file").symlink_to(tmp_path / "other/x.md")
    found = files.scan(folder)
    assert found.files == {}
    assert set(found.refused) == {"link.md", "dangling.md", "linked/", "loop/", "README.MD"}
    assert all(found.refused.values())


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes")
def test_a_pipe_is_named_and_not_opened(folder: Path) -> None:
    os.mkfifo(folder / "pipe.md")
    assert files.scan(folder).refused == {"pipe.md": "not a plain file"}


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names themselves")
def test_a_name_that_is_not_utf8_is_named(folder: Path) -> None:
    (folder / os.fsdecode(b"caf\xe9.md")).write_text("x")
    (folder / os.fsdecode(b"f\xe9")).mkdir()
    (folder / os.fsdecode(b"f\xe9/inside.md")).write_text("x")
    (folder / os.fsdecode(b"l\xe9.md")).symlink_to("nowhere")
    (folder / os.fsdecode(b"R\xe9.MD")).write_text("x")
    found = files.scan(folder)
    assert found.files == {}
    assert sorted(found.refused) == ["R?.MD", "caf?.md", "f?/inside.md", "l?.md"]


def test_a_missing_bank_is_no_empty_bank(folder: Path) -> None:
    folder.rmdir()
    with pytest.raises(NoBank):
        files.scan(folder)


UNREADABLE = """
import os, sys
from pathlib import Path
from memory_bank.base.errors import StorageFailed
from memory_bank.notes.storage.files import scan
if os.getuid() == 0:
    os.setgid(65534), os.setuid(65534)
try:
    print(sorted(scan(Path(sys.argv[1])).files))
except StorageFailed as error:
    print("refused:", error.message)
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
def test_an_unreadable_folder_is_an_error_not_an_empty_one(
    for_anyone: Path, run_python: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    root = for_anyone / "bank"
    (root / "closed").mkdir(parents=True)
    (root / "closed/a.md").write_text("a")
    (root / "b.md").write_text("b")
    assert run_python(UNREADABLE, root).stdout == "['b.md', 'closed/a.md']\n"
    (root / "closed").chmod(0)
    try:
        done = run_python(UNREADABLE, root)
    finally:
        (root / "closed").chmod(0o755)
    assert done.stdout == f"refused: can't read the folder {root}/closed: Permission denied\n"


def test_a_stamp_tells_of_a_change(folder: Path) -> None:
    file = folder / "a.md"
    file.write_text("one")
    first = filenames.read_signature(file.lstat())
    assert first == filenames.read_signature(file.lstat())
    file.write_text("two!")
    assert filenames.read_signature(file.lstat()) != first


def test_notes_are_read_in_the_order_of_the_scan(folder: Path) -> None:
    """Else a rebuild in another process puts notes of equal scores in another order."""
    for number in range(50):
        (folder / f"note {number}.md").write_text("the same")
    assert list(NoteRoot(folder).scan().signatures) == list(files.scan(folder).files)
