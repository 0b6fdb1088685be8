"""Ask the shared index within a time limit, on a connection that is kept for the next question.

What runs on the connection runs in a thread of its own: the name of a host may be looked up, or a
network may drop packets, for longer than any time limit of the driver. The thread is a daemon,
which the end of the process does not wait for.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from concurrent.futures import TimeoutError as Late
from contextlib import AbstractContextManager, contextmanager
from threading import Lock, Thread
from typing import NamedTuple, TypeVar

from memory_bank.base.errors import BadInput, BadSetting, Busy, MemoryBankError, SharedUnavailable
from memory_bank.shared.addresses import EMBEDDED
from memory_bank.shared.engines.base import UNREACHABLE, SharedEngine, engine_module, open_engine

_STARTING = 30.0
"""Least seconds for a server in a folder, which may have to be started first."""

_PAUSE = 5.0
"""Seconds for which a server that can't be reached is not asked again."""

# Connections to one server that wait for the next question.
_MOST_KEPT = 4

Result = TypeVar("Result")


class _Line:
    """An open connection, and the state of the index that it sees."""

    def __init__(self, url: str, seconds: float) -> None:
        self._engine = open_engine(url, seconds=seconds)
        self._state: AbstractContextManager[None] | None = None

    def begin(self) -> SharedEngine:
        """See one state of the index from now on."""
        self._engine.info()
        state = self._engine.one_state()
        state.__enter__()
        self._state = state
        return self._engine

    def end(self) -> None:
        """Let go of the state."""
        state, self._state = self._state, None
        if state is not None:
            state.__exit__(None, None, None)

    def close(self) -> None:
        """Close the connection."""
        self._engine.__exit__()


class _Failure(NamedTuple):
    until: float
    error: SharedUnavailable


_lock = Lock()

_kept: dict[tuple[int, str], list[_Line]] = {}
"""Connections that nobody uses, by process and URL: a forked process has none."""

_failures: dict[str, _Failure] = {}


class Conversation:
    """One state of the shared index, until a deadline."""

    def __init__(self, url: str, seconds: float) -> None:
        """Connect, or use a kept connection; raise SharedUnavailable, BadSetting."""
        engine_module(url).load()  # the time limit is the server's
        if url.startswith(EMBEDDED):
            seconds = max(seconds, _STARTING)
        self._seconds = seconds
        self._deadline = time.monotonic() + seconds
        self._url = url
        _check_pause(url)
        try:
            self._line, self._engine = self._started()
        except SharedUnavailable as error:
            if error.reason == UNREACHABLE:
                _failures[url] = _Failure(time.monotonic() + _PAUSE, error)
            raise
        _failures.pop(url, None)

    def ask(self, work: Callable[[SharedEngine], Result]) -> Result:
        """Run some work on the connection; raise SharedUnavailable if it fails or takes long."""
        return self._within(lambda: work(self._engine))

    def end(self) -> None:
        """Keep the connection for the next question."""
        self._within(self._line.end)
        with _lock:
            lines = _kept.setdefault((os.getpid(), self._url), [])
            if len(lines) < _MOST_KEPT:
                lines.append(self._line)
                return
        self._line.close()

    def drop(self) -> None:
        """Close the connection, which may be in use: its thread ends with an error."""
        Thread(target=self._line.close, daemon=True).start()

    def _started(self) -> tuple[_Line, SharedEngine]:
        while (line := _taken(self._url)) is not None:
            try:
                return line, self._within(line.begin)
            except SharedUnavailable:  # the server may have closed it since
                line.close()
        line = self._within(lambda: _Line(self._url, self._seconds))
        try:
            return line, self._within(line.begin)
        except SharedUnavailable:
            line.close()
            raise

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
def conversation(url: str, seconds: float) -> Iterator[Conversation]:
    """Ask the shared index at a URL, for at most some seconds."""
    opened = Conversation(url, seconds)
    whole = False
    try:
        yield opened
        opened.end()
        whole = True
    finally:
        if not whole:
            opened.drop()


def close_kept() -> None:
    """Close all connections that nobody uses, and forget failures."""
    with _lock:
        lines = [line for kept_lines in _kept.values() for line in kept_lines]
        _kept.clear()
        _failures.clear()
    for line in lines:
        line.close()


def _run(future: Future[Result], work: Callable[[], Result]) -> None:
    try:
        future.set_result(work())
    except MemoryBankError as error:
        future.set_exception(error)
    finally:
        if not future.done():  # a fault of the program: the thread shows where it is
            future.set_exception(RuntimeError("the work on the shared index broke off"))


def _taken(url: str) -> _Line | None:
    with _lock:
        lines = _kept.get((os.getpid(), url))
        return lines.pop() if lines else None


def _check_pause(url: str) -> None:
    failure = _failures.get(url)
    if failure is not None and time.monotonic() < failure.until:
        raise failure.error
