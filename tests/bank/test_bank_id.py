import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank

Opening = Callable[..., Bank]


def test_the_id_is_that_of_the_repository_and_the_place_in_it(
    project: Path, tmp_path: Path, git: Callable[..., str], opening: Opening
) -> None:
    git(tmp_path, "clone", "-q", str(project), str(tmp_path / "clone"))
    git(project, "worktree", "add", "-q", str(tmp_path / "tree"))
    ids = {opening(tmp_path / name).id for name in ("project", "clone", "tree")}
    assert len(ids) == 1
    (project / "sub/.memories").mkdir(parents=True)
    ids |= {opening(project / "sub").id}
    assert len(ids) == 2
    assert all(re.fullmatch(r"[0-9a-f]{16}", found) for found in ids)


def test_the_id_of_a_bank_outside_git_is_that_of_its_path(tmp_path: Path, opening: Opening) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    first = opening(tmp_path / "a").id
    assert first != opening(tmp_path / "b").id
    assert opening(tmp_path / "a").id == first
    shutil.rmtree(tmp_path / "a/.index")
    assert opening(tmp_path / "a").id == first


@pytest.mark.parametrize("data", [b"", b"\xff\xfe", b"0123", b"../../../../x", b"0" * 17])
def test_a_damaged_memory_of_it_is_asked_for_again(
    folder: Path, opening: Opening, data: bytes
) -> None:
    bank = opening(folder)
    first = bank.id
    assert bank.layout.remembered().startswith(first.encode())
    bank.layout.remember(data)
    assert opening(folder).id == first


def test_a_hook_of_another_repository_does_not_mislead_git(
    project: Path,
    tmp_path: Path,
    git: Callable[..., str],
    opening: Opening,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Inside a hook GIT_DIR names the repository that runs it."""
    expected = opening(project).id
    shutil.rmtree(project / ".memories/.index")
    git(tmp_path, "init", "-q", "other")
    git(tmp_path / "other", "commit", "-q", "--allow-empty", "-m", "Other")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "other/.git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(tmp_path / "other"))
    assert opening(project).id == expected
