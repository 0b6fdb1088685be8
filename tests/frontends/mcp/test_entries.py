"""What `agents install` writes is started as a client would start it."""

import os
import sys
from pathlib import Path

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

import memory_bank
from memory_bank.agents.setup_commands import plan_change
from memory_bank.bank.bank import open_bank

pytestmark = pytest.mark.slow


def ask(command: str, args: list[str], cwd: Path) -> str:
    """Start a server by an entry and recall what the project knows."""
    environment = {**os.environ, "PYTHONPATH": str(Path(memory_bank.__file__).parents[1])}
    server = StdioServerParameters(command=command, args=args, cwd=str(cwd), env=environment)

    async def talk() -> str:
        async with Client(stdio_client(server)) as client:
            answer = await client.call_tool("recall", {"query": "why tantivy"})
            return str(answer.content)

    return anyio.run(talk)


@pytest.mark.parametrize("script", [True, False])
def test_the_entry_of_a_user_s_file_works_from_anywhere(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, script: bool
) -> None:
    if not script:
        monkeypatch.setattr("sysconfig.get_path", lambda _: str(tmp_path))
    with open_bank(project) as bank:
        entry = plan_change(bank, "claude-desktop", "server", named=True).entry
    assert entry is not None
    command, args = str(entry["command"]), list(entry["args"])  # type: ignore[call-overload]
    assert Path(command).is_absolute()
    assert (Path(command) == Path(sys.executable)) != script
    assert "decisions/tantivy.md" in ask(command, args, tmp_path)


def test_the_entry_of_a_project_s_file_works_in_the_project(project: Path) -> None:
    with open_bank(project) as bank:
        entry = plan_change(bank, "claude-code", "server", scope="project").entry
    assert entry is not None
    assert entry["command"] == "memory-bank"
    args = list(entry["args"])  # type: ignore[call-overload]
    # the program as it is found on the PATH of somebody who installed it
    assert "decisions/tantivy.md" in ask(sys.executable, ["-m", "memory_bank", *args], project)
