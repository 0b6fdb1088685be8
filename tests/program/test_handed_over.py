"""A repository that somebody hands over: what it brings leads to no bank of the user's."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_bank.bank.bank import open_bank
from memory_bank.bank.setup import init
from memory_bank.base import paths
from memory_bank.base.errors import NoBank
from memory_bank.frontends.serving.shared_bank import SharedBank
from memory_bank.memory.retrieval.recall import recall
from tests.support import forked

Git = Callable[..., str]
Shell = Callable[..., subprocess.CompletedProcess[str]]

WAYS = ("recall heron", "remember planted", "notes --json", "doctor", "init", "rm private")


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    """Make a bank of the user's with a note that nobody else should read."""
    folder = tmp_path.resolve() / "victim"
    folder.mkdir()
    (folder / "private.md").write_text("# Heron\n\nThe password of the heron is fish.\n")
    return folder


@pytest.fixture
def handed(tmp_path: Path, victim: Path, git: Git) -> Path:
    """Make a repository whose `.memories` is a symbolic link to that bank."""
    root = tmp_path.resolve() / "handed"
    (root / "src").mkdir(parents=True)
    (root / ".memories").symlink_to(victim)
    git(tmp_path, "init", "-q", str(root))
    return root


@pytest.fixture
def shell() -> Shell:
    """Run a command line in a folder, reached as a shell that went there would say."""

    def run(way: Path, *words: str, **environ: str) -> subprocess.CompletedProcess[str]:
        return forked.run(
            [sys.executable, "-P", "-m", "memory_bank", *words],
            cwd=way, env={**os.environ, "PWD": str(way), "MEMORY_BANK_EMBEDDER": "none", **environ},
            capture_output=True, text=True, stdin=subprocess.DEVNULL,
        )  # fmt: skip

    return run


def listing(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else b""
        for path in folder.rglob("*")
    }


@pytest.mark.parametrize(
    ("words", "below"), [*((words, ".") for words in WAYS), ("recall heron", "src")]
)
def test_a_linked_bank_is_not_found(
    handed: Path, victim: Path, shell: Shell, words: str, below: str
) -> None:
    before = listing(victim)
    done = shell(handed / below, *words.split())
    assert done.returncode == 2
    assert "symbolic link" in done.stderr
    assert f"--bank {victim}" in done.stderr
    assert "fish" not in done.stdout + done.stderr
    assert listing(victim) == before


def test_a_link_that_leads_nowhere_gets_no_bank(handed: Path, shell: Shell, tmp_path: Path) -> None:
    (handed / ".memories").unlink()
    (handed / ".memories").symlink_to(tmp_path / "new")
    assert shell(handed, "init").returncode == 2
    assert not (tmp_path / "new").exists()


def test_a_server_opens_no_linked_bank(
    handed: Path, victim: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = listing(victim)
    monkeypatch.chdir(handed)
    shared = SharedBank()
    with pytest.raises(NoBank, match="symbolic link"):
        shared.bank()
    with pytest.raises(NoBank, match="symbolic link"):
        init()
    assert listing(victim) == before


@pytest.mark.parametrize("name", ["{handed}/.memories", "{handed}", "{victim}"])
def test_the_user_may_name_it(handed: Path, victim: Path, shell: Shell, name: str) -> None:
    named = name.format(handed=handed, victim=victim)
    assert "fish" in shell(handed, "--bank", named, "recall", "heron").stdout
    assert "fish" in shell(handed, "recall", "heron", MEMORY_BANK=named).stdout
    with open_bank(named) as bank:
        assert recall(bank, "heron").notes


def test_a_folder_of_the_repository_leads_to_no_bank_outside(
    tmp_path: Path, victim: Path, shell: Shell, project: Path
) -> None:
    """`docs -> ~/work/other`: who goes there is still in the repository that brought the link."""
    other = tmp_path.resolve() / "other"
    (other / "deep").mkdir(parents=True)
    victim.rename(other / ".memories")
    for bank in (project / ".memories", None):  # a repository with a bank of its own, or without
        if bank is None:
            (project / ".memories").rename(project / "notes")
        for link, goal in (("docs", other), ("deep", other / "deep")):
            (project / link).unlink(missing_ok=True)
            (project / link).symlink_to(goal)
            done = shell(project / link, "recall", "heron")
            assert (done.returncode, done.stdout) == (2, ""), done
            assert str(project / link) in done.stderr
    assert "fish" in shell(other / "deep", "recall", "heron").stdout


def test_links_on_the_users_own_way_are_followed(
    tmp_path: Path, project: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "link").symlink_to(project)
    (tmp_path / "links").mkdir()
    (tmp_path / "links/src").symlink_to(project / "src")
    (project / "code").symlink_to("src")
    for way in ("link", "link/src", "links/src", "project/code"):
        assert "Tantivy" in shell(tmp_path / way, "recall", "whoosh").stdout, way
        assert paths.find(tmp_path / way).root == (project / ".memories").resolve()
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".git").mkdir()
    (tmp_path / "away").symlink_to(project)  # a home folder in git holds links of the user's
    assert "Tantivy" in shell(tmp_path / "away", "recall", "whoosh").stdout


def test_a_way_that_is_another_process_own_is_not_believed(
    tmp_path: Path, project: Path, shell: Shell
) -> None:
    for told in (str(tmp_path), "nowhere", str(tmp_path / "gone"), ""):
        assert "Tantivy" in shell(project, "recall", "whoosh", PWD=told).stdout
