"""What a start may cost: only what the command needs is loaded."""

import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from .conftest import Run, command, environment

HEAVY = frozenset(
    ["rich", "numpy", "networkx", "yaml", "frontmatter", "markdown_it", "usearch", "tokenizers",
     "watchdog", "tantivy", "sqlite3", "asyncio", "logging", "importlib.metadata", "blake3", "jinja2",
     "starlette", "uvicorn", "anyio", "memory_bank.frontends.web"]
)  # fmt: skip


def loaded(project: Path, args: Sequence[str]) -> set[str]:
    """Return the modules that a command line imports."""
    code = (
        "import sys\n"
        "from memory_bank.frontends.cli.main import run\n"
        f"run({list(args)!r})\n"
        "print(*sys.modules, file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=project,
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stderr.splitlines()[-1].split())


@pytest.mark.parametrize(
    "args",
    [
        ["-h"], ["--help"], ["help", "--all"], ["--version"], ["serve", "-h"], ["recal"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_help_of_the_program_and_unknown_commands_load_no_operation_and_nothing_heavy(
    project: Path, args: list[str]
) -> None:
    rooms = ("memory", "sessions", "trust", "code", "bank", "search", "review", "agents", "shared")
    found = loaded(project, args)
    assert found & HEAVY == set()
    assert found.isdisjoint({f"memory_bank.{room}" for room in rooms})
    assert "click" not in found or args != ["-h"]


@pytest.mark.parametrize(
    ("args", "module"),
    [(["recall", "-h"], "memory.retrieval.recall"), (["search", "-x"], "sessions.observations")],
)
def test_help_and_wrong_use_of_a_command_load_its_own_module_only(
    project: Path, args: list[str], module: str
) -> None:
    found = loaded(project, args)
    assert f"memory_bank.{module}" in found
    assert found.isdisjoint({f"memory_bank.{room}" for room in ("review", "agents", "shared")})


def test_a_plain_question_loads_what_it_needs(mb: Run, project: Path) -> None:
    time.sleep(0.2)  # what is younger than 0.1 s is read again by the next command
    assert mb("sync").code == 0
    mb("recall", "tantivy")  # the first question compares the code that notes cite
    needed = {"sqlite3", "tantivy", "blake3"}
    for args in (["recall", "tantivy", "--mode", "lexical"], ["notes"], ["tags"]):
        found = loaded(project, args)
        assert found & (HEAVY - needed) == set(), args
        assert found.isdisjoint(
            {"memory_bank.code.parse.parsing", "memory_bank.shared.engines.base", "tempfile"}
        )
        if args[0] == "recall":
            assert found.isdisjoint({"memory_bank.memory.records", "memory_bank.bank.revisions"})


def test_a_note_is_written_without_vectors_which_the_next_question_makes(
    mb: Run, project: Path, default_embedder: None
) -> None:
    mb("sync")
    for text in ("Kestrels hover above the meadow", "Ferries leave the harbour at noon"):
        modules = loaded(project, ["remember", text])
        assert modules.isdisjoint(
            {"numpy", "usearch", "tokenizers", "memory_bank.memory.maintenance"}
        )
    answer = mb("recall", "a bird of prey in the air", "--mode", "semantic", "--json").json
    assert answer["notes"][0]["title"].startswith("Kestrels")
    assert "problem" not in answer


@pytest.mark.slow
def test_help_costs_little_more_than_click() -> None:
    lines = {"help": command(["-h"]), "click": [sys.executable, "-c", "import click"]}
    spent: dict[str, list[float]] = {name: [] for name in lines}
    for _ in range(9):  # in turn, so that both meet the same machine
        for name, line in lines.items():
            spent[name].append(seconds(line))
    # twice; the least time is the one that neighbours disturbed least
    assert min(spent["help"]) < 3 * min(spent["click"])


def seconds(line: list[str]) -> float:
    """Return the processor time of a process, which neighbours disturb less than its wall time."""
    resource = pytest.importorskip("resource")  # Windows has none

    def spent() -> float:
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return float(usage.ru_utime + usage.ru_stime)

    before = spent()
    subprocess.run(line, env=environment(), stdout=subprocess.DEVNULL, check=True)
    return spent() - before
