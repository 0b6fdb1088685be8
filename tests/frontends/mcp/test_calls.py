"""What each tool answers to each kind of call: tables of (call, text)."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.command_lines import SHELL, replay, typed, work_beside_shop
from tests.support.session_builder import observation, session

HERE = Path(__file__).parent / "calls"
ALL = ("store", "bank", "sessions", "code", "maintenance", "review")


@pytest.mark.skipif(SHELL is None, reason="commands between the calls are typed into bash")
@pytest.mark.parametrize("file", sorted(HERE.glob("*.txt")), ids=lambda file: file.stem)
def test_calls(
    file: Path,
    project: Path,
    tmp_path: Path,
    private_folders: Path,
    serving: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A line is a call, which is a tool and its arguments as JSON; others are typed into a shell."""
    worked = session("retry", observation(1, "Retry", files_modified=("a.py",)))
    work_beside_shop(project, tmp_path, monkeypatch, worked)
    agent = serving(*ALL, structured=False)

    def called(line: str) -> tuple[str, int]:
        tool, _, arguments = line.partition(" ")
        if tool not in agent.server.toolbox.tools:
            return typed(line)
        answer = agent(tool, **json.loads(arguments or "{}"))
        return answer.text, int(answer.wrong)

    known = {str(project): "<project>", str(private_folders): "<home>", str(tmp_path): "<tmp>"}
    replay(file, known, called)
