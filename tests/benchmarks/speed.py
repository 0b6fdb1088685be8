"""How fast a bank is built, asked and kept up, as ratios to the bare library calls of the same run.

python -m tests.benchmarks.speed --notes 10000
python -m tests.benchmarks.speed --sections 100000 --keep DIR --only warm,edit
"""

import argparse
import compileall
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import memory_bank
from memory_bank.bank.bank import Bank, open_bank
from memory_bank.memory.overview import stats
from memory_bank.memory.retrieval.recall import recall
from tests.benchmarks import corpus, edits, serving
from tests.benchmarks.bare import COLD, Bare
from tests.benchmarks.collections import Notes
from tests.benchmarks.places import made, ready
from tests.benchmarks.rivals import Fts5, Ripgrep
from tests.benchmarks.timing import Table, in_turn, percentile, timed

_QUERIES = 60


@dataclass
class Place:
    """A bank of made-up notes, opened, with the bare indices of the same notes."""

    notes: int
    size: int
    folder: Path
    bank: Bank
    bare: Bare
    table: Table


def build(place: Place) -> None:
    """Make both indices from nothing."""
    place.bank.close()
    shutil.rmtree(place.folder / ".index", ignore_errors=True)
    for file in place.folder.rglob("*.md"):
        file.read_bytes()  # or whoever builds first would wait for the disk, and be the bare one
    spent = place.bare.build()
    place.bare.open()
    ours = timed(place.bank.sync)
    place.table.speed("full build, share of the bare speed", ours, sum(spent.values()), 0.6)
    parts = ", ".join(f"{name} {seconds:.2f} s" for name, seconds in spent.items())
    place.table.aside("… the bare sum", "", parts)


def disk(place: Place) -> None:
    """Weigh the index beside the notes."""
    index = place.bank.layout.index
    everything = _weight(index)
    vectors = _weight(index / "vectors")
    parts = {one.name: _weight(one) for one in sorted(index.iterdir())}
    ours = ", ".join(f"{name} {size / 1e6:.1f}" for name, size in parts.items() if size > 50_000)
    said = f"{ours} MB; notes {place.size / 1e6:.1f} MB"
    figure = (everything - vectors) / place.size
    place.table.size("index without vectors / notes", said, figure, 1.5, "×")
    whole = everything / (place.size + vectors)
    place.table.aside("… whole index / (notes + vectors)", f"{whole:.2f}×")


def warm(place: Place) -> None:
    """Ask in a process that has the bank open; of three tries of a question the least counts."""
    bank, bare = place.bank, place.bare
    asked = corpus.questions(_QUERIES)
    for question in asked[:5]:
        recall(bank, question, count_access=False)
        bare.query(question)
    for mode, most, worst in (("hybrid", 1.5, 3.0), ("lexical", None, None)):
        pairs = [
            in_turn(
                lambda q=question, m=mode: recall(bank, q, 10, m, count_access=False),
                lambda q=question, m=mode: bare.query(q, meaning=m == "hybrid"),
                3,
            )
            for question in asked
        ]
        ours, them = [one for one, _ in pairs], [other for _, other in pairs]
        medians = statistics.median(ours), statistics.median(them)
        place.table.ratio(f"warm {mode} recall, p50", *medians, most)
        ends = percentile(ours, 0.95), percentile(them, 0.95)
        place.table.ratio(f"warm {mode} recall, p95", *ends, worst)


def sync(place: Place) -> None:
    """Look for changes where there are none."""
    place.bank.sync()
    place.table.ratio("sync, nothing changed", *in_turn(place.bank.sync, place.bare.walk, 7), 2.0)
    pair = in_turn(place.bank.catch_up, place.bare.walk, 7)
    place.table.ratio("… the catch-up before an answer", *pair)


def edit(place: Place) -> None:
    """Change one note after the other and ask for what was written."""
    ((ours, bare),) = edits.measure([(place.bank, place.bare)])
    place.table.ratio("one note edited → searchable", ours, bare, 3.0)


def cold(place: Place) -> None:
    """Ask from a new process whose output goes into a pipe, its catch-up included."""
    question = corpus.questions(1)[0]
    for mode, most in (("lexical", 2.5), ("hybrid", 1.6)):
        words = ["recall", question, "--mode", mode, "--bank", str(place.folder)]
        script = bare_script(place.bare.index, question, mode)
        pair = in_turn(
            lambda w=words: run_process([*_program(), *w]), lambda s=script: run_process(s), 9
        )
        place.table.ratio(f"cold {mode} recall in a pipe", *pair, most)
    ripgrep = shutil.which("rg")
    if ripgrep is None:
        place.table.aside("… rg over the same files", "not installed")
        return
    patterns = [part for word in question.split() for part in ("-e", word)]
    line = [ripgrep, "-liF", *patterns, str(place.folder)]
    spent = min(timed(lambda: run_process(line)) for _ in range(9))
    place.table.aside("… rg -liF over the same files", f"{1000 * spent:.1f} ms")


def memory(place: Place) -> None:
    """Weigh a process that has answered questions of both modes."""
    if not Path("/proc/self/smaps_rollup").exists():
        place.table.aside("resident memory", "not measured on this system")
        return
    asked = corpus.questions(_QUERIES)
    place.bank.close()
    _weigh(place, "a process of the Python API", serving.by_python(place.folder, asked))
    if True:
        server = serving.by_server(_program(), place.folder, asked)
        _weigh(place, "the server for agents", server)


def _weigh(place: Place, work: str, found: serving.Weights) -> None:
    said = f"PSS {found['Pss']:.0f} MB, peak {found['VmHWM']:.0f} MB"
    place.table.size(f"resident memory of {work}", said, found["Rss"], 250, " MB")


def mcp(place: Place) -> None:
    """Ask over MCP, beside qmd's BM25, ripgrep and SQLite FTS5 on the same files."""
    asked = corpus.questions(_QUERIES + 5)
    spent = {"recall over MCP": serving.times(_program(), place.folder, asked)}
    qmd = shutil.which("qmd")
    if qmd is not None:
        work = place.folder.parent
        spent["qmd's BM25 over MCP"] = serving.times_of_qmd(qmd, place.folder, work, asked)
    notes = Notes("speed", (), place.folder)
    for name, make in (("ripgrep", Ripgrep), ("SQLite FTS5", Fts5)):
        with suppress(LookupError):
            rival = make(notes, place.folder.parent)
            spent[name] = [timed(lambda q=q, r=rival: r.ask(q, 5)) for q in asked[5:]]
    for name, seconds in spent.items():
        p50, p95 = statistics.median(seconds), percentile(seconds, 0.95)
        place.table.aside(f"{name}, p50 / p95", f"{1000 * p50:.1f} / {1000 * p95:.1f} ms")


def start(place: Place) -> None:
    """Show the help, beside what Python itself takes to start."""
    pair = in_turn(
        lambda: run_process([*_program(), "-h"]),
        lambda: run_process([sys.executable, "-c", ""]),
        15,
    )
    place.table.more("memory-bank -h", *pair, 60)


ROWS: dict[str, Callable[[Place], None]] = {
    work.__name__: work for work in (build, disk, warm, sync, edit, cold, memory, mcp, start)
}


def run(notes: int, work: Path, rows: Sequence[str], table: Table) -> None:
    """Measure one size of bank."""
    folder, bare, size = made(notes, work)
    with open_bank(folder) as bank:
        place = Place(notes, size, folder, bank, bare, table)
        if "build" not in rows:
            ready(bank, bare)
        table.start(f"{notes} notes, {place.size / 1e6:.1f} MB")
        for name in rows:
            ROWS[name](place)
        print(f"\n{stats(bank).passages} passages of sections in this bank", flush=True)


def _program() -> list[str]:
    """Return the command as installed, or its module where no script is."""
    script = Path(sys.executable).with_name("memory-bank")
    return [str(script)] if script.exists() else [sys.executable, "-m", "memory_bank"]


def bare_script(index: Path, question: str, mode: str) -> list[str]:
    """Return the command that searches a bare index in a new process."""
    return [sys.executable, "-P", str(COLD), str(index), question, mode]


def run_process(words: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Run a command that must succeed, its output in pipes."""
    environment = {**os.environ, "PYTHONPATH": str(Path(memory_bank.__file__).parents[1])}
    return subprocess.run(words, check=True, capture_output=True, text=True, env=environment)


def _weight(place: Path) -> int:
    if place.is_file():
        return place.stat().st_size
    return sum(file.stat().st_size for file in place.rglob("*") if file.is_file())


def main() -> None:
    """Measure the sizes and rows that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--notes", help="sizes of banks in notes, such as 1000,10000")
    parser.add_argument("--sections", help="the same in sections, of which a note has five")
    parser.add_argument("--only", default=",".join(ROWS), help="rows: %(default)s")
    parser.add_argument("--keep", type=Path, help="make notes and indices there, and use them")
    options = parser.parse_args()
    # as an installer leaves it: where no byte code may be written, each start would compile it
    compileall.compile_dir(str(Path(memory_bank.__file__).parent), quiet=1)
    sizes = [int(size) for size in (options.notes or "").split(",") if size]
    sizes += [int(size) // 5 for size in (options.sections or "").split(",") if size]
    print(f"Python {sys.version.split()[0]}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory() as temporary:
        work = (options.keep or Path(temporary)).resolve()
        work.mkdir(parents=True, exist_ok=True)
        os.environ["XDG_STATE_HOME"] = f"{work}/state"
        table = Table()
        for notes in sizes or [1000]:
            run(notes, work, options.only.split(","), table)


if __name__ == "__main__":
    main()
