"""`memory-bank watch`: index changes as they happen."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from memory_bank import actions
from memory_bank.frontends.cli.call import Call
from memory_bank.frontends.cli.command import as_command

GROUP = "Look after"


@as_command(
    "watch",
    why="""
    Indexes every change of a note at once, until Ctrl-C, and prints a line for each batch. Not
    needed to find new notes, since each query looks for itself; but it takes the work off the
    queries of a large bank, and its vectors are ready sooner.
    """,
    examples=(
        ("memory-bank watch", "in a terminal beside your editor"),
        ("memory-bank watch --json", "one JSON document a line"),
    ),
)
def command(call: Call) -> int:
    """Index changes as they happen, until Ctrl-C."""

    def say(what: str) -> None:
        if call.json:
            call.page.document({"said": what}, indent=None)
        else:
            call.page.line(what)
        call.page.flush()

    with call.open() as bank, _stopping() as stop:
        actions.maintenance.watch(bank, say, stop)
    return 0


@contextmanager
def _stopping() -> Iterator[threading.Event]:
    """Hand out an event that Ctrl-C and SIGTERM set; a second Ctrl-C interrupts at once."""
    stop = threading.Event()

    def ask(number: int, _: FrameType | None) -> None:
        if stop.is_set() and number == signal.SIGINT:
            raise KeyboardInterrupt
        stop.set()

    mine = threading.current_thread() is threading.main_thread()
    before = {number: signal.signal(number, ask) for number in _SIGNALS} if mine else {}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


_SIGNALS = (signal.SIGINT, signal.SIGTERM)
