"""Run one piece of work and die at its N-th step: `python dies_at.py BANK WORK N`.

Steps are the calls that change the disk or commit an index. The process kills itself before a
step, with no chance to clean up. It ends with 0 when the work was done before step N came.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from memory_bank import append as append_text
from memory_bank import merge, open_bank, recall, remember, rename, sqlite
from memory_bank.retrievers import keyword

WORK: dict[str, Callable[[Any], object]] = {
    "append": lambda bank: append_text(bank, "facts/bm25", "appended line"),
    "remember": lambda bank: remember(bank, "a new thing to know", name="facts/new"),
    "rename": lambda bank: rename(bank, "facts/bm25", "facts/ranking"),
    "merge": lambda bank: merge(
        bank, ["facts/bm25", "decisions/whoosh"], "facts/both", "# Both\n\nmerged text\n"
    ),
    "index": lambda bank: recall(bank, "tantivy"),
}


def _arm(left: int) -> None:
    def step() -> None:
        nonlocal left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def before(owner: Any, name: str) -> None:
        real = getattr(owner, name)

        def call(*args: Any, **kwargs: Any) -> Any:
            step()
            return real(*args, **kwargs)

        setattr(owner, name, call)

    for name in ("fsync", "link", "replace", "rename", "unlink", "mkdir", "rmdir"):
        before(os, name)
    for name in ("replace", "rename", "unlink", "mkdir", "rmdir"):
        before(Path, name)
    before(keyword.KeywordIndex, "commit")
    real_transaction = sqlite.transaction

    def transaction(base: Any) -> Any:
        step()
        return real_transaction(base)

    for module in list(sys.modules.values()):
        if getattr(module, "transaction", None) is real_transaction:
            module.transaction = transaction  # type: ignore[attr-defined]


def main() -> None:
    folder, work, number = sys.argv[1:4]
    with open_bank(folder, settings={"memory.embedder": "none"}) as bank:
        if work != "index":
            bank.catch_up()
        bank.index.indexer  # noqa: B018  (its modules must be loaded before they are armed)
        _arm(int(number))
        WORK[work](bank)


if __name__ == "__main__":
    main()
