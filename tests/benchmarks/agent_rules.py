"""Whether an agent's program shows its model the rule that governs a task, and at what cost.

    unshare -rn sh -c 'ip link set lo up; python -m tests.benchmarks.agent_rules [FOLDER]'

The real programs are started in a trusted clone, with a stand-in for the model that only answers.
Counted is in how many tasks what the rule says is in the first request that has the prompt, how many
tokens that request has, and of the lines of notes that the hook added, how many are of a note that
the task names. FOLDER is a project with a bank and a file `tasks.json`: a list of objects with
`prompt`, `rule` (words that the request must have) and `notes` (those that bear on it). Without it,
three repositories with 100 rules each are made, 20 of which are for one task's file. `--install`
fetches the programs from npm, and ends; one that is not there is left out, and named.
"""

import argparse
import html
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Thread
from typing import NamedTuple

from memory_bank.agents.hook_answers import HEAD
from memory_bank.search.embedders.static import count_tokens
from tests.agents.hooks.programs.every import ClaudeCode, Codex, CopilotCli, GeminiCli
from tests.agents.hooks.programs.mock_model import URL, Model
from tests.agents.hooks.programs.program import Program
from tests.benchmarks.injected import lines_of_notes
from tests.git.history_builder import commit_all
from tests.git.history_builder import run as git
from tests.support.files import read_files

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
FOLDERS = (".agents", ".claude", ".codex", ".cursor", ".gemini", ".github")
"""Where programs read files of a project."""
VARIANTS = ("none", "block", "hook", "both")


class Task(NamedTuple):
    """A prompt, what the rule for it says, and the notes that bear on it."""

    prompt: str
    demand: str
    notes: Sequence[str] = ()


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
    commit_all(root, "Start")
    set_up(root)
    return tasks


def set_up(root: Path) -> None:
    """Commit the block of rules and the bundle, both of which can be taken out without a trace."""
    before = read_files(root)
    for words in (("rules", "--write"), ("agents", "bundle")):
        memory_bank(root, *words)
    git(root, "add", "-A")
    for folder in filter(Path.exists, map(root.joinpath, FOLDERS)):
        git(root, "add", "--force", str(folder))  # a project may ignore it, as `--check` says
    git(root, "commit", "-q", "-m", "Add the rules and the bundle")
    without(root, "none")
    assert read_files(root) == before, "the rules and the bundle left something"
    git(root, "checkout", "-q", "--", ".")


def copied(folder: Path, root: Path) -> list[Task]:
    """Clone a project and set it up; return its tasks."""
    tasks = json.loads((folder / "tasks.json").read_text(encoding="utf-8"))
    git(root, "clone", "-q", str(folder.resolve()), ".")
    set_up(root)
    return [Task(task["prompt"], task["rule"], task.get("notes", ())) for task in tasks]


def memory_bank(
    folder: Path, *words: str, home: Path | None = None, codes: Sequence[int] = (0,)
) -> None:
    """Run this program in a folder, for a user with a home; raise an error for other exit codes.

    An index that was not made would be a hook that tells less.
    """
    program = [sys.executable, "-P", "-m", "memory_bank"]
    own = environment(home) if home else None
    done = subprocess.run([*program, *words], cwd=folder, capture_output=True, env=own, check=False)
    if done.returncode not in codes:
        raise subprocess.CalledProcessError(done.returncode, done.args, done.stdout, done.stderr)


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

    reached: int
    """Number of tasks whose rule is in the request."""
    tasks: int
    tokens: int
    """Of the first request, the median."""
    useful: int
    lines: int
    """Lines of notes that the hook added, those of a note that bears on the task among them."""
    changed: str
    """What git says changed in the clone."""


def measured(
    program: Program, repositories: Sequence[tuple[Path, list[Task]]], variant: str, number: int,
    work: Path,
) -> Result:  # fmt: skip
    """Run a program on tasks of all repositories, one after the other, each in the next one."""
    reached, useful, lines, sizes, changed = 0, 0, 0, [], ""
    for at, (repository, tasks) in enumerate(repositories):
        place = Path(tempfile.mkdtemp(dir=work))  # a program may still write into the one before
        tree, home = place / "tree", place / "home"
        git(work, "clone", "-q", str(repository), str(tree))
        without(tree, variant)
        home.mkdir()
        for command in ("sync", "rules"):  # else the first sessions do it in the background
            memory_bank(tree, command, home=home, codes=(0, 1))
        before = git(tree, "status", "--short")
        for task in tasks[at : number : len(repositories)]:
            request = first_request(program, home, tree, task.prompt)
            text = json.dumps(request, ensure_ascii=False, separators=(",", ":"))
            reached += task.demand in text
            sizes += count_tokens([text])
            for path, count in lines_of_notes("\n".join(texts_of_hook(request))).items():
                lines += count
                useful += count * path.endswith(tuple(task.notes))
        if (after := git(tree, "status", "--short")) != before:
            changed += after
    return Result(
        reached, len(sizes), round(statistics.median(sizes or [0])), useful, lines, changed
    )


def texts_of_hook(request: object) -> Iterator[str]:
    """Yield the texts of a request that the hook of a prompt added."""
    if isinstance(request, str):
        if HEAD in request:
            yield html.unescape(request)  # Gemini CLI escapes what a hook adds
    elif isinstance(request, list | dict):
        for value in request.values() if isinstance(request, dict) else request:
            yield from texts_of_hook(value)


def environment(home: Path) -> dict[str, str]:
    """Return the environment of a user with a home of their own, who has this program."""
    left_out = ("CLAUDE", "CODEX", "XDG_", "MEMORY_BANK")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    others = {name: text for name, text in os.environ.items() if not name.startswith(left_out)}
    quick = {  # hooks ask notes by words only
        "MEMORY_BANK_EMBEDDER": "static", "MEMORY_BANK_CODE_ENABLED": "false",
    }  # fmt: skip
    return others | quick | {"HOME": str(home), "XDG_STATE_HOME": str(home / "s"), "PATH": path}


def first_request(program: Program, home: Path, tree: Path, prompt: str) -> object:
    """Return the first request of a program that has the prompt; None if there is none."""
    log = home / "model.jsonl"
    log.write_text("")
    with Model([], log) as model:
        Thread(target=model.serve_forever, daemon=True).start()
        for name, text in program.files(tree).items():
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            (home / name).write_text(text.replace(URL, model.url))
        own = {name: text.replace(URL, model.url) for name, text in program.environment.items()}
        try:
            subprocess.run(
                [*program.start, *program.words(tree, prompt)], cwd=tree,
                env=environment(home) | own,
                stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            print(f"  no end after {SECONDS} s: {prompt}", file=sys.stderr)
        model.shutdown()
    requests = [json.loads(line)["request"] for line in log.read_text("utf-8").splitlines()]
    return next((one for one in requests if prompt in json.dumps(one, ensure_ascii=False)), None)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a line for each program and variant."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", nargs="?", type=Path, help="a project with a bank and tasks.json")
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
        for number in range(1 if chosen.folder else REPOSITORIES):
            root = work / f"r{number}"
            root.mkdir()
            tasks = copied(chosen.folder, root) if chosen.folder else make(root, number)
            repositories.append((root, tasks))
        print("| program | variant | rule reached | tokens | useful lines | git |")
        print("|---|---|---|---|---|---|")
        for name in there:
            for variant in chosen.variant or VARIANTS:
                few = 3 if variant == "none" else chosen.tasks
                seen = measured(programs[name], repositories, variant, few, work)
                lines = f"{seen.useful} of {seen.lines}" if seen.lines else "\u2013"
                print(
                    f"| {name} | {variant} | {seen.reached} of {seen.tasks} | {seen.tokens:,} |"
                    f" {lines} | {seen.changed or 'clean'} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
