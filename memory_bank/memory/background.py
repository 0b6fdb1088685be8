"""Do the work on a bank that no answer waits for, in a process of low priority that ends by itself.

What answers before all is indexed calls `start`. The process does each of `JOBS` in turn.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress

from memory_bank.bank.bank import Bank, open_bank
from memory_bank.base.detached import BACKGROUND, start_detached
from memory_bank.base.errors import Busy
from memory_bank.base.locks import locked
from memory_bank.memory.maintenance import embed_waiting

_FOLDER = "background"
"""The folder of the index that is locked while the process runs."""

_LOWEST = 19
"""The least priority that Unix knows."""

_EMBEDDING_SECONDS = 0.5
"""Seconds of embedding after which other processes may lock the index."""

JOBS: tuple[Callable[[Bank], object], ...] = (
    lambda bank: bank.catch_up(),
    lambda bank: embed_waiting(bank, _EMBEDDING_SECONDS, threading.Event()),
)
"""What is done, in this order; each holds the index's lock for a short time only."""


def start(root: str) -> None:
    """Start the process for the bank of a folder of notes; raise OSError.

    It ends at once where another one is at work.
    """
    start_detached(["hook", "", BACKGROUND, root])


def run(root: str) -> bool:
    """Do all jobs in this process, with low priority; return False where another one does them.

    Raises MemoryBankError.
    """
    with open_bank(root) as bank, _alone(bank) as alone:
        if alone:
            _lower_priority()
            for job in JOBS:
                job(bank)
        return alone


@contextmanager
def _alone(bank: Bank) -> Iterator[bool]:
    """Hold the lock of this work, if no other process has it; tell whether it is held.

    The folder's lock goes with the process, and with the folder nothing else is lost.
    """
    folder = bank.layout.index / _FOLDER

    def make() -> None:
        bank.layout.make_index()
        folder.mkdir(exist_ok=True)

    with ExitStack() as held:
        try:
            held.enter_context(locked(folder, wait=0, make=make))
        except Busy:
            yield False
        else:
            yield True


def _lower_priority() -> None:
    """Let all other programs go first, where the system can do that."""
    with suppress(AttributeError, OSError):
        os.nice(_LOWEST)
