"""Index the code of a repository, beside the least that any program would have to do for it.

    python -m tests.benchmarks.code_index /path/to/a/clone [--repeat 3]

Ours is everything: symbols, tests, documents, their words and vectors, and the commits. The least is the sum of
`git log --name-only`, a bare tree-sitter parse of the same files, and tantivy and the static embedder over
the same texts. Both are measured in one run, in CPU seconds of the process and of git, since other
work of the machine then counts less; wall-clock seconds are printed beside them.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import tantivy
from tree_sitter import Language, Parser

from memory_bank.base.documents import Document
from memory_bank.code.commits import CodeHistory
from memory_bank.code.index.codebase import Codebase, open_codebase
from memory_bank.code.index.lane_search import LANES
from memory_bank.code.parse import parsing
from tests.benchmarks.bare_static import BareStatic

_BATCH = 256


class Seconds(NamedTuple):
    """What a piece of work took."""

    cpu: float
    wall: float

    def __add__(self, other: object) -> Seconds:
        assert isinstance(other, Seconds)
        return Seconds(self.cpu + other.cpu, self.wall + other.wall)

    def __str__(self) -> str:
        return f"{self.cpu:7.3f} s CPU {self.wall:8.3f} s wall"


def taken(work: Callable[[], object]) -> Seconds:
    """Return what a call takes, its child processes included."""
    cpu, wall = _cpu(), time.perf_counter()
    work()
    return Seconds(_cpu() - cpu, time.perf_counter() - wall)


def _cpu() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


@contextmanager
def fresh(root: Path) -> Iterator[Codebase]:
    """Open the code of a work tree with an empty cache."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder
        with open_codebase(root) as code:
            yield code


def ours(code: Codebase) -> dict[str, Seconds]:
    """Index everything; return what each part took."""
    commits = CodeHistory(code.root)
    code.shared.mkdir(parents=True, exist_ok=True)
    found = {"commits": taken(lambda: commits.counted(code.settings.code.max_commit_files))}
    found["symbol table"] = taken(code.refresh)
    for lane in LANES:
        found[f"index of {lane}"] = taken(lambda lane=lane: code.catch_up([lane], seconds=0))  # type: ignore[misc]
        found[f"vectors of {lane}"] = taken(
            lambda lane=lane: code.catch_up([lane], seconds=10_000)  # type: ignore[misc]
        )
    commits.close()
    return found


def texts_of(code: Codebase) -> list[str]:
    """Return the texts of all passages."""
    found: list[str] = []
    for lane in LANES:
        source = code._source(lane)
        for key in source.scan().signatures:
            read = source.read(key)
            if isinstance(read, Document):
                found += [f"{read.title}\n{passage.text}" for passage in read.passages]
    return found


def bare(code: Codebase, texts: list[str]) -> dict[str, Seconds]:
    """Do the least; return what each part took."""
    return {
        "git log --name-only": taken(lambda: _git(code.root, "log", "--name-only", "--format=%H")),
        "bare tree-sitter": taken(lambda: _parse(code)),
        "bare tantivy": taken(lambda: _index(texts)),
        "bare embedding": taken(lambda: _embed(texts)),
    }


def _git(root: Path, *words: str) -> None:
    subprocess.run(["git", "-C", str(root), *words], capture_output=True, check=True)


def _parse(code: Codebase) -> None:
    parsers: dict[str, Any] = {}
    for path, state in code.table.files().items():
        if state.reason:
            continue
        if state.language not in parsers:
            rules = parsing.rules_of(state.language)
            grammar = getattr(import_module(rules.grammar), rules.entry)
            parsers[state.language] = Parser(Language(grammar()))
        parsers[state.language].parse((code.root / path).read_bytes())


def _index(texts: list[str]) -> None:
    schema = tantivy.SchemaBuilder().add_text_field("text", tokenizer_name="en_stem").build()
    with tempfile.TemporaryDirectory() as folder:
        writer = tantivy.Index(schema, folder).writer(50_000_000, 1)
        for text in texts:
            writer.add_document(tantivy.Document(text=text))
        writer.commit()
        writer.wait_merging_threads()


def _embed(texts: list[str]) -> None:
    model = BareStatic()
    for start in range(0, len(texts), _BATCH):
        model.embed([text or " " for text in texts[start : start + _BATCH]])


def unchanged(code: Codebase, repeat: int) -> tuple[Seconds, Seconds]:
    """Return the least of a catch-up without changes, and of `git status`."""
    for _ in range(2):
        code.catch_up(seconds=10_000)
    mine = [taken(code.catch_up) for _ in range(repeat)]
    gits = [taken(lambda: _git(code.root, "status", "--porcelain")) for _ in range(repeat)]
    return min(mine, key=lambda one: one.wall), min(gits, key=lambda one: one.wall)


def _show(title: str, parts: dict[str, Seconds]) -> Seconds:
    print(f"\n{title}")
    for name, one in parts.items():
        print(f"  {name:<22} {one}")
    total = sum(parts.values(), Seconds(0.0, 0.0))
    print(f"  {'sum':<22} {total}")
    return total


def measure(root: Path, repeat: int) -> None:
    """Print all figures of a repository."""
    rounds = []
    for _ in range(repeat):
        with fresh(root) as code:
            mine = ours(code)
            texts = texts_of(code)
            rounds.append((mine, bare(code, texts), len(texts), code.table.totals()))
            quiet = unchanged(code, 20)
    mine, least, passages, (files, symbols, tests) = min(
        rounds, key=lambda one: sum(part.cpu for part in one[0].values())
    )
    commits = subprocess.run(
        ["git", "-C", str(root), "rev-list", "--count", "HEAD"],
        capture_output=True, text=True, check=True,
    ).stdout.strip()  # fmt: skip
    print(f"{root.name}: {commits} commits, {files} files of code, {symbols} symbols,", end=" ")
    print(f"{tests} tests, {passages} passages; the best of {repeat} rounds")
    total, floor = _show("ours", mine), _show("the least", least)
    print(f"\nfirst index: {total.cpu / floor.cpu:.2f} times the least by CPU,", end=" ")
    print(f"{total.wall / floor.wall:.2f} by wall clock; aim: at most 2")
    ratio = quiet[0].wall / quiet[1].wall
    print(f"nothing changed: {ratio:.2f} times `git status`", end=" ")
    print(f"({1000 * quiet[0].wall:.0f} ms, {1000 * quiet[1].wall:.0f} ms); aim: at most 3")


def main() -> int:
    """Measure the repository of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repository", nargs="?", default="", help="a clone with full history")
    parser.add_argument("--repeat", type=int, default=1)
    asked = parser.parse_args()
    root = Path(asked.repository).resolve()
    if not asked.repository or not (root / ".git").exists():
        print("skipped: name a clone of a repository, with its work tree and full history")
        return 0
    measure(root, asked.repeat)
    return 0


if __name__ == "__main__":
    sys.exit(main())
