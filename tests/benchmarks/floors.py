"""What a question can't do without, beside what it takes: why some aims are out of reach.

python -m tests.benchmarks.floors --notes 10000 --keep DIR

Warm: the calls of tantivy, usearch and the embedder that a question makes, made again with nothing
around them; then with SQLite's statements, the files of the answer read and hashed, and snippets as
the bare run cuts them; and whole questions whose ranking and snippets are remembered, as if they
cost nothing, or that look at a quarter of the candidates. Cold: what a process takes that only imports what a question imports, and the look at the
files in a process that does nothing else.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from blake3 import blake3

from memory_bank import Bank, open_bank, recall
from memory_bank.actions import recall as answers
from memory_bank.retrievers import _asked
from memory_bank.retrievers._matrix import Matrix
from memory_bank.search import engine
from memory_bank.search.engine import Engine
from tests.benchmarks import corpus
from tests.benchmarks.bare import WALK, Bare
from tests.benchmarks.places import made, ready
from tests.benchmarks.speed import bare_script, run_process
from tests.benchmarks.timing import Table, percentile, timed

_QUESTIONS = 60
_TIMES = 9
_LOOK = """
import sys
from pathlib import Path
from memory_bank.notes.scan import scan
scan(Path(sys.argv[1]))
"""
_LOADED = """
import sys
sys.argv = ["memory-bank", *sys.argv[1:]]
before = set(sys.modules)
from memory_bank.frontends.cli._outermost import run
run(sys.argv[1:])
print(*sorted(set(sys.modules) - before), file=sys.stderr)
"""

Call = Callable[[], object]


class _Recorded:
    """A searcher that keeps what it is asked, to be asked again."""

    def __init__(self, searcher: Any, calls: list[Call]) -> None:
        self._searcher = searcher
        self._calls = calls

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._searcher, name)
        return _recording(found, self._calls) if callable(found) else found


def _recording(work: Callable[..., Any], calls: list[Call]) -> Callable[..., Any]:
    def kept(*given: Any, **named: Any) -> Any:
        calls.append(lambda: work(*given, **named))
        return work(*given, **named)

    return kept


def calls_of(bank: Bank, question: str) -> list[Call]:
    """Return the calls of tantivy, usearch and the embedder that one question makes."""
    calls: list[Call] = []
    vectors = bank.index.vectors
    assert vectors is not None
    plain, nearest = _asked.Asked.__init__, Matrix.nearest

    def asked(self: Any, searcher: Any, *rest: Any) -> None:
        plain(self, _Recorded(searcher, calls), *rest)

    def near(self: Matrix, vector: Any, limit: int) -> Any:
        calls.append(lambda: nearest(self, vector, limit))
        return nearest(self, vector, limit)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_asked.Asked, "__init__", asked)
        patch.setattr(Matrix, "nearest", near)
        patch.setattr(vectors._embedder, "embed", _recording(vectors._embedder.embed, calls))
        recall(bank, question, count_access=False)
    return calls


def answer_of(bank: Bank, bare: Bare, question: str) -> list[Call]:
    """Return what else libraries do for an answer: SQLite's statements, files, ten snippets."""
    statements: list[str] = []
    base = bank.index.base
    base.set_trace_callback(statements.append)
    found = recall(bank, question, count_access=False)
    base.set_trace_callback(None)
    files = [str(bank.layout.root / note.path) for note in found.notes]
    return [
        *(partial(_rows, base, sql) for sql in statements),
        *(partial(_hashed, file) for file in files),
        bare.snippets(question),
    ]


def _rows(base: Any, sql: str) -> None:
    base.execute(sql).fetchall()


def _hashed(file: str) -> None:
    with open(file, "rb") as stream:
        blake3(stream.read()).hexdigest()


def _again(calls: Sequence[Call]) -> None:
    for call in calls:
        call()


class _Spared:
    """Parts of a question that are remembered instead of done, as long as they are named."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self._names: frozenset[str] = frozenset()
        for owner, name in ((Engine, "_rank"), (answers, "_snippet")):
            patch.setattr(owner, name, self._remembering(name, getattr(owner, name)))

    def _remembering(self, name: str, work: Callable[..., Any]) -> Callable[..., Any]:
        known: dict[object, Any] = {}

        def remembered(*given: Any) -> Any:
            if name not in self._names:
                return work(*given)
            key = given[-1].text if name == "_rank" else (given[1].row, given[2])
            if key not in known:
                known[key] = work(*given)
            return known[key]

        return remembered

    def without(self, names: Sequence[str], work: Call) -> None:
        self._names = frozenset(names)
        work()
        self._names = frozenset()


def _fewer(work: Call) -> None:
    """Ask with a quarter of the candidates, which finds worse."""
    depths = {name: getattr(engine, name) for name in ("DEPTH", "NOTES_DEPTH", "NEAR_DEPTH")}
    try:
        for name, depth in depths.items():
            setattr(engine, name, depth // 4)
        work()
    finally:
        for name, depth in depths.items():
            setattr(engine, name, depth)


def warm(bank: Bank, bare: Bare, table: Table, spared: _Spared) -> None:
    """Take the times of whole questions, of parts of them, and of the bare run, in turns."""
    asked = corpus.questions(_QUESTIONS)
    for question in asked[:5]:
        recall(bank, question, count_access=False)
    columns: dict[str, list[float]] = {}
    for question in asked:
        whole = partial(recall, bank, question, count_access=False)
        calls = calls_of(bank, question)
        kinds: dict[str, Call] = {
            "warm hybrid recall": whole,
            "… its searches and embedding alone": partial(_again, calls),
            "… with SQL, files and snippets": partial(
                _again, [*calls, *answer_of(bank, bare, question)]
            ),
            "… if ranking cost nothing": partial(spared.without, ["_rank"], whole),
            "… if snippets neither": partial(spared.without, ["_rank", "_snippet"], whole),
            "… with a quarter of the candidates": partial(_fewer, whole),
            "bare": partial(bare.query, question),
        }
        rounds = [{name: timed(kind) for name, kind in kinds.items()} for _ in range(4)]
        for name in kinds:
            columns.setdefault(name, []).append(min(times[name] for times in rounds))
    for part, of in (("p50", statistics.median), ("p95", partial(percentile, share=0.95))):
        for name, column in columns.items():
            if name != "bare":
                table.ratio(f"{name}, {part}", of(column), of(columns["bare"]))


def cold(folder: Path, bare: Bare, table: Table) -> None:
    """Take the times of processes that do ever more of what a cold question by words does."""
    question = corpus.questions(1)[0]
    words = ["recall", question, "--mode", "lexical", "--no-count", "--bank", str(folder)]
    loaded = run_process([sys.executable, "-c", _LOADED, *words]).stderr.splitlines()[-1].split()
    ours = [name for name in loaded if name.partition(".")[0] == "memory_bank"]
    standard = [name for name in loaded if name.partition(".")[0] in sys.stdlib_module_names]
    others = [name for name in loaded if name not in {*standard, *ours}]
    lines = {
        "an empty Python": _importing([]),
        "… with the standard library's modules": _importing(standard),
        "… with tantivy and BLAKE3": _importing([*standard, *others]),
        "… with our modules": _importing([*standard, *others, *ours]),
        "a bare walk over the files": [sys.executable, "-P", str(WALK), str(folder)],
        "the look at the files alone": [sys.executable, "-c", _LOOK, str(folder)],
        "cold lexical recall": [sys.executable, "-m", "memory_bank", *words],
        "bare": bare_script(bare.index, question, "lexical"),
    }
    rounds = [
        {name: timed(lambda w=line: run_process(w)) for name, line in lines.items()}
        for _ in range(_TIMES)
    ]
    least = {name: min(times[name] for times in rounds) for name in lines}
    for name in list(lines)[:-1]:
        table.ratio(name, least[name], least["bare"])


def _importing(modules: Sequence[str]) -> list[str]:
    """Return a Python that imports modules and ends as a question does."""
    names = ", ".join(["os", *dict.fromkeys(modules)])
    return [sys.executable, "-c", f"import {names}\nos._exit(0)"]


def main() -> None:
    """Measure the size that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--notes", type=int, default=10_000, help="notes in the bank: %(default)s")
    parser.add_argument("--keep", type=Path, help="make notes and indices there, and use them")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        work = (options.keep or Path(temporary)).resolve()
        work.mkdir(parents=True, exist_ok=True)
        os.environ["XDG_STATE_HOME"] = f"{work}/state"
        folder, bare, _ = made(options.notes, work)
        table = Table()
        with open_bank(folder) as bank:
            ready(bank, bare)
            table.start(f"What a question can't do without, {options.notes} notes")
            with pytest.MonkeyPatch.context() as patch:
                warm(bank, bare, table, _Spared(patch))
        cold(folder, bare, table)


if __name__ == "__main__":
    main()
