"""Do the work on a bank that no answer waits for, in a process of low priority that ends by itself.

What answers before all is indexed starts it. The process does each of `JOBS` in turn.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress

from memory_bank.bank.bank import Bank, Conditions, open_bank
from memory_bank.bank.open_index import BUSY
from memory_bank.base.detached import WORK_FOLDER
from memory_bank.base.errors import Busy
from memory_bank.base.locks import hold_lock
from memory_bank.memory.maintenance import embed_waiting
from memory_bank.search.document_changes import IndexLimits

_LOWER = 10
"""By how much its priority is lower: still enough to let go of the index's lock soon."""

_TURN = 0.5
"""Seconds of reading or embedding, after which other processes may lock the index."""

_BETWEEN = 0.05
"""Seconds between two turns of indexing."""

_LONGEST_WAIT = 60.0
"""Seconds in which no other process lets this one index, after which it ends."""


def _embed(bank: Bank) -> None:
    embed_waiting(bank, _TURN, threading.Event())


JOBS: tuple[Callable[[Bank], object], ...] = (Bank.catch_up, _embed)
"""What is done when all notes are indexed, in this order; a job holds the index's lock for a short
time only."""


def run(root: str) -> bool:
    """Do all jobs in this process, with low priority; return False if another one does them.

    Raises MemoryBankError.
    """
    with open_bank(root) as bank, _hold_turn(bank) as is_held:
        if is_held:
            _lower_priority()
            _index_notes(root)
            for job in JOBS:
                job(bank)
        return is_held


def _index_notes(root: str) -> None:
    """Index all notes in short turns, between which others can lock the index."""
    limits = IndexLimits(_TURN)
    deadline = time.monotonic() + _LONGEST_WAIT
    with open_bank(root, conditions=Conditions(limits=limits)) as bank:
        while time.monotonic() < deadline:
            limits.renew()
            if bank.catch_up() != BUSY:
                if not bank.unindexed():
                    return
                deadline = time.monotonic() + _LONGEST_WAIT
            time.sleep(_BETWEEN)


@contextmanager
def _hold_turn(bank: Bank) -> Iterator[bool]:
    """Hold the lock of this work, if no other process has it; yield whether it is held.

    The folder's lock goes with the process, and with the folder nothing else is lost.
    """
    folder = bank.layout.index / WORK_FOLDER

    def make() -> None:
        bank.layout.make_index()
        folder.mkdir(exist_ok=True)

    with ExitStack() as exit_stack:
        try:
            exit_stack.enter_context(hold_lock(folder, wait=0, make=make))
        except Busy:
            yield False
        else:
            yield True


def _lower_priority() -> None:
    """Let all other programs go first, where the system can do that."""
    with suppress(AttributeError, OSError):
        os.nice(_LOWER)
