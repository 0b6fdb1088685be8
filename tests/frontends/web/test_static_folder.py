"""The folder of a static site: no file outside of it is written or removed."""

import json
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from memory_bank.bank.bank import open_bank
from memory_bank.base.errors import BadInput, MemoryBankError
from memory_bank.frontends.web.exporting import exported
from memory_bank.frontends.web.site_folder import LIST, SiteFolder
from memory_bank.frontends.web.written_site import build
from tests.notes.storage.test_folders import swapping

Git = Callable[..., str]
MINE = {"rules.html": "mine", "deep/rules.html": "mine", "index.html": "mine"}


@pytest.fixture
def victim(project: Path) -> Path:
    """A folder beside the repository with files of names that a site has."""
    folder = project.parent / "victim"
    for name, text in MINE.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def intact(victim: Path) -> bool:
    found = {
        one.relative_to(victim).as_posix(): one.read_text()
        for one in victim.rglob("*")
        if one.is_file()
    }
    return found == MINE


def site(folder: Path, *names: str) -> tuple[str, ...]:
    """Make a site of some files."""
    made = SiteFolder(folder)
    for name in names:
        made.write(name, b"ours")
    return made.finish({})


def listed(folder: Path, *names: str) -> None:
    """Write a list as a site has it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / LIST).write_text(json.dumps({"format": 1, "files": names}))


def test_a_committed_link_of_the_output_folder_leads_nowhere(
    project: Path, victim: Path, git: Git
) -> None:
    listed(victim, "rules.html")
    links = {
        "memory-site": "../victim",
        "www": "..",
        "chain": "memory-site",
        "new": "../victim/new",
        "itself": "src",
    }
    for name, goal in links.items():
        (project / name).symlink_to(goal)
    git(project, "add", "-A")
    git(project, "commit", "-qm", "Add")
    for output in ("memory-site", "www/victim", "chain", "new", "itself", "src/../memory-site/a"):
        with pytest.raises(BadInput, match="symbolic link"):
            site(project / output, "index.html")
    (victim / LIST).unlink()
    assert intact(victim)
    assert os.listdir(project / "src") == ["index.py"]


def test_a_committed_link_in_the_output_folder_leads_nowhere(
    project: Path, victim: Path, git: Git
) -> None:
    folder = project / "memory-site"
    folder.mkdir()
    (folder / "notes").symlink_to("../../victim")
    (folder / "index.html").symlink_to("../../victim/index.html")
    git(project, "add", "-A")
    git(project, "commit", "-qm", "Add")
    listed(folder, "notes/rules.html", "notes/deep/rules.html", "../victim/index.html", "a\0b")
    assert len(site(folder, "index.html")) == 2
    assert (folder / "index.html").read_text() == "ours"
    with pytest.raises(BadInput, match="symbolic link"):
        site(folder, "index.html", "notes/rules.html")
    assert intact(victim)


def test_a_list_that_git_tracks_is_not_believed(project: Path, git: Git) -> None:
    folder = project / "memory-site"
    listed(folder, "drafts.txt")
    git(project, "add", "-A")
    git(project, "commit", "-qm", "Add")
    (folder / "drafts.txt").write_text("not committed yet")
    with pytest.raises(BadInput, match="git tracks") as caught:
        site(folder, "index.html")
    assert "git rm --cached" in caught.value.hint
    assert sorted(os.listdir(folder)) == [LIST, "drafts.txt"]
    git(project, "rm", "-q", "--cached", f"memory-site/{LIST}")
    assert site(folder, "index.html") == ("drafts.txt",)


def test_a_repository_that_git_can_not_read_is_not_believed(project: Path) -> None:
    folder = project / "memory-site"
    listed(folder, "drafts.txt")
    (project / ".git/HEAD").write_text("nothing")
    with pytest.raises(BadInput, match="git tracks"):
        site(folder, "index.html")


@pytest.mark.parametrize(
    "text", ["[" * 100_000, "", "{}", '{"format": 1, "files": [1]}', '{"format": 2, "files": []}']
)
def test_a_list_that_says_nothing_is_no_list(tmp_path: Path, text: str) -> None:
    (tmp_path / LIST).write_text(text)
    with pytest.raises(BadInput, match="no static site"):
        site(tmp_path, "index.html")


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such pipes")
def test_what_is_no_plain_file_is_replaced_not_opened(tmp_path: Path, victim: Path) -> None:
    folder = tmp_path / "site"
    listed(folder)
    os.mkfifo(folder / "index.html")
    os.link(victim / "rules.html", folder / "rules.html")
    (folder / "zero.html").symlink_to("/dev/zero")
    site(folder, "index.html", "rules.html", "zero.html")
    assert {(folder / name).read_text() for name in os.listdir(folder) if name != LIST} == {"ours"}
    assert intact(victim)
    (folder / LIST).unlink()
    os.mkfifo(folder / LIST)
    with pytest.raises(BadInput, match="no static site"):
        site(folder, "index.html")


def test_links_of_the_users_own_lead_on(tmp_path: Path, victim: Path) -> None:
    (tmp_path / "www").symlink_to(tmp_path / "real")
    (tmp_path / "real").mkdir()
    site(tmp_path / "www/notes", "a/index.html")
    assert (tmp_path / "real/notes/a/index.html").read_text() == "ours"
    assert site(tmp_path / "www/notes", "index.html") == ("a/index.html",)
    assert sorted(os.listdir(tmp_path / "real/notes")) == [LIST, "index.html"]
    (tmp_path / "round").symlink_to("round")
    with pytest.raises(MemoryBankError, match="round"):
        site(tmp_path / "round", "index.html")


@pytest.mark.skipif(sys.platform != "linux", reason="two names are exchanged in one step on Linux")
@pytest.mark.parametrize("swapped", ["out", "out/site", "out/site/notes"])
def test_a_folder_that_is_swapped_for_a_link_meanwhile_leads_nowhere(
    project: Path, victim: Path, swapped: str
) -> None:
    folder = project / "out/site"
    site(folder, "notes/rules.html", "notes/deep/rules.html")
    (project / "link").symlink_to(victim)
    with swapping(project / swapped, project / "link"):
        for number in range(60):
            with suppress(MemoryBankError):
                site(folder, "index.html", *["notes/rules.html", "deep/rules.html"][number % 2 :])
    assert intact(victim)


def test_the_command_overwrites_nothing_through_a_repository(
    project: Path, victim: Path, git: Git
) -> None:
    folder = project / "memory-site"
    listed(folder, "notes/rules.html", "notes/deep/rules.html")
    (folder / "notes").symlink_to("../../victim")
    git(project, "add", "-A")
    git(project, "commit", "-qm", "Add")
    with open_bank(project) as bank, exported(bank) as export:
        with pytest.raises(BadInput, match="git tracks"):
            build(export, folder)
        git(project, "rm", "-q", "--cached", f"memory-site/{LIST}")
        with pytest.raises(BadInput, match="symbolic link"):
            build(export, folder)
    assert intact(victim)
