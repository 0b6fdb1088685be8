"""A file that the user names is not written through a link of a repository."""

import os
from pathlib import Path

import pytest

from memory_bank.bank import written_files
from memory_bank.base.errors import BadInput, StorageFailed


def test_a_link_of_a_repository_is_not_written_through(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    victim = project.parent / "victim.txt"
    victim.write_text("mine")
    (project / "review.md").symlink_to(victim)
    (project / "reports").symlink_to(project.parent)
    monkeypatch.chdir(project)
    for path in ("review.md", "reports/victim.txt", "src/../review.md", f"{project}/review.md"):
        with pytest.raises(BadInput, match="symbolic link"):
            written_files.write_file(Path(path), b"ours")
    assert victim.read_text() == "mine"
    written_files.write_file(Path("src/review.md"), b"ours")
    written_files.write_file(Path("src/review.md"), b"ours again")
    assert (project / "src/review.md").read_text() == "ours again"


def test_the_users_own_links_and_devices_are_written_to(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "real")
    written_files.write_file(tmp_path / "link", b"ours")
    assert (tmp_path / "real").read_text() == "ours"
    written_files.write_file(Path(os.devnull), b"ours")
    if os.path.exists("/dev/fd"):
        reading, writing = os.pipe()
        written_files.write_file(Path(f"/dev/fd/{writing}"), b"ours")
        assert os.read(reading, 10) == b"ours"
        os.close(reading)
        os.close(writing)


@pytest.mark.parametrize("where", ["", ".", "src", "gone/review.md", "a\0b"])
def test_a_place_that_takes_no_file_is_named(
    project: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    monkeypatch.chdir(project)
    with pytest.raises(StorageFailed, match="can't be written"):
        written_files.write_file(Path(where), b"ours")
