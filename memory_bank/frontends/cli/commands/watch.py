"""`memory-bank watch`: index changes as they happen."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from memory_bank.base.operation import operation
from memory_bank.base.screen import Call


@operation(
    "watch",
    why="""
    Indexes every change of a note at once, until Ctrl-C, and prints a line for each batch. It is
    not required, since each query looks for changes itself; but queries of a large bank become
    faster, and vectors are ready sooner.
    """,
    examples=(
        ("memory-bank watch", "in a terminal beside your editor"),
        ("memory-bank watch --json", "one JSON document per line"),
    ),
    group="Look after",
)
def command(call: Call) -> int:
    """Index changes as they happen, until Ctrl-C."""
    from memory_bank.memory import maintenance

    def report(message: str) -> None:
        if call.json:
            call.console.document({"said": message}, indent=None)
        else:
            call.console.line(message)
        call.console.flush()

    with call.open() as bank, _stop_event() as stop:
        maintenance.watch(bank, report, stop)
    return 0


@contextmanager
def _stop_event() -> Iterator[threading.Event]:
    """Yield an event that Ctrl-C and SIGTERM set; a second Ctrl-C interrupts at once."""
    stop = threading.Event()

    def request_stop(number: int, _: FrameType | None) -> None:
        if stop.is_set() and number == signal.SIGINT:
            raise KeyboardInterrupt
        stop.set()

    in_main = threading.current_thread() is threading.main_thread()
    before = {number: signal.signal(number, request_stop) for number in _SIGNALS} if in_main else {}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


_SIGNALS = (signal.SIGINT, signal.SIGTERM)
