"""Ask of 60 small faults whether any test notes them: fifteen a room, chosen by mutmut 3.8.1.

    python -m tests.benchmarks.mutants choose         # needs mutmut; writes mutants.json
    python -m tests.benchmarks.mutants cover FOLDER   # the README's tests, and the lines of each
    python -m tests.benchmarks.mutants kill FOLDER    # each fault, by the tests of its line

A fault is kept as text, not as a number of a line, so that it outlives moves; one whose line is
there no more is told as gone. `kill` works in a clone, and asks forty tests at most: those that
cover fewest lines, the fastest of them first.
"""

import ast
import json
import os
import random
import re
import sqlite3
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import coverage
import pytest
from coverage.numbits import numbits_to_nums

ROOT = Path(__file__).parents[2]
LIST = Path(__file__).with_name("mutants.json")
ROOMS = ("notes/storage", "search", "sessions", "trust")
SEED = 31
EACH = 15
MOST = 40
SAME = 3
"""Tests asked that differ by their parameters only."""

_CONFIGURATION = """\
[run]
branch = false
source = memory_bank
parallel = true
patch =
    fork
    _exit
context = ${COVERED_BY-}
data_file = %s/data
relative_files = true
"""
_SPENT = "spent.json"


class Mutant(NamedTuple):
    """One changed line of a function."""

    file: str
    function: str
    before: str
    after: str
    number: int
    """Which of the function's lines with this text, from 0."""


class Place(NamedTuple):
    """Where a mutant's line is now."""

    file: Path
    line: int
    statement: int
    """The first line of the statement, which is the one that coverage knows."""


def choose() -> None:
    """Write the list: for each room, the first of mutmut's in an order made by the seed."""
    chosen = [mutant._asdict() for room in ROOMS for mutant in _chosen(room)]
    LIST.write_text(json.dumps(chosen, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _chosen(room: str) -> list[Mutant]:
    from libcst import parse_module
    from libcst.metadata import MetadataWrapper
    from mutmut.mutation.file_mutation import MutationVisitor, deep_replace
    from mutmut.mutation.mutators import mutation_operators
    from mutmut.mutation.pragma_handling import IgnoredCode

    made = []
    for file in sorted((ROOT / "memory_bank" / room).rglob("*.py")):
        visitor = MutationVisitor(mutation_operators, IgnoredCode(set(), set(), set()))
        module = MetadataWrapper(parse_module(file.read_text(encoding="utf-8"))).visit(visitor)
        made += [(file, module, mutation) for mutation in visitor.mutations]
    random.Random(SEED).shuffle(made)
    chosen: list[Mutant] = []
    for file, module, mutation in made:
        changed = deep_replace(module, mutation.original_node, mutation.mutated_node)
        mutant = _mutant(file, module.code, changed.code)
        if mutant and mutant not in chosen:
            chosen.append(mutant)
        if len(chosen) == EACH:
            break
    return chosen


def _mutant(file: Path, before: str, after: str) -> Mutant | None:
    """Return what differs, if it is one line of a function."""
    old, new = before.splitlines(), after.splitlines()
    differing = [
        number for number, pair in enumerate(zip(old, new, strict=False)) if len(set(pair)) > 1
    ]
    if len(old) != len(new) or len(differing) != 1:
        return None
    line = differing[0]
    around = [
        (name, node) for name, node in _functions(before) if node.lineno <= line < node.end_lineno
    ]
    if not around:
        return None
    name, node = around[-1]
    number = old[node.lineno - 1 : line].count(old[line])
    return Mutant(file.relative_to(ROOT).as_posix(), name, old[line], new[line], number)


def _functions(code: str) -> list[tuple[str, Any]]:
    """Name the functions of a module, outer ones first."""
    found = []

    def visit(node: ast.AST, name: str) -> None:
        for child in ast.iter_child_nodes(node):
            named = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
            inner = f"{name}.{child.name}".lstrip(".") if named else name  # type: ignore[attr-defined]
            if named and not isinstance(child, ast.ClassDef):
                found.append((inner, child))
            visit(child, inner)

    visit(ast.parse(code), "")
    return found


def place_of(mutant: Mutant, root: Path) -> Place | None:
    """Find a mutant's line: in its file, else in a function of its name anywhere in the package."""
    named = mutant.function.rpartition(".")[2]
    files = sorted(
        (root / "memory_bank").rglob("*.py"), key=lambda file: file != root / mutant.file
    )
    for file in files:
        code = file.read_text(encoding="utf-8")
        if mutant.before.strip() not in code or f"def {named}(" not in code:
            continue
        lines = code.splitlines()
        for name, node in _functions(code):
            span = range(node.lineno - 1, node.end_lineno)
            same = [line for line in span if lines[line].strip() == mutant.before.strip()]
            if name.rpartition(".")[2] == named and len(same) > mutant.number:
                line = same[mutant.number] + 1
                around = [
                    part.lineno
                    for part in ast.walk(node)
                    if isinstance(part, ast.stmt) and part.lineno <= line <= (part.end_lineno or 0)
                ]
                return Place(file, line, max(around))
    return None


def cover(folder: Path) -> None:
    """Run the tests as the README does, and keep which test runs which line."""
    folder.mkdir(parents=True)
    configuration = folder / "coverage.ini"
    configuration.write_text(_CONFIGURATION % folder, encoding="utf-8")
    environment = {
        **os.environ, "COVERAGE_PROCESS_START": str(configuration), "PYTHONPATH": str(ROOT),
        "COVERED_SPENT": str(folder / _SPENT),
    }  # fmt: skip
    tests = [sys.executable, "-m", "pytest", "-q", "-p", "tests.benchmarks.mutants"]
    subprocess.run(tests, cwd=ROOT, env=environment, check=False)
    for words in (["combine", "-q"], ["report", "--format=total", "--precision=2"]):
        command = [sys.executable, "-m", "coverage", *words, f"--rcfile={configuration}"]
        subprocess.run(command, cwd=ROOT, check=False)  # a killed process leaves half a file


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Keep each test's lines under its name, in the processes that it starts, too."""
    os.environ["COVERED_BY"] = item.nodeid
    if measured := coverage.Coverage.current():
        measured.switch_context(item.nodeid)
    return (yield)


_spent: dict[str, float] = {}
_failed: set[str] = set()


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Add up how long each test takes."""
    _spent[report.nodeid] = _spent.get(report.nodeid, 0) + report.duration
    if report.outcome != "passed":
        _failed.add(report.nodeid)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write how long each test took that passed."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        passed = {name: spent for name, spent in _spent.items() if name not in _failed}
        Path(os.environ["COVERED_SPENT"]).write_text(json.dumps(passed), encoding="utf-8")


class Covering:
    """Which tests run a line."""

    def __init__(self, folder: Path) -> None:
        self.spent: dict[str, float] = json.loads((folder / _SPENT).read_text(encoding="utf-8"))
        self._ask = sqlite3.connect(folder / "data").execute
        names: dict[int, str] = dict(self._ask("SELECT id, context FROM context"))
        # a forked process has the name of its server's first test before its own
        self._names = {key: re.sub(r"^.*\|(?=tests/)", "", name) for key, name in names.items()}
        self._width: Counter[str] = Counter()
        for key, bits in self._ask("SELECT context_id, numbits FROM line_bits"):
            self._width[self._names[key]] += len(numbits_to_nums(bits))

    def tests(self, file: str, line: int) -> list[str]:
        """Return the tests to ask, the fastest first."""
        rows = self._ask(
            "SELECT context_id, numbits FROM line_bits JOIN file ON file.id = file_id WHERE path = ?",
            [file],
        )
        found = {self._names[key] for key, bits in rows if line in numbits_to_nums(bits)}
        chosen: list[str] = []
        alike: Counter[str] = Counter()
        for name in sorted(found & self.spent.keys(), key=lambda name: (self._width[name], name)):
            alike[name.partition("[")[0]] += 1
            if alike[name.partition("[")[0]] <= SAME:
                chosen.append(name)
        return sorted(chosen[:MOST], key=self.spent.__getitem__)


def kill(folder: Path) -> None:
    """Print of each mutant whether a test notes it."""
    covering = Covering(folder)
    told: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as made:
        clone = Path(made) / "checkout"
        subprocess.run(["git", "clone", "-q", str(ROOT), str(clone)], check=True)
        if (ROOT.parent / "shared").exists():
            (Path(made) / "shared").symlink_to((ROOT.parent / "shared").resolve())
        for row in json.loads(LIST.read_text(encoding="utf-8")):
            mutant = Mutant(**row)
            place = place_of(mutant, clone)
            end, why = _end(mutant, place, covering, clone) if place else ("gone", "")
            told[end] += 1
            print(
                end, mutant.file, mutant.function, why, mutant.after.strip(), sep="\t", flush=True
            )
    print(*(f"{count} {end}" for end, count in told.items()), sep=", ")


def _end(mutant: Mutant, place: Place, covering: Covering, clone: Path) -> tuple[str, str]:
    """Apply a mutant and run its tests; tell what came of it, and why."""
    file = place.file.relative_to(clone).as_posix()
    tests = covering.tests(file, place.line) or covering.tests(file, place.statement)
    if not tests:
        return "survived", "no test"
    text = place.file.read_text(encoding="utf-8")
    lines = text.splitlines(keepends=True)
    line = lines[place.line - 1]
    lines[place.line - 1] = line.replace(mutant.before.strip(), mutant.after.strip())
    place.file.write_text("".join(lines), encoding="utf-8")
    try:
        return _run(tests, clone, 60 + 5 * sum(covering.spent[name] for name in tests))
    finally:
        place.file.write_text(text, encoding="utf-8")


def _run(tests: list[str], clone: Path, seconds: float) -> tuple[str, str]:
    names = clone.parent / "tests.txt"
    names.write_text("".join(f"{name}\n" for name in tests), encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-xq", "-n0", "-m", "", "-p", "no:cacheprovider"]
    environment = {**os.environ, "PYTHONPATH": str(clone)}
    try:
        done = subprocess.run(
            [*command, f"@{names}"], cwd=clone, env=environment, timeout=seconds,
            capture_output=True, text=True, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return "killed", f"after {seconds:.0f} seconds"
    if done.returncode == 0:
        return "survived", f"{len(tests)} tests"
    if "ERROR: not found" in done.stdout + done.stderr:
        raise SystemExit(done.stdout[-2000:] + done.stderr[-2000:])
    noted = re.search(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
    return "killed", noted[1] if noted else f"pytest ended with {done.returncode}"


if __name__ == "__main__":
    {"choose": choose, "cover": cover, "kill": kill}[sys.argv[1]](
        *(Path(word).resolve() for word in sys.argv[2:])
    )
