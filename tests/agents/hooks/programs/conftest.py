"""The programs, one after the other, each with a machine of its own."""

from pathlib import Path

import pytest

from tests.agents.hooks.programs.every import PROGRAMS
from tests.agents.hooks.programs.machine import Machine
from tests.agents.hooks.programs.program import Program


@pytest.fixture(params=PROGRAMS, ids=lambda program: program.name)
def program(request: pytest.FixtureRequest) -> Program:
    """Install a program."""
    found: Program = request.param
    found.install()
    return found


@pytest.fixture
def machine(program: Program, tmp_path: Path, project: Path) -> Machine:
    """Set a program up for a project with a bank, as a user would."""
    made = Machine(tmp_path / "home", project)
    made.set_up(program)
    for client, scope in program.hooks:
        made.memory_bank("agents", "install", client, "--only", "hooks", "--scope", scope, "--yes")
    if program.server:
        made.memory_bank("agents", "install", program.client, "--only", "server", "--yes")
    return made
