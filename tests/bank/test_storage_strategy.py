"""`storage_strategy = "user"`: a project's bank in the user's data folder."""

from pathlib import Path

import pytest

from memory_bank.bank.bank import open_bank
from memory_bank.bank.setup import init
from memory_bank.base.errors import NoBank
from memory_bank.memory.remember import remember
from memory_bank.memory.retrieval.recall import recall


def test_the_user_s_bank_is_named_like_the_project(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORY_BANK_STORAGE_STRATEGY", "user")
    (project / "src").mkdir(exist_ok=True)
    monkeypatch.chdir(project / "src")
    with pytest.raises(NoBank, match="project"):
        open_bank()
    made = init()
    assert Path(made.bank).name == "project"
    with open_bank(settings={"memory.embedder": "none"}) as bank:
        assert bank.layout.root == Path(made.bank).resolve()
        remember(bank, "kept outside the repository")
        assert recall(bank, "repository").result_count == 1
