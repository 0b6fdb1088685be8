"""`python -m tests.benchmarks.one_answer REPOSITORY NAME...`: what an agent reads before a change.

For each symbol, the text of `explain_symbol` for agents, beside what five commands print that find
the same: all places of its name, its definition, the commits of its file with their messages, the
commits that added or removed the name, and the tests and documents that have it. A name such as
`FILE:LINE` is asked with `why`, which needs a bank in the repository; the fourth command is then
the history of the line. Tokens are characters by four.
"""

import argparse
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from statistics import median
from typing import NamedTuple

from memory_bank.bank.bank import Bank, open_bank
from memory_bank.base.errors import NoBank
from memory_bank.base.text import Quotes
from memory_bank.base.view import write_agent
from memory_bank.code.explain_symbol import explain_symbol
from memory_bank.code.index.codebase import Codebase, open_codebase
from memory_bank.code.records import SymbolRow
from memory_bank.code.views import view_explained
from memory_bank.memory.why import view_why, why


def main() -> None:
    """Print a row for each symbol, and the medians."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("repository", type=Path)
    options.add_argument("name", nargs="+")
    asked = options.parse_args()
    print(f"{'symbol':36} {'tokens':>7} {'commands':>9}  parts")
    ours, theirs = [], []
    with tempfile.TemporaryDirectory() as work:
        os.environ["XDG_CACHE_HOME"] = f"{work}/cache"
        with open_codebase(asked.repository) as code:
            bank = _bank(asked.repository)
            for name in asked.name:
                if bank and ":" in name:
                    told, commands, parts = _line(bank, code, name)
                else:
                    told, commands, parts = _symbol(bank, code, name)
                ours.append(len(told) // 4)
                theirs.append(sum(map(len, commands)) // 4)
                print(f"{name:36} {ours[-1]:7,} {theirs[-1]:9,}  {', '.join(parts)}")
            if bank:
                bank.close()
    print(f"{'median; most':36} {median(ours):7,.0f} {median(theirs):9,.0f}; {max(ours):,}")


def _bank(repository: Path) -> Bank | None:
    try:
        return open_bank(repository, settings={"memory.embedder": "none"})
    except NoBank:
        return None


class _Answer(NamedTuple):
    told: str
    commands: list[str]
    parts: list[str]
    """What the answer has."""


def _symbol(bank: Bank | None, code: Codebase, name: str) -> _Answer:
    found = explain_symbol(code, name, bank, count_access=False)
    has = {
        "called_by": found.details.called_by,
        "reasons": [one for one in found.commits if one.reason],
        "tests": found.tests,
        "coupled": found.coupled,
        "notes": [*found.notes, *found.file_notes, *found.rules],
    }
    last = found.details.symbol.name.rpartition(".")[2]
    commands = _commands(code, found.details.symbol, "-S", last, "--", found.details.symbol.path)
    return _Answer(
        write_agent(view_explained(found), Quotes()), commands, [one for one in has if has[one]]
    )


def _line(bank: Bank, code: Codebase, name: str) -> _Answer:
    path, _, line = name.rpartition(":")
    found = why(bank, str(code.root / path) + f":{line}", code=code)
    has = {
        "definition": found.definition,
        "called_by": found.called_by,
        "reasons": [one for one in found.behind if one.reason],
        "tests": found.tests,
        "coupled": found.coupled,
        "notes": [one for one in found.behind if one.kind == "note"] or found.rules,
    }
    around = found.definition
    commands = _commands(code, around, "-L", f"{line},{line}:{path}") if around else []
    return _Answer(
        write_agent(view_why(found), Quotes()), commands, [one for one in has if has[one]]
    )


def _commands(code: Codebase, one: SymbolRow, *history: str) -> list[str]:
    name = one.name.rpartition(".")[2]
    search = ["rg", "-n", "-w"] if shutil.which("rg") else ["git", "grep", "-n", "-w"]
    return [
        _run(code.root, *search, name),
        _run(code.root, "sed", "-n", f"{one.line},{one.end_line}p", one.path),
        _run(code.root, "git", "log", "-n", "10", "--format=%h %as %s%n%b", "--", one.path),
        _run(code.root, "git", "log", "-n", "10", "--format=%h %as %s", *history),
        _run(code.root, *search, name, "--", "tests", "test", "docs", ".memories"),
    ]


def _run(root: Path, *command: str) -> str:
    done = subprocess.run(command, cwd=root, capture_output=True, check=False, timeout=120)
    return done.stdout.decode("utf-8", "replace")


if __name__ == "__main__":
    main()
