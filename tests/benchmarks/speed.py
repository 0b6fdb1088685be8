"""How fast a bank is built, asked and kept up, as ratios to the bare library calls of the same run.

python -m tests.benchmarks.speed --notes 1000,10000
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from memory_bank import Bank, open_bank, recall
from tests.benchmarks import corpus
from tests.benchmarks.bare import Bare, cold_script

_QUERIES = 60


class Table:
    """Prints a row for each piece of work: ours, the bare cost, and the ratio."""

    def __init__(self, notes: int, size: int) -> None:
        print(f"\n{notes} notes, {size / 1e6:.1f} MB\n")
        print("| work | ours | bare | ratio |\n|---|---|---|---|")

    def row(self, work: str, ours: float, bare: float) -> None:
        """Print times in milliseconds and their ratio."""
        print(
            f"| {work} | {ours * 1000:.1f} ms | {bare * 1000:.1f} ms | {ours / bare:.2f} |",
            flush=True,
        )

    def note(self, work: str, text: str) -> None:
        """Print a figure that is no ratio of times."""
        print(f"| {work} | {text} | | |", flush=True)


def timed(work: Callable[[], object]) -> float:
    """Return the seconds a call takes."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def best(work: Callable[[], object], times: int = 5) -> float:
    """Return the least seconds of several calls: the others were disturbed."""
    return min(timed(work) for _ in range(times))


def run(notes: int, work: Path) -> None:
    """Measure one size of bank."""
    folder = work / f"notes-{notes}"
    size = corpus.make(folder, notes)
    table = Table(notes, size)
    bare = Bare(folder, work / f"bare-{notes}")
    bare_build = timed(bare.build)
    with open_bank(folder) as bank:
        table.row("full build", timed(bank.sync), bare_build)
        table.note("index on disk / notes", f"{_disk(bank.layout.index) / size:.2f}")
        _warm(table, bank, bare)
        table.row("sync, nothing changed", best(bank.catch_up), best(bare.walk))
        _edits(table, bank, bare, folder)
    _cold(table, folder, bare)


def _warm(table: Table, bank: Bank, bare: Bare) -> None:
    asked = corpus.questions(_QUERIES)
    for question in asked[:5]:
        recall(bank, question, count_access=False)
        bare.query(question)
    for mode in ("lexical", "hybrid"):
        ours = [
            timed(lambda q=q, m=mode: recall(bank, q, 10, m, count_access=False)) for q in asked
        ]
        them = [timed(lambda q=q, m=mode: bare.query(q, meaning=m == "hybrid")) for q in asked]
        table.row(f"warm {mode} recall, p50", statistics.median(ours), statistics.median(them))
        table.row(f"warm {mode} recall, p95", _p95(ours), _p95(them))


def _edits(table: Table, bank: Bank, bare: Bare, folder: Path) -> None:
    ours, them = [], []
    for number in range(12):
        file = folder / "area1" / "note-1.md"
        file.write_text(f"# Note\n\nedited xylograph{number} here\n", encoding="utf-8")
        started = time.perf_counter()
        found = recall(bank, f"xylograph{number}", 1, "lexical", count_access=False)
        ours.append(time.perf_counter() - started)
        assert found.result_count == 1
        them.append(timed(lambda n=number: bare.edit("note-1.md#0", f"edited xylograph{n} here")))
    table.row("one note edited, searchable", statistics.median(ours), statistics.median(them))


def _cold(table: Table, folder: Path, bare: Bare) -> None:
    question = corpus.questions(1)[0]
    for mode in ("lexical", "hybrid"):
        words = ["-m", "memory_bank", "recall", question, "--mode", mode, "--bank", str(folder)]
        ours = best(lambda w=words: _python(w))
        script = cold_script(bare.index, question, meaning=mode == "hybrid")
        table.row(f"cold {mode} recall in a pipe", ours, best(lambda s=script: _python(s)))
    table.row(
        "memory-bank -h",
        best(lambda: _python(["-m", "memory_bank", "-h"])),
        best(lambda: _python(["-c", ""])),
    )


def _python(words: Sequence[str]) -> None:
    subprocess.run([sys.executable, *words], check=False, capture_output=True, env={**os.environ})


def _p95(values: Sequence[float]) -> float:
    return sorted(values)[int(len(values) * 0.95)]


def _disk(folder: Path) -> int:
    return sum(
        file.stat().st_size
        for file in folder.rglob("*")
        if file.is_file() and "vectors" not in file.parts
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--notes", default="1000")
    options = parser.parse_args()
    print(f"Python {sys.version.split()[0]}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory() as work:
        os.environ["XDG_STATE_HOME"] = f"{work}/state"
        for notes in options.notes.split(","):
            run(int(notes), Path(work))


if __name__ == "__main__":
    main()
