"""The work behind a server: warm up, follow the files, make vectors, tell who wants to know.

It has a bank of its own, as another process would, so that no request waits for its lock.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

from anyio import CancelScope, to_thread
from anyio.from_thread import BlockingPortal

from memory_bank.errors import MemoryBankError
from memory_bank.frontends.mcp.source import Source

if TYPE_CHECKING:
    from memory_bank.actions.maintenance import Changed
    from memory_bank.bank import Bank

_BEFORE = 0.05
"""Seconds after the first answer: the client's next question goes first."""
_RETRY = 5.0
"""Seconds after which a bank that could not be opened, or followed, is looked for again."""
_TURN = 0.25
"""Seconds of embedding at a time."""
_LATER = 60.0
"""Seconds after which vectors that could not be made are tried again."""
_PATIENCE = 2.0
"""Seconds that a server which stops waits for what it began; a kill would lose nothing either."""

_log = logging.getLogger(__name__)


class _Stopped(Exception):
    """The server stops: what is being done is not wanted any more."""


class Background:
    """The threads of one connection, or of one HTTP server."""

    def __init__(
        self,
        source: Source,
        prepare: Callable[[], object],
        told: Callable[[Changed], Awaitable[None]],
    ) -> None:
        """Call `prepare` first; `told` is awaited in the server's loop for each batch."""
        self._source = source
        self._prepare = prepare
        self._tell = told
        self._stop = threading.Event()
        self._waiting = threading.Event()
        self._thread: threading.Thread | None = None
        self._portal: BlockingPortal | None = None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Be ready to `wake` inside; stop at the end."""
        async with BlockingPortal() as self._portal:
            try:
                yield
            finally:
                self._stop.set()
                if self._thread is not None:
                    with CancelScope(shield=True):
                        await to_thread.run_sync(self._thread.join, _PATIENCE)

    def wake(self) -> None:
        """Begin to work, if that has not begun."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="background", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        pause = _BEFORE
        while not self._stop.wait(pause):
            pause = _RETRY
            try:
                self._prepare()
                with self._source.another() as bank:
                    self._keep(bank)
            except _Stopped:
                return
            except MemoryBankError as error:
                _log.warning("%s: %s", error.code, error.message)
            except Exception:  # noqa: BLE001  (the outermost frame of a thread: requests are served without it)
                _log.exception("the work behind the server failed")

    def _keep(self, bank: Bank) -> None:
        """Follow the files until the server stops, with a thread beside it that embeds."""
        from memory_bank.actions.maintenance import follow

        bank.progress = self._go_on
        bank.embeds = False
        over = threading.Event()
        embedding = threading.Thread(target=self._embed, args=(bank, over), daemon=True)
        embedding.start()
        try:
            follow(bank, self._changed, self._stop)
        finally:
            self._source.bank().embeds = True
            over.set()
            self._waiting.set()
            embedding.join(_PATIENCE)

    def _changed(self, changed: Changed) -> None:
        if not (changed.added or changed.removed or changed.changed):  # all is indexed
            self._warm()
        self._waiting.set()
        if self._portal is not None:
            with suppress(RuntimeError):  # the server stops
                self._portal.start_task_soon(self._tell, changed)

    def _warm(self) -> None:
        """Load what the first question needs, model included, by asking one."""
        from memory_bank.actions.recall import recall

        bank = self._source.bank()
        recall(bank, "memory", 1, count_access=False)
        bank.embeds = False

    def _embed(self, bank: Bank, over: threading.Event) -> None:
        from memory_bank.actions.maintenance import embed_waiting

        while not over.is_set():
            self._waiting.wait(_LATER)
            self._waiting.clear()
            try:
                embed_waiting(bank, _TURN, over)
            except MemoryBankError as error:
                _log.warning("%s: %s", error.code, error.message)

    def _go_on(self, what: str, done: int, total: int) -> None:  # noqa: ARG002  (as actions report)
        if self._stop.is_set():
            raise _Stopped
