import time
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_bank.frontends.serving.serving_background import Background
from memory_bank.frontends.serving.shared_bank import SharedBank
from memory_bank.frontends.web import health
from memory_bank.frontends.web import health as module
from memory_bank.frontends.web.health import Checked, RuleRuns
from memory_bank.memory.maintenance import ChangedPaths

CHANGED = ChangedPaths(changed=("facts/bad.md",))

Made = Callable[..., tuple[RuleRuns, Background]]


@pytest.fixture
def made(project: Path, monkeypatch: pytest.MonkeyPatch) -> Made:
    """Make what checks the project, without a pause between two runs."""
    monkeypatch.setattr(health, "_SHARE", 0)
    monkeypatch.setenv("MEMORY_BANK_EMBEDDER", "none")

    def made(path: Path = project) -> tuple[RuleRuns, Background]:
        shared = SharedBank(str(path))
        background = Background(shared)
        return RuleRuns(shared, background), background

    return made


def waited(health: RuleRuns, wanted: Callable[[Checked], bool]) -> Checked:
    end = time.monotonic() + 60
    while (found := health.latest()) is None or not wanted(found):
        assert time.monotonic() < end, found
        time.sleep(0.02)
    return found


def test_nobody_waits_for_the_rules(made: Made) -> None:
    health, _ = made()
    assert health.latest() is None
    found = waited(health, lambda one: True)
    assert (found.findings, found.problem) == ((), "")
    assert found.made_at.endswith("+00:00")
    assert health.latest() is found, "nothing has changed"


def test_a_change_makes_them_run_again(made: Made, project: Path) -> None:
    health, background = made()
    waited(health, lambda one: True)
    (project / ".memories/facts/bad.md").write_text("# Bad\n\nSee [[bm25#no]].\n")
    background.tell(CHANGED)
    found = waited(health, lambda one: bool(one.findings))
    assert sum(found.counts.values()) == len(found.findings) == 1
    assert found.findings[0].path == "facts/bad.md"


def test_why_they_could_not_run_is_told(made: Made, tmp_path: Path, project: Path) -> None:
    found = waited(made(tmp_path / "nothing")[0], lambda one: True)
    assert str(tmp_path / "nothing") in found.problem
    assert found.findings == ()


def test_they_run_for_a_small_part_of_the_time(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_SHARE", 10_000)
    health, background = made()
    first = waited(health, lambda one: True)
    background.tell(CHANGED)
    assert health.latest() is first
    time.sleep(0.3)
    assert health.latest() is first, "nothing ran"
