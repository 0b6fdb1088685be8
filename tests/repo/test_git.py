from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_bank.repo import git as asked

Git = Callable[..., str]


def test_the_work_tree_is_found_from_below(project: Path, tmp_path: Path, git: Git) -> None:
    assert asked.worktree(project / ".memories/decisions") == project
    assert asked.worktree(project) == project
    git(project, "worktree", "add", "-q", str(tmp_path / "tree"))
    assert asked.worktree(tmp_path / "tree" / ".memories") == tmp_path / "tree"
    assert asked.worktree(tmp_path) is None


def test_a_repository_is_known_by_its_first_commit(project: Path, tmp_path: Path, git: Git) -> None:
    first = git(project, "rev-parse", "HEAD").strip()
    git(project, "commit", "-q", "--allow-empty", "-m", "Second")
    assert asked.root_commit(project) == first
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{project}", str(tmp_path / "shallow"))
    assert asked.root_commit(tmp_path / "shallow") is None
    git(tmp_path, "init", "-q", "empty")
    assert asked.root_commit(tmp_path / "empty") is None
    assert asked.head(tmp_path / "empty") is None


def test_several_first_commits_give_one_answer(project: Path, git: Git) -> None:
    first = git(project, "rev-parse", "HEAD").strip()
    git(project, "checkout", "-q", "--orphan", "other")
    git(project, "commit", "-q", "--allow-empty", "-m", "Other")
    other = git(project, "rev-parse", "HEAD").strip()
    git(project, "merge", "-q", "--allow-unrelated-histories", "-m", "Both", "main")
    assert asked.root_commit(project) == min(first, other)


def test_head_moves_with_commits(project: Path, git: Git) -> None:
    before = asked.head(project)
    assert before == git(project, "rev-parse", "HEAD").strip()
    git(project, "commit", "-q", "--allow-empty", "-m", "Next")
    assert asked.head(project) not in {before, None}


def test_first_commits_follow_renames_and_know_odd_names(
    project: Path, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    bank = project / ".memories"
    monkeypatch.setenv("GIT_AUTHOR_DATE", "2026-01-01T00:00:00Z")
    for name in ("with space.md", "Ünï.md", 'quo"te.md', "-dash.md", ":colon.md", "R100"):
        (bank / name).write_text(f"the text of {name}, long enough\n" * 3)
    git(project, "add", "-A")
    git(project, "commit", "-q", "-m", "Add")
    monkeypatch.setenv("GIT_AUTHOR_DATE", "2026-02-02T00:00:00Z")
    (bank / "deep").mkdir()
    git(bank, "mv", "Ünï.md", "deep/ünï 2.md")
    git(project, "commit", "-q", "-m", "Move")
    found = {
        path: when.date().isoformat() for path, when in asked.first_commits(project, bank).items()
    }
    for name in ("with space.md", 'quo"te.md', "-dash.md", ":colon.md", "R100", "deep/ünï 2.md"):
        assert found[name] == "2026-01-01", name
    assert "facts/bm25.md" in found
    assert not any(path.startswith(("src", ".memories")) for path in found)


def test_a_bank_whose_name_is_magic_to_git_is_a_plain_name(project: Path, git: Git) -> None:
    bank = project / ":(top)"
    bank.mkdir()
    (bank / "a.md").write_text("x")
    git(project, "--literal-pathspecs", "add", "-A")
    git(project, "commit", "-q", "-m", "Add")
    assert set(asked.first_commits(project, bank)) == {"a.md"}


def test_asking_changes_nothing(project: Path, git: Git) -> None:
    def state() -> dict[str, bytes]:
        return {
            str(path): path.read_bytes() for path in (project / ".git").rglob("*") if path.is_file()
        }

    os.utime(project / "src/index.py")  # git would note the new stamp in its index
    before = state()
    asked.head(project)
    asked.root_commit(project)
    asked.first_commits(project, project / ".memories")
    assert state() == before


@pytest.mark.skipif(os.name == "nt", reason="needs a shell")
def test_no_program_that_the_repository_names_is_started(
    project: Path, tmp_path: Path, git: Git
) -> None:
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\nexit 1\n")
    trap.chmod(0o755)
    for name in ("core.fsmonitor", "core.pager", "gpg.program", "diff.external", "core.sshCommand"):
        git(project, "config", name, str(trap))
    git(project, "config", "log.showSignature", "true")
    asked.head(project)
    asked.root_commit(project)
    assert asked.first_commits(project, project / ".memories")
    assert not (tmp_path / "sprung").exists()


def test_without_git_there_is_no_answer(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert asked.head(project) is None
    assert asked.root_commit(project) is None
    assert asked.first_commits(project, project / ".memories") == {}


@pytest.mark.skipif(os.name == "nt", reason="the stand-in is a shell script")
def test_git_that_hangs_is_given_up(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hanging = tmp_path / "bin" / "git"
    hanging.parent.mkdir()
    hanging.write_text("#!/bin/sh\nexec sleep 20\n")
    hanging.chmod(0o755)
    monkeypatch.setenv("PATH", str(hanging.parent), prepend=os.pathsep)
    monkeypatch.setattr(asked, "TIMEOUT", 0.3)
    assert asked.head(project) is None
