"""Programs that test, build and check a project, however they are started."""

from __future__ import annotations

import re
from typing import NamedTuple

from memory_bank.sessions.compression import shell
from memory_bank.sessions.compression.shell import Step, only_looks

_STARTERS = {
    "uv": ("run",), "poetry": ("run",), "pipenv": ("run",), "hatch": ("run",), "pdm": ("run",), "rye": ("run",),
    "bundle": ("exec",), "npx": (), "bunx": (), "pnpx": (), "docker": ("compose", "exec", "run"), "dotenv": (),
    "cross-env": (), "coverage": ("run",), "xvfb-run": (), "watch": (),
}  # fmt: skip
"""Programs that start another one, with their words before it."""
_TWO_WORDS = frozenset(
    "npm yarn pnpm bun cargo go make mvn mvnw gradle gradlew dotnet rake just task mix deno swift node ruff bazel composer"
    " flutter dart sbt lein stack cabal zig nx turbo terraform docker kubectl pip alembic prisma rails php manage.py".split()
)
_CHECKS = re.compile(
    r"(?:py\.?test|unittest|nose2?|tox|nox|jest|vitest|mocha|ava|tap|karma|cypress|playwright|rspec|minitest|phpunit|pest|ctest"
    r"|ruff|mypy|pyright|flake8|pylint|black|isort|eslint|tsc|prettier|biome|clippy|golangci-lint|shellcheck|rubocop|stylelint"
    r"|gcc|g\+\+|clang|javac|rustc|cmake|ninja|webpack|vite|rollup|esbuild|next)\b"
    r"|\S+ (?:run )?(?:test|tests|t|check|lint|build|typecheck|vet|clippy|compile|package|verify|ci|fmt|spec|e2e|validate|plan)\b"
    r"|make\b|manage\.py test|rails test"
)


_ONE_SUMMARY = frozenset(
    "pytest py.test unittest jest vitest mocha ava rspec phpunit pest node deno bun ctest rails mix".split()
)
"""Runners with one summary line for all tests; others have one for each package or target."""
_KEEP_THE_END = frozenset(["tail", "tee", "cat", "less", "more", "nl"])


class Run(NamedTuple):
    """What a command line runs: its program, and the words that choose what of it."""

    runner: str
    targets: frozenset[str]
    check: bool
    """Whether it tests, builds or checks the project."""
    sure: bool = True
    """Whether the exit code of the command line is 0 only if it, and all its checks, passed."""
    selected: bool = False
    """Whether the output may lack what says that a part of it failed."""


def run_of(steps: list[Step]) -> Run:
    """Return what the last command runs that isn't only looking at something."""
    real = [step for step in steps if not only_looks([step])] or steps
    if not real:
        return Run("", frozenset(), check=False)
    runs = [(_run(step), step) for step in real]
    checks = [(run, step) for run, step in runs if run.check] or runs[-1:]
    return checks[-1][0]._replace(
        sure=all(shell.tells(steps, step) for _, step in checks),
        selected=any(_selected(run, shell.filters(steps, step)) for run, step in checks),
    )


def _selected(run: Run, filters: list[str]) -> bool:
    """Tell whether filters may hide a failure: `tail` keeps the end, where each runner names it."""
    whole = run.runner.partition(" ")[0] in _ONE_SUMMARY
    return not whole and any(one not in _KEEP_THE_END for one in filters)


def _run(step: Step) -> Run:
    words = step.arguments
    while words and (name := _name(words[0])) in _STARTERS and len(words) > 1:
        rest = words[1:]
        while rest and (rest[0] in _STARTERS[name] or rest[0].startswith("-")):
            rest = rest[1:]
        if not rest or (name == "docker" and "exec" not in words and "run" not in words):
            break
        words = rest
    if len(words) > 2 and re.match(r"(?:python|py)[\d.]*$", _name(words[0])) and words[1] == "-m":  # noqa: PLR2004
        words = words[2:]
    elif (
        len(words) > 1
        and _name(words[0]) in ("python", "python3")
        and words[1].endswith("manage.py")
    ):
        words = words[1:]
    if not words:
        return Run("", frozenset(), check=False)
    name = _name(words[0])
    if name == "node" and "--test" in words:
        words = [name, "test", *(word for word in words[1:] if word != "--test")]
    rest = [word for word in words[1:] if not word.startswith("-")]
    if name in _TWO_WORDS and rest:
        taken = 2 if rest[0] == "run" and len(rest) > 1 else 1
        name, rest = " ".join([name, *rest[:taken]]), rest[taken:]
    return Run(name, frozenset(rest), check=bool(_CHECKS.match(name)))


def _name(word: str) -> str:
    return word.replace("\\", "/").rpartition("/")[2].removesuffix(".exe")


def covers(now: Run, then: Run, where: str) -> bool:
    """Tell whether a run covers what an earlier one did, or the place where that failed."""
    if now.runner != then.runner:
        return False
    if not now.targets or now.targets == then.targets:
        return True
    return any(where.startswith(target.removeprefix("./")) for target in now.targets) or (
        bool(then.targets) and then.targets <= now.targets
    )
