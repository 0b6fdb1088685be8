"""Do a piece of work on a bank and die at its N-th step, again and again.

A server on standard input and output: for each line `FOLDER WORK N AGE` it forks a process that
does the work and kills itself before step N, with no chance to clean up. It answers with `killed`, or
with `done` and the number of steps. Steps are the calls that change the disk. The files are all `old`
or all `young` to that process: a young one may change again unseen, so its signature is not trusted.

The hooks are here and not in the product: os, pathlib and sqlite3 are wrapped in the process that
dies, just before the work begins.
"""

import json
import os
import shutil
import signal
import sqlite3
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import tantivy  # noqa: F401  (loaded before the fork, like all that the work needs)

from memory_bank.bank.bank import Bank, open_bank
from memory_bank.base import filenames, sqlite
from memory_bank.memory.change import set_status
from memory_bank.memory.edit import append, edit
from memory_bank.memory.move_and_merge import merge, rename
from memory_bank.memory.remember import remember
from memory_bank.memory.retrieval.recall import recall
from memory_bank.memory.trash import delete, restore
from memory_bank.review.doctor import doctor
from memory_bank.search.embedders import static
from memory_bank.search.retrievers.keyword import keyword_index
from memory_bank.search.retrievers.vectors import vector_index

SETTINGS = {"memory.embedder": "static"}
FILES = ("fsync", "link", "replace", "rename", "unlink", "mkdir", "rmdir", "ftruncate", "open")
PATHS = ("replace", "rename", "unlink", "mkdir", "rmdir", "write_text", "write_bytes")
WRAPPED: list[tuple[Any, tuple[str, ...]]] = [
    (os, FILES), (Path, PATHS), (shutil, ("copy2",)),
    (keyword_index.KeywordIndex, ("put", "commit")), (vector_index.VectorIndex, ("put", "commit")),
]  # fmt: skip
STATEMENTS = ("BEGIN", "COMMIT", "PRAGMA journal_mode", "PRAGMA user_version =")


def _damaged(bank: Bank) -> None:
    """Let a question meet damaged words and vectors."""
    for file in bank.layout.index.rglob("*"):
        if file.name in {"meta.json", "vectors.db"}:
            file.write_bytes(b"garbage")
    recall(bank, "tantivy")


def _reindex(bank: Bank) -> None:
    """Index notes that came, changed and went."""
    root = bank.layout.root
    (root / "facts/new.md").write_text("# New\n\nA capercaillie, see [[bm25]].\n")
    (root / "decisions/whoosh.md").write_text("# Whoosh\n\nAnother text.\n")
    recall(bank, "tantivy")


WORK: dict[str, Callable[[Bank], object]] = {
    "append": lambda bank: append(bank, "facts/bm25", "appended line"),
    "edit": lambda bank: edit(bank, "facts/bm25", "Changed.", section="BM25"),
    "archive": lambda bank: set_status(bank, "facts/bm25", "archived"),
    "remember": lambda bank: remember(bank, "a new thing to know", name="deep/facts/new"),
    "remember again": lambda bank: remember(
        bank, "# BM25\n\nBM25 scores a word by its rarity and damps long documents.", tags=["x"]
    ),
    "delete": lambda bank: delete(bank, "facts/bm25"),
    "restore": lambda bank: restore(bank, "facts/gone"),
    "rename": lambda bank: rename(bank, "facts/bm25", "deep/ranking"),
    "merge": lambda bank: merge(
        bank, ["facts/bm25", "decisions/whoosh"], "facts/both", "# Both\n\nmerged text\n"
    ),
    "recover": lambda bank: recall(bank, "tantivy"),
    "index": lambda bank: recall(bank, "tantivy"),
    "reindex": _reindex,
    "rebuild": lambda bank: bank.rebuild(),
    "repair": _damaged,
    "check": doctor,
}
AGES = {"old": -(10**18), "young": 10**18}
"""Nanoseconds up to which a file is young. As it is in the product, how many are would differ from
run to run, and the number of steps with it; with 0 it does when the clock is set back."""
FROM_NOTHING = frozenset(["index", "recover"])
"""Work that begins with a bank as it lies, instead of one that is up to date."""


def arm(number: int) -> Callable[[], int]:
    """Die before the step of that number; return what counts the steps."""
    counted = 0

    def step() -> None:
        nonlocal counted
        counted += 1
        if counted == number:
            os.kill(os.getpid(), signal.SIGKILL)

    for owner, names in WRAPPED:
        for name in names:
            _before(owner, name, step)
    connect = sqlite.connect

    def traced(*args: Any, **how: Any) -> sqlite3.Connection:
        base = connect(*args, **how)
        base.set_trace_callback(lambda sql: step() if sql.startswith(STATEMENTS) else None)
        return base

    sqlite.connect = traced
    return lambda: counted


def _before(owner: Any, name: str, step: Callable[[], None]) -> None:
    """Let a call be preceded by a step; an `open` only when it may make the file."""
    real = getattr(owner, name)

    def call(*args: Any, **kwargs: Any) -> Any:
        if name != "open" or (len(args) > 1 and args[1] & os.O_CREAT):
            step()
        return real(*args, **kwargs)

    setattr(owner, name, call)


def work(folder: str, name: str, number: int, age: str) -> int:
    """Do a piece of work and return how many steps it took, if it comes to that."""
    filenames._RACY_NS = AGES[age]
    with open_bank(folder, settings=SETTINGS) as bank:
        if name not in FROM_NOTHING:
            bank.sync()
            bank.close()
        _ = static, bank.id
        steps = arm(number)
        WORK[name](bank)
        return steps()


def serve() -> None:
    """Answer each line with how the work ended."""
    for line in sys.stdin:
        folder, name, number, age, environment = line.rstrip("\n").split("\t")
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            os.environ.update(json.loads(environment))
            try:
                os.write(writing, f"done {work(folder, name, int(number), age)}".encode())
            except BaseException:  # noqa: BLE001  (whatever it is, the test must hear of it)
                os.write(writing, f"failed {traceback.format_exc()!r}".encode())
            os._exit(0)
        os.close(writing)
        with os.fdopen(reading, "rb") as pipe:
            said = pipe.read().decode()
        os.waitpid(child, 0)
        print(said or "killed", flush=True)  # noqa: T201  (the answer)


if __name__ == "__main__":
    serve()
