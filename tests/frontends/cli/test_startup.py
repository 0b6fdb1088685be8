"""What a start may cost: only what the command needs is loaded."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from .conftest import Run, command, environment

HEAVY = frozenset(
    ["rich", "numpy", "networkx", "yaml", "frontmatter", "markdown_it", "usearch", "tokenizers",
     "watchdog", "tantivy", "sqlite3", "asyncio", "logging", "importlib.metadata", "blake3"]
)  # fmt: skip


LOADED = "print(' '.join(sys.modules), file=sys.stderr)"
COMPILED = """
from typing import ForwardRef
print(*(
    f"{name}.{kind}"
    for name, module in sorted(sys.modules.items()) if name.startswith("memory_bank")
    for kind, found in vars(module).items() if isinstance(found, type)
    if any(isinstance(hint, ForwardRef) for hint in vars(found).get("__annotations__", {}).values())
), file=sys.stderr)
"""


def loaded(project: Path, args: Sequence[str], told: str = LOADED) -> set[str]:
    """Return the modules that a command line imports, or what else is told of them."""
    code = (
        "import sys\n"
        "from memory_bank.frontends.cli._outermost import run\n"
        f"run({list(args)!r})\n"
        "print(file=sys.stderr)\n"
        f"{told}\n"
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


@pytest.mark.parametrize("args", [["-h"], ["--help"], ["--version"], ["recall", "-h"], ["recal"]])
def test_help_loads_nothing_heavy(project: Path, args: list[str]) -> None:
    found = loaded(project, args)
    assert found & HEAVY == set()
    assert found & {"json", "pathlib", "shutil", "tempfile", "memory_bank.config"} == set()


def test_a_command_loads_no_other_command(project: Path) -> None:
    found = loaded(project, ["recall", "-h"])
    mine = {
        name.rpartition(".")[2] for name in found if name.startswith("memory_bank.frontends.cli.")
    }
    assert {name for name in mine if not name.startswith("_")} == {"recall"}


@pytest.mark.parametrize("args", [["recall", "tantivy", "--mode", "lexical"], ["notes"], ["tags"]])
def test_a_plain_question_loads_what_it_needs(real: Run, project: Path, args: list[str]) -> None:
    assert real("sync").code == 0
    needed = {"sqlite3", "tantivy", "blake3"}
    assert loaded(project, args) & (HEAVY - needed) == set()


def test_a_plain_question_compiles_no_type_of_a_field(real: Run, project: Path) -> None:
    assert real("sync").code == 0
    assert loaded(project, ["recall", "tantivy", "--mode", "lexical"], COMPILED) == set()


def test_help_costs_little_more_than_click() -> None:
    lines = {"help": command(["-h"]), "click": [sys.executable, "-c", "import click"]}
    spent: dict[str, list[float]] = {name: [] for name in lines}
    for _ in range(9):  # in turn, so that both meet the same machine
        for name, line in lines.items():
            spent[name].append(seconds(line))
    # twice when alone; the other core is busy when tests run side by side
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
