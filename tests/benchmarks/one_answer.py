"""`python -m tests.benchmarks.one_answer REPOSITORY NAME...`: what an agent reads before a change.

For each symbol, the text of `explain_symbol` for agents, beside what five commands print that find
the same: all places of its name, its definition, the commits of its file with their messages, the
commits that added or removed the name, and the tests and documents that have it. Tokens are
characters by four.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from statistics import median

from memory_bank.bank.bank import Bank, open_bank
from memory_bank.base.errors import NoBank
from memory_bank.base.text import Quotes
from memory_bank.code import told
from memory_bank.code.explain_symbol import explain_symbol
from memory_bank.code.index.codebase import Codebase, open_codebase
from memory_bank.code.records import ExplainedSymbol

_PARTS = ("called_by", "reasons", "tests", "coupled", "notes")


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
                found = explain_symbol(code, name, bank, count_access=False)
                ours.append(len(told.explained(found, Quotes())) // 4)
                theirs.append(sum(map(len, _commands(code, found))) // 4)
                parts = ", ".join(one for one in _PARTS if _has(found, one))
                print(f"{name:36} {ours[-1]:7,} {theirs[-1]:9,}  {parts}")
            if bank:
                bank.close()
    print(f"{'median; most':36} {median(ours):7,.0f} {median(theirs):9,.0f}; {max(ours):,}")


def _bank(repository: Path) -> Bank | None:
    try:
        return open_bank(repository, settings={"memory.embedder": "none"})
    except NoBank:
        return None


def _has(found: ExplainedSymbol, part: str) -> bool:
    if part == "reasons":
        return any(one.reason for one in found.commits)
    if part == "notes":
        return bool(found.notes or found.file_notes or found.rules)
    return bool(found.details.called_by if part == "called_by" else getattr(found, part))


def _commands(code: Codebase, found: ExplainedSymbol) -> list[str]:
    one = found.details.symbol
    name = one.name.rpartition(".")[2]
    search = ["rg", "-n", "-w"] if shutil.which("rg") else ["git", "grep", "-n", "-w"]
    return [
        _run(code.root, *search, name),
        _run(code.root, "sed", "-n", f"{one.line},{one.end_line}p", one.path),
        _run(code.root, "git", "log", "-n", "10", "--format=%h %as %s%n%b", "--", one.path),
        _run(code.root, "git", "log", "-n", "10", "--format=%h %as %s", "-S", name, "--", one.path),
        _run(code.root, *search, name, "--", "tests", "test", "docs", ".memories"),
    ]


def _run(root: Path, *command: str) -> str:
    done = subprocess.run(command, cwd=root, capture_output=True, check=False, timeout=120)
    return done.stdout.decode("utf-8", "replace")


if __name__ == "__main__":
    main()
