"""How fast a bank is built, asked and kept up, as ratios to the bare library calls of the same run.

    python -m tests.benchmarks.speed --banks 1000,10000,100000,own,real
    python -m tests.benchmarks.speed --banks 100000 --only warm,edit --keep DIR

Times are of the processor; where time is waited for, the row says so. `own` is this repository,
`real` a vault with large and odd notes, if it is there.
"""

import argparse
import compileall
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import memory_bank
from memory_bank.bank.bank import Bank, open_bank
from memory_bank.memory.retrieval.recall import recall
from tests.benchmarks import corpus, serving
from tests.benchmarks.bare import COLD, Bare
from tests.benchmarks.collections import Notes
from tests.benchmarks.places import Folder, generated, own, ready, real
from tests.benchmarks.rivals import Fts5, Ripgrep
from tests.benchmarks.timing import Table, in_turn, percentile, timed, waited

_EDITS = 24
_SMALL = 50_000
_numbers = count(1000)


@dataclass
class Place:
    """A bank, opened, with the bare indices of the same notes."""

    folder: Folder
    bank: Bank
    table: Table

    @property
    def bare(self) -> Bare:
        """The bare indices."""
        return self.folder.bare

    @property
    def size(self) -> int:
        """The bytes of the notes."""
        return sum(file.stat().st_size for file in self.folder.files())


def build(place: Place) -> None:
    """Make both indices from nothing."""
    place.bank.close()
    shutil.rmtree(place.bank.layout.index, ignore_errors=True)
    for file in place.folder.files():
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
    for mode, most, worst in (("hybrid", 1.5, 3.0), ("lexical", None, None)):

        def ask(question: str, mode: str = mode) -> tuple[float, float]:
            return in_turn(
                lambda: recall(bank, question, 10, mode, count_access=False),
                lambda: bare.query(question, meaning=mode == "hybrid"),
                3,
            )

        for question in place.folder.questions[:5]:
            ask(question)
        pairs = [ask(question) for question in place.folder.questions]
        ours, them = [one for one, _ in pairs], [other for _, other in pairs]
        medians = statistics.median(ours), statistics.median(them)
        place.table.ratio(f"warm {mode} recall, p50", *medians, most)
        ends = percentile(ours, 0.95), percentile(them, 0.95)
        place.table.ratio(f"warm {mode} recall, p95", *ends, worst)
        for size, word in corpus.JSON_SIZES.items():
            if place.bank.layout.root.joinpath(f"{word}.md").exists():
                pair = ask(word)
                place.table.ratio(f"warm {mode} recall of JSON of {size / 1000:.0f} kB", *pair)


def sync(place: Place) -> None:
    """Look for changes where there are none."""
    place.bank.sync()
    place.table.ratio("sync, nothing changed", *in_turn(place.bank.sync, place.bare.walk, 7), 2.0)
    pair = in_turn(place.bank.catch_up, place.bare.walk, 7)
    place.table.ratio("… the catch-up before an answer", *pair)


def edit(place: Place) -> None:
    """Change one note after the other and ask for what was written."""
    files = [file for file in sorted(place.folder.files()) if _is_plain(file)]
    pairs = [_edit(place, file) for file in files[:: max(1, len(files) // _EDITS)][:_EDITS]]
    ours, bare = (statistics.median(times) for times in zip(*pairs, strict=True))
    place.table.ratio("one note edited → searchable", ours, bare, 3.0)


def _edit(place: Place, file: Path) -> tuple[float, float]:
    """Add a sentence to a note until it is found, and take it out again."""
    bank, bare, text = place.bank, place.bare, file.read_bytes().decode()
    word = f"xylograph{next(_numbers)}"
    changed = f"{text}\n\nIt was edited: {word}.\n"
    file.write_text(changed, encoding="utf-8", newline="")
    ours = timed(lambda: _must_find(bank, word))
    them = timed(lambda: bare.edit(file.name, changed))
    bare.settle()
    assert bare.names(word, 1)
    file.write_text(text, encoding="utf-8", newline="")
    bare.edit(file.name, text)
    bare.settle()
    bank.catch_up()
    return ours, them


def _must_find(bank: Bank, word: str) -> None:
    answer = recall(bank, word, 1, "lexical", count_access=False)
    assert answer.result_count == 1, f"{word} is not found"


def _is_plain(file: Path) -> bool:
    """Tell whether a note is a small file of UTF-8 with a heading and no block that goes on."""
    data = file.read_bytes()
    with suppress(UnicodeDecodeError):
        return b"\n# " in data[:300] and len(data) < _SMALL and "`" not in data.decode()
    return False


def cold(place: Place) -> None:
    """Ask from a new process whose output goes into a pipe, its catch-up included."""
    question, notes = place.folder.questions[0], str(place.folder.notes)
    for mode, most in (("lexical", 2.5), ("hybrid", 1.6)):
        words = ["recall", question, "--mode", mode, "--bank", notes]
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
    line = [ripgrep, "-liF", *patterns, notes]
    spent = min(timed(lambda: run_process(line)) for _ in range(9))
    place.table.aside("… rg -liF over the same files", f"{1000 * spent:.1f} ms")


def memory(place: Place) -> None:
    """Weigh a process that has answered questions of both modes."""
    if not Path("/proc/self/smaps_rollup").exists():
        place.table.aside("resident memory", "not measured on this system")
        return
    place.bank.close()
    notes, questions = place.folder.notes, place.folder.questions
    for work, weights in (
        ("a process of the Python API", serving.by_python(notes, questions)),
        ("the server for agents", serving.by_server(_program(), notes, questions)),
        ("the server before a question", serving.by_server(_program(), notes, [])),
    ):
        private = weights["Private_Clean"] + weights["Private_Dirty"]
        said = f"private {private:.0f} MB, peak {weights['VmHWM']:.0f} MB"
        place.table.size(f"resident memory of {work}", said, weights["Rss"], 250, " MB")


def mcp(place: Place) -> None:
    """Ask over MCP, beside qmd's BM25, ripgrep and SQLite FTS5 on the same files."""
    folder, asked = place.folder.notes, place.folder.questions
    spent = {"recall over MCP": serving.times(_program(), folder, asked)}
    qmd = shutil.which("qmd")
    if qmd is not None:
        spent["qmd's BM25 over MCP"] = serving.times_of_qmd(
            qmd, folder, folder.parent.parent, asked
        )
    notes = Notes("speed", (), folder)
    for name, make in (("ripgrep", Ripgrep), ("SQLite FTS5", Fts5)):
        with suppress(LookupError):
            rival = make(notes, folder.parent.parent)
            spent[name] = [waited(lambda q=q, r=rival: r.ask(q, 5)) for q in asked[5:]]
    for name, seconds in spent.items():
        p50, p95 = statistics.median(seconds), percentile(seconds, 0.95)
        place.table.aside(f"{name}, p50 / p95, waited", f"{1000 * p50:.1f} / {1000 * p95:.1f} ms")


def start(place: Place) -> None:
    """Show the help, beside what Python itself takes to start."""
    pair = in_turn(
        lambda: run_process([*_program(), "-h"]),
        lambda: run_process([sys.executable, "-c", ""]),
        15,
    )
    place.table.more("memory-bank -h", *pair, 60)


def write(place: Place) -> None:
    """Write a note, and tell the hooks of a prompt and of a tool call, each in a new process."""
    project = place.folder.notes.parent
    about = {"cwd": str(project), "session_id": "session-NUMBER"}
    prompt = {"prompt": place.folder.questions[0], "prompt_id": "NUMBER"}
    tool = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "NUMBER"}
    hook = ("hook", "claude-code")
    for aim, *words, given in (
        (200, "remember", "Ferry NUMBER leaves from pier NUMBER at noon.", ""),
        (90, *hook, "UserPromptSubmit", json.dumps(about | prompt)),
        (35, *hook, "PostToolUse", json.dumps(about | tool | {"tool_response": {"stdout": "a"}})),
    ):

        def run_once(words: Sequence[object] = words, given: object = given) -> None:
            number = str(next(_numbers))
            line = [str(word).replace("NUMBER", number) for word in words]
            run_process([*_program(), *line], str(given).replace("NUMBER", number), project)

        pair = in_turn(run_once, lambda: run_process([sys.executable, "-c", ""]), 9)
        place.table.more(
            f"{words[0]} {words[-1] if len(words) > 2 else ''}".strip(), *pair, float(aim)
        )


ROWS: dict[str, Callable[[Place], None]] = {
    work.__name__: work for work in (build, disk, warm, sync, edit, cold, memory, mcp, start, write)
}


def run(folder: Folder, rows: Sequence[str], table: Table) -> None:
    """Measure one bank."""
    with open_bank(folder.notes) as bank:
        place = Place(folder, bank, table)
        if "build" not in rows:
            ready(bank, folder.bare)
        while bank.embed(30).waiting:
            pass
        table.start(f"{folder.name}: {len(folder.files())} notes, {place.size / 1e6:.1f} MB")
        for name in rows:
            ROWS[name](place)


def _program() -> list[str]:
    """Return the command as installed, or its module where no script is."""
    script = Path(sys.executable).with_name("memory-bank")
    return [str(script)] if script.exists() else [sys.executable, "-m", "memory_bank"]


def bare_script(index: Path, question: str, mode: str) -> list[str]:
    """Return the command that searches a bare index in a new process."""
    return [sys.executable, "-P", str(COLD), str(index), question, mode]


def run_process(words: Sequence[str], given: str = "", folder: Path | None = None) -> None:
    """Run a command that must succeed, its input and output in pipes."""
    environment = {**os.environ, "PYTHONPATH": str(Path(memory_bank.__file__).parents[1])}
    subprocess.run(
        words, check=True, capture_output=True, text=True, env=environment, input=given, cwd=folder
    )


def _weight(place: Path) -> int:
    if place.is_file():
        return place.stat().st_size
    return sum(file.stat().st_size for file in place.rglob("*") if file.is_file())


def banks(names: Sequence[str], work: Path) -> Iterator[Folder]:
    """Yield banks by name: `own`, `real`, or a number of made-up notes; say which is absent."""
    os.environ["XDG_STATE_HOME"] = f"{work}/state"
    # as an installer leaves it: where no byte code may be written, each start would compile it
    compileall.compile_dir(str(Path(memory_bank.__file__).parent), quiet=1)
    for name in names:
        try:
            yield (
                {"own": own, "real": real}[name](work)
                if name.isalpha()
                else generated(int(name), work)
            )
        except LookupError as error:
            print(f"\n{name} is left out: {error}", flush=True)


def main() -> None:
    """Measure the banks and rows that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--banks", default="1000", help="numbers of notes, own, real: %(default)s")
    parser.add_argument("--only", default=",".join(ROWS), help="rows: %(default)s")
    parser.add_argument("--keep", type=Path, help="make notes and indices there, and use them")
    options = parser.parse_args()
    print(f"Python {sys.version.split()[0]}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory() as temporary:
        work = (options.keep or Path(temporary)).resolve()
        work.mkdir(parents=True, exist_ok=True)
        table = Table()
        for folder in banks(options.banks.split(","), work):
            run(folder, options.only.split(","), table)


if __name__ == "__main__":
    main()
