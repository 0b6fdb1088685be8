"""The tools `symbol`, `explain_symbol` and `blast_radius`, where a table of calls cannot show it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from memory_bank.agents.capture import is_own
from tests.support.files import write_files
from tests.support.shop import FILES


def test_no_bank_is_needed(
    project: Path,
    serving: Callable[..., Callable[..., dict[str, object]]],
    monkeypatch: pytest.MonkeyPatch,
    git: Callable[..., str],
) -> None:
    write_files(project, FILES)
    git(project, "rm", "-rq", "--cached", ".memories")
    (project / ".memories").rename(project.parent / "away")
    monkeypatch.chdir(project)
    answer = serving()("explain_symbol", name="Order.place")
    assert answer["details"]["symbol"]["name"] == "Order.place"  # type: ignore[index]
    assert answer["notes"] == []


@pytest.mark.parametrize("tool", ["symbol", "explain_symbol", "blast_radius", "ask"])
def test_hooks_know_that_the_tools_are_ours(tool: str) -> None:
    assert is_own(f"MCP:{tool}")
