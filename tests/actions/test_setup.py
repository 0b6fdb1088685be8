from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from memory_bank import config, init, open_bank, remember
from memory_bank.errors import BadName, StorageFailed


def test_a_bank_is_made_in_a_project(tmp_path: Path) -> None:
    made = init(tmp_path)
    root = tmp_path.resolve() / ".memories"
    assert made.bank == str(root)
    assert {Path(file).name for file in made.created} == {".gitignore", "config.toml"}
    ignored = (root / ".gitignore").read_text().splitlines()
    assert {".index/", ".trash/", "sessions/"} <= set(ignored)
    assert config.load(root) == config.Settings()


def test_what_is_there_stays(tmp_path: Path) -> None:
    root = tmp_path / ".memories"
    root.mkdir()
    (root / "config.toml").write_text("[search]\nlimit = 3\n")
    (root / "a.md").write_text("x")
    made = init(tmp_path)
    assert [Path(file).name for file in made.created] == [".gitignore"]
    assert (root / "config.toml").read_text() == "[search]\nlimit = 3\n"
    assert init(tmp_path).created == ()


def test_a_users_own_bank_is_in_the_data_folder(private_folders: Path) -> None:
    made = init(user="work")
    assert Path(made.bank) == private_folders / "data/memory-bank/work"
    with open_bank(made.bank, settings={"memory.embedder": "none"}) as bank:
        remember(bank, "text")
    for name in ("../x", "models", ""):
        if name:
            with pytest.raises(BadName):
                init(user=name)


def test_a_place_that_can_not_be_made_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StorageFailed):
        init(tmp_path / "file")


def test_git_sees_the_two_files_and_nothing_derived(
    tmp_path: Path, git: Callable[..., str]
) -> None:
    git(tmp_path, "init", "-q")
    made = init(tmp_path)
    with open_bank(made.bank, settings={"memory.embedder": "none"}) as bank:
        remember(bank, "text", name="a")
        remember(bank, "other", name="sessions/b")
        remember(bank, "third", name="gone")
        bank.store.delete("gone.md")
        (tmp_path / ".memories/.mb-left").write_text("half")
    shown = git(tmp_path, "status", "--porcelain", "--untracked-files=all").split()[1::2]
    assert sorted(shown) == [
        ".memories/.gitignore", ".memories/a.md", ".memories/config.toml",
    ]  # fmt: skip
