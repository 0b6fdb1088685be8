"""Whether an agent's program shows its model the rule that governs a task's file, and at what cost.

    unshare -rn sh -c 'ip link set lo up; python -m tests.benchmarks.agent_rules'

Three repositories with 100 rules each are made, 20 of which are for one task's file; the real programs
are started in a trusted clone, with a stand-in for the model that only answers. Counted is whether
what the rule says is in the first request that has the prompt. `--install` fetches the programs from
npm, and ends; one that is not there is left out, and named.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from threading import Thread
from typing import NamedTuple

from memory_bank.search.embedders.static import count_tokens
from tests.agents.hooks.programs.claude_code import ClaudeCode
from tests.agents.hooks.programs.codex import Codex
from tests.agents.hooks.programs.copilot import CopilotCli
from tests.agents.hooks.programs.gemini import GeminiCli
from tests.agents.hooks.programs.mock_model import URL, Model
from tests.agents.hooks.programs.program import Program

AREAS = [
    "billing", "shipping", "search", "auth", "catalog", "reports", "mail", "queue", "cache", "export",
    "ledger", "tax", "stock", "coupons", "profiles", "audit", "pricing", "returns", "webhooks", "import",
]  # fmt: skip
TOPICS = [
    "retries", "timeouts", "logging", "amounts", "identifiers", "transactions", "encodings",
    "pagination", "locks", "errors",
]  # fmt: skip
DEMANDS = (
    "must go through the shared gateway, never directly",
    "are capped at three attempts with jitter",
    "use integer cents and no floats",
    "are idempotent by request key",
    "never log personal data",
    "raise DomainError and nothing else",
    "are validated at the edge only",
    "run inside one transaction",
    "use UTC with explicit offsets",
    "are paged by cursor, not by offset",
)
PRACTICES = [
    "Reviews", "Releases", "Docs", "Tests", "Names", "Comments", "Branches", "Dashboards", "Alerts",
    "Migrations",
]  # fmt: skip
RULES, REPOSITORIES, SECONDS = 100, 3, 90
VARIANTS = ("none", "block", "hook", "both")


class Task(NamedTuple):
    """A prompt that names a file, and what the rule for it says."""

    prompt: str
    demand: str


def git(folder: Path, *words: str) -> str:
    """Run git in a folder."""
    who = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    done = subprocess.run(
        ["git", "-C", str(folder), *who, *words], check=True, capture_output=True, text=True
    )
    return done.stdout


def make(root: Path, seed: int) -> list[Task]:
    """Make a repository with rules, and commit it; return its tasks."""
    rnd = random.Random(seed)
    folder = root / ".memories/rules"
    folder.mkdir(parents=True)
    git(root, "init", "-q", "-b", "main")
    tasks = []
    for number, area in enumerate(AREAS):
        topic = TOPICS[(number + seed) % len(TOPICS)]
        file = root / f"src/{area}/{topic}.py"
        file.parent.mkdir(parents=True)
        file.write_text(f"def {topic}():\n    ...\n")
        scope = (f"src/{area}/**", f"src/{area}/*.py", f"src/{area}/{topic}.py")[number % 3]
        demand = f"{topic.title()} of {area} {DEMANDS[(number * 3 + seed) % len(DEMANDS)]}"
        (folder / f"{area}-{topic}.md").write_text(
            f'---\ntype: rule\napplies_to: ["{scope}"]\n---\n# {area.title()} {topic}\n\n'
            f"{demand}. This was agreed after an incident in spring.\n"
        )
        what = ("customers", "partners", "suppliers")[number % 3]
        where = file.relative_to(root)
        tasks.append(Task(f"Change {where} so that it also handles new {what}; test it.", demand))
    for number in range(RULES - len(tasks)):
        one, other = rnd.choice(PRACTICES), rnd.choice(TOPICS)
        (folder / f"general-{number:02d}.md").write_text(
            f"---\ntype: rule\n---\n# {one} and {other} {number}\n\n"
            f"{one} about {other} {rnd.choice(DEMANDS)} ({number}). The handbook says why.\n"
        )
    (root / ".memories/.gitignore").write_text(".index/\n.trash/\nsessions/\n")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "Start")
    before = contents(root)
    for words in (("rules", "--write"), ("agents", "bundle")):
        memory_bank(root, *words)
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "Add the rules and the bundle")
    without(root, "none")
    assert contents(root) == before, "the rules and the bundle left something"
    git(root, "checkout", "-q", "--", ".")
    return tasks


def contents(root: Path) -> dict[str, bytes]:
    """Return the files of a work tree, without git's and derived ones."""
    found = (one for one in root.rglob("*") if one.is_file())
    return {
        str(one.relative_to(root)): one.read_bytes()
        for one in found
        if not {".git", ".index"} & {*one.relative_to(root).parts}
    }


def memory_bank(folder: Path, *words: str) -> None:
    """Run this program in a folder."""
    program = [sys.executable, "-P", "-m", "memory_bank"]
    subprocess.run([*program, *words], cwd=folder, check=True, capture_output=True)


def without(tree: Path, variant: str) -> None:
    """Take out of a work tree what a variant does not have."""
    if variant in {"none", "block"}:
        memory_bank(tree, "agents", "bundle", "--remove")
    if variant in {"none", "hook"}:
        memory_bank(tree, "rules", "--remove")


class TrustingClaude(ClaudeCode):
    """Claude Code in a folder that is trusted."""

    def words(self, project: Path, prompt: str) -> list[str]:
        return ["-p", prompt, "--model", "claude-sonnet-5", "--output-format", "json"]

    def files(self, project: Path) -> dict[str, str]:
        trusted = {str(project): {"hasTrustDialogAccepted": True}}
        return {".claude.json": json.dumps({"hasCompletedOnboarding": True, "projects": trusted})}


class WaitingCodex(Codex):
    """Codex in a project that is trusted, whose hooks wait for approval."""

    def words(self, project: Path, prompt: str) -> list[str]:
        return ["exec", "--sandbox", "read-only", prompt]

    def files(self, project: Path) -> dict[str, str]:
        provider = f'[model_providers.mock]\nname = "mock"\nbase_url = "{URL}/v1"\n'
        (trusted,) = super().files(project).values()
        mock = f'model_provider = "mock"\nmodel = "mock"\n{provider}wire_api = "responses"\n'
        return {".codex/config.toml": mock + trusted}


class ApprovedCodex(WaitingCodex):
    """Codex as if its hooks had been approved."""

    def words(self, project: Path, prompt: str) -> list[str]:
        return [*super().words(project, prompt), "--dangerously-bypass-hook-trust"]


class TrustingCopilot(CopilotCli):
    """Copilot CLI in a folder that is trusted, without a server of its own."""

    def words(self, project: Path, prompt: str) -> list[str]:
        return ["-p", prompt, "--allow-all-tools", "--no-color", "--trust-folder"]


PROGRAMS: dict[str, Program] = {
    "claude": TrustingClaude(), "codex": WaitingCodex(), "codex, hooks approved": ApprovedCodex(),
    "gemini": GeminiCli(), "copilot": TrustingCopilot(),
}  # fmt: skip


class Result(NamedTuple):
    """What was seen of a program in a variant."""

    found: int
    tasks: int
    tokens: int
    """Of the first request, the median."""
    changed: str
    """What git says changed in the clone."""


def measured(
    program: Program, repositories: Sequence[tuple[Path, list[Task]]], variant: str, number: int,
    work: Path,
) -> Result:  # fmt: skip
    """Run a program on tasks of all repositories, one after the other, each in the next one."""
    found, sizes, changed = 0, [], ""
    for at in range(REPOSITORIES):
        repository, tasks = repositories[at]
        place = Path(tempfile.mkdtemp(dir=work))  # a program may still write into the one before
        tree, home = place / "tree", place / "home"
        git(work, "clone", "-q", str(repository), str(tree))
        without(tree, variant)
        before = git(tree, "status", "--short")
        for task in tasks[at:number:REPOSITORIES]:
            first = asked_first(program, home, tree, task.prompt)
            found += task.demand in first
            sizes += count_tokens([first])
        if (after := git(tree, "status", "--short")) != before:
            changed += after
    return Result(found, len(sizes), round(statistics.median(sizes or [0])), changed)


def asked_first(program: Program, home: Path, tree: Path, prompt: str) -> str:
    """Return the first request of a program that has the prompt; empty if there is none."""
    home.mkdir(exist_ok=True)
    log = home / "model.jsonl"
    log.write_text("")
    with Model([], log) as model:
        Thread(target=model.serve_forever, daemon=True).start()
        for name, text in program.files(tree).items():
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            (home / name).write_text(text.replace(URL, model.url))
        given = {name: text.replace(URL, model.url) for name, text in program.environment.items()}
        left_out = ("CLAUDE", "CODEX", "XDG_", "MEMORY_BANK")
        kept = {name: text for name, text in os.environ.items() if not name.startswith(left_out)}
        try:
            subprocess.run(
                [*program.start, *program.words(tree, prompt)], cwd=tree,
                env={**kept, "HOME": str(home), "XDG_STATE_HOME": str(home / "s"), **given},
                stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            print(f"  no end after {SECONDS} s: {prompt}", file=sys.stderr)
        model.shutdown()
    requests = (json.loads(line)["request"] for line in log.read_text("utf-8").splitlines())
    asked = (json.dumps(one, ensure_ascii=False, separators=(",", ":")) for one in requests)
    return next((one for one in asked if prompt in one), "")


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a line for each program and variant."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--install", action="store_true", help="fetch the programs from npm")
    parser.add_argument("--tasks", type=int, default=20)
    parser.add_argument("--only", choices=[*PROGRAMS], action="append")
    parser.add_argument("--variant", choices=VARIANTS, action="append")
    chosen = parser.parse_args(arguments)
    programs = {name: PROGRAMS[name] for name in chosen.only or PROGRAMS}
    if chosen.install:
        for program in programs.values():
            program.install()
        return
    there = [name for name, one in programs.items() if (one.modules.parent / "complete").exists()]
    for name in programs.keys() - set(there):
        print(f"{name}: not there")
    if not there:
        return
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        work = Path(folder).resolve()
        repositories = []
        for number in range(REPOSITORIES):
            root = work / f"r{number}"
            root.mkdir()
            repositories.append((root, make(root, number)))
        for name in there:
            for variant in chosen.variant or VARIANTS:
                few = 3 if variant == "none" else chosen.tasks
                seen = measured(programs[name], repositories, variant, few, work)
                print(
                    f"{name:24}{variant:8}{seen.found:3} of {seen.tasks:2}"
                    f"{seen.tokens:9,} tokens  {seen.changed or 'git clean'}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
