"""Ask the shared index one question within a time limit.

What runs on the connection runs in a thread of its own: the name of a host may be looked up, or a
network may drop packets, for longer than any time limit of the driver. The thread is a daemon,
which the end of the process does not wait for.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from concurrent.futures import TimeoutError as Late
from contextlib import contextmanager
from threading import Thread
from typing import TypeVar

from memory_bank.base.errors import BadInput, BadSetting, Busy, MemoryBankError, SharedUnavailable
from memory_bank.shared.addresses import EMBEDDED
from memory_bank.shared.engines.base import UNREACHABLE, SharedEngine, engine_module, open_engine

_STARTING = 30.0
"""Least seconds for a server in a folder, which may have to be started first."""

_PAUSE = 5.0
"""Seconds for which a server that can't be reached is not asked again."""

Result = TypeVar("Result")


_failures: dict[str, tuple[float, SharedUnavailable]] = {}
"""By URL: until when a server is not asked again, and why."""


class Conversation:
    """One state of the shared index, until a deadline."""

    def __init__(self, url: str, seconds: float) -> None:
        """Connect; raise SharedUnavailable, BadSetting."""
        engine_module(url).load()  # the time limit is the server's
        if url.startswith(EMBEDDED):
            seconds = max(seconds, _STARTING)
        self._seconds = seconds
        self._deadline = time.monotonic() + seconds
        until, failure = _failures.get(url, (0.0, None))
        if failure is not None and time.monotonic() < until:
            raise failure
        try:
            self._engine = self._within(lambda: self._opened(url))
        except SharedUnavailable as error:
            if error.reason == UNREACHABLE:
                _failures[url] = time.monotonic() + _PAUSE, error
            raise

    def _opened(self, url: str) -> SharedEngine:
        engine = open_engine(url, seconds=self._seconds)
        try:
            engine.info()
            self._state = engine.one_state()
            self._state.__enter__()
        except BaseException:
            engine.__exit__()
            raise
        return engine

    def ask(self, work: Callable[[SharedEngine], Result]) -> Result:
        """Run some work on the connection; raise SharedUnavailable if it fails or takes long."""
        return self._within(lambda: work(self._engine))

    def close(self) -> None:
        """Close the connection, which may be in use: its thread ends with an error."""
        Thread(target=self._engine.__exit__, daemon=True).start()

    def _within(self, work: Callable[[], Result]) -> Result:
        future: Future[Result] = Future()
        Thread(target=_run, args=(future, work), daemon=True).start()
        try:
            return future.result(max(0.001, self._deadline - time.monotonic()))
        except (Late, Busy) as error:
            raise SharedUnavailable(
                f"the shared index gave no answer in {self._seconds:g} seconds",
                "try again, or set more: [shared] seconds",
                UNREACHABLE,
            ) from error
        except BadSetting:
            raise
        except BadInput as error:  # the server refuses what we ask, as a damaged one does
            raise SharedUnavailable(error.message, error.hint, UNREACHABLE) from error


@contextmanager
def ask_shared_index(url: str, seconds: float) -> Iterator[Conversation]:
    """Ask the shared index at a URL, for at most some seconds."""
    opened = Conversation(url, seconds)
    try:
        yield opened
    finally:
        opened.close()


def _run(future: Future[Result], work: Callable[[], Result]) -> None:
    try:
        future.set_result(work())
    except MemoryBankError as error:
        future.set_exception(error)
    finally:
        if not future.done():  # a fault of the program: the thread shows where it is
            future.set_exception(RuntimeError("the work on the shared index broke off"))
