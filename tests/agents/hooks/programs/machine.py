"""A machine for a program: a home and a project of its own, and no network but its model."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import memory_bank
from tests.agents.hooks.programs import mock_model
from tests.agents.hooks.programs.dialects import Json, Plan
from tests.agents.hooks.programs.program import Program
from tests.support.files import write_files

ROOT = Path(memory_bank.__file__).parents[1]
_DEADLINE = 180


@dataclass(frozen=True)
class Machine:
    """Folders of a test."""

    home: Path
    project: Path

    @property
    def environment(self) -> dict[str, str]:
        """Return the environment of a user who has `memory-bank` and nothing else."""
        path = os.pathsep.join([str(self.home / "bin"), os.environ["PATH"]])
        user = {"HOME": str(self.home), "PATH": path, "LANG": "C.UTF-8", "TERM": "dumb"}
        return user | {"PYTHONPATH": str(ROOT), "XDG_STATE_HOME": str(self.home / "state")}

    def set_up(self, program: Program) -> None:
        """Put `memory-bank` on the path, and what a program needs into its home."""
        shell = f'#!/bin/sh\nexec "{sys.executable}" -P -m memory_bank "$@"\n'
        write_files(self.home, {"bin/memory-bank": shell, **program.files(self.project)})
        (self.home / "bin" / "memory-bank").chmod(0o755)

    def memory_bank(self, *words: str) -> str:
        """Run `memory-bank` in the project and return what it prints."""
        return self._run(["memory-bank", *words], self.environment).stdout

    def memory_bank_json(self, *words: str) -> Any:
        """Run `memory-bank … --json` and return its answer."""
        return json.loads(self.memory_bank(*words, "--json"))

    def play(self, program: Program, prompt: str, plan: Plan) -> list[Json]:
        """Run a program on a prompt, with a plan for its model; return the model's requests."""
        asked = self.home / "model"
        asked.mkdir(exist_ok=True)
        number = len(list(asked.glob("*.plan")))
        plan_file, log = asked / f"{number}.plan", asked / f"{number}.jsonl"
        plan_file.write_text(json.dumps(plan))
        model = [*mock_model.isolated(), sys.executable, "-m", mock_model.__name__]
        command = [*model, str(plan_file), str(log), *program.start]
        command += program.words(self.project, prompt)
        done = self._run(command, self.environment | program.environment)
        (asked / f"{number}.out").write_text(done.stdout + done.stderr)
        lines = log.read_text(encoding="utf-8").splitlines()
        return [json.loads(line)["request"] for line in lines]

    def _run(self, command: list[str], env: dict[str, str]) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            command,
            cwd=self.project,
            env=env,
            capture_output=True,
            text=True,
            check=False,
            timeout=_DEADLINE,
        )
        assert done.returncode == 0, (command, done.stdout[-3000:], done.stderr[-3000:])
        return done
