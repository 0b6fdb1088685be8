"""Run the steps of a composite action as GitHub's runner does: each script in a shell of its own."""

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

_EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")
_SHELL = ("bash", "--noprofile", "--norc", "-eo", "pipefail")


@dataclass
class Runner:
    """A runner in a workspace, for one event."""

    action: Path
    workspace: Path
    temporary: Path
    event: dict[str, Any]
    environment: Mapping[str, str]
    inputs: dict[str, str] = field(default_factory=dict)
    outputs: dict[str, dict[str, str]] = field(default_factory=dict)
    """Outputs of steps by id; those of a step that is not run are given."""
    output: str = ""
    summary: str = ""

    @property
    def definition(self) -> dict[str, Any]:
        found: dict[str, Any] = yaml.safe_load((self.action / "action.yml").read_text())
        return found

    def run(self, *without: str) -> int:
        """Run the scripts, except steps of some ids; return the exit code of the first that fails."""
        for number, step in enumerate(self.definition["runs"]["steps"]):
            if "run" not in step or step.get("id") in without or not self._wanted(step):
                continue
            if code := self._step(step, self.temporary / f"step-{number}"):
                return code
        return 0

    def value(self, expression: str) -> str:
        """Return the value of an expression: a path such as `github.event.number`, or a text."""
        if expression.startswith("'"):
            return expression.strip("'")
        if expression == "github.token":
            return "token-of-the-job"
        head, *path = expression.split(".")
        given = {
            name: str(one.get("default", "")) for name, one in self.definition["inputs"].items()
        }
        known: Any = {
            "inputs": given | self.inputs,
            "github": {"event": self.event, "repository": self.event["repository"]["full_name"]},
            "runner": {"temp": str(self.temporary)},
            "steps": {name: {"outputs": found} for name, found in self.outputs.items()},
        }[head]
        for name in path:
            known = known.get(name, {})
        return self.filled("" if known == {} else str(known))

    def filled(self, text: str) -> str:
        """Return a text with its expressions replaced by their values."""
        return _EXPRESSION.sub(lambda found: self.value(found[1]), text)

    def _wanted(self, step: dict[str, Any]) -> bool:
        parts = [part.split(" == ") for part in step.get("if", "'' == ''").split(" && ")]
        return all(self.value(left) == self.value(right) for left, right in parts)

    def _step(self, step: dict[str, Any], place: Path) -> int:
        place.mkdir()
        script, output, summary = (place / name for name in ("script.sh", "output", "summary"))
        script.write_text(step["run"])
        output.touch()
        summary.touch()
        done = subprocess.run(
            [*_SHELL, str(script)],
            cwd=self.filled(step.get("working-directory", str(self.workspace))),
            env={
                **os.environ,
                "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
                "GITHUB_ACTION_PATH": str(self.action), "GITHUB_WORKSPACE": str(self.workspace),
                "GITHUB_OUTPUT": str(output), "GITHUB_STEP_SUMMARY": str(summary),
                "RUNNER_TEMP": str(self.temporary),
                **self.environment,
                **{name: self.filled(str(value)) for name, value in step.get("env", {}).items()},
            },
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", timeout=120, check=False,
        )  # fmt: skip
        self.output += done.stdout
        self.summary += summary.read_text(encoding="utf-8")
        pairs = (line.split("=", 1) for line in output.read_text().splitlines())
        self.outputs[step.get("id", str(place))] = dict(pairs)
        return done.returncode
