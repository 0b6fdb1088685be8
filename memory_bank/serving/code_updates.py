"""Background work on code: index and embed what changed, so that requests need not.

It opens the code separately, as another process would, so that no request waits for its lock.
"""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING

from memory_bank.errors import MemoryBankError
from memory_bank.serving.progress import Cancelled
from memory_bank.serving.shared_bank import SharedBank

if TYPE_CHECKING:
    from memory_bank.codebase import Codebase

_INTERVAL = 5.0
"""Seconds between two comparisons with the files."""
_IDLE = 600.0
"""Seconds after the last request for code, after which files are no longer compared."""
_FIRST = 0.2
"""Seconds between two looks at whether the first request has begun to index."""
_TURN = 0.25
"""Seconds of embedding at a time."""
_BETWEEN = 0.01
"""Seconds between two turns, in which requests may lock the index."""
_CLOSE_SECONDS = 2.0

_log = logging.getLogger(__name__)


class CodeUpdates:
    """A thread that keeps the indices of the code up to date, once a request has made them."""

    def __init__(self, shared: SharedBank, stop: threading.Event) -> None:
        """Prepare the thread; it ends after `stop` is set."""
        self._shared = shared
        self._stop = stop
        self._thread = threading.Thread(target=self._run, name="code updates", daemon=True)

    def start(self) -> None:
        """Start the thread; nothing is opened before a request asks for the code."""
        self._thread.start()

    def close(self) -> None:
        """Wait a short time for the thread, after `stop` was set."""
        self._shared.code_asked.set()
        if self._thread.is_alive():
            self._thread.join(_CLOSE_SECONDS)

    def _run(self) -> None:
        asked = self._shared.code_asked
        last = 0.0
        while not self._stop.is_set():
            idle = time.monotonic() - last > _IDLE
            if asked.wait(None if idle else _INTERVAL):
                asked.clear()
                last = time.monotonic()
            try:
                self._update(last)
            except Cancelled:
                return
            except MemoryBankError as error:
                _log.warning("%s: %s", error.code, error.message)
            except Exception:  # noqa: BLE001  (the outermost frame of a thread: requests are served without it)
                _log.exception("the code was not updated")
            finally:
                self._shared.code_embedded_elsewhere.clear()

    def _update(self, last: float) -> None:
        """Update the indices until no request has asked for the code for long."""
        if not self._await_first():
            return
        with self._shared.another_codebase() as code:
            while time.monotonic() - last <= _IDLE:
                self._embed(code)
                self._shared.code_embedded_elsewhere.set()
                if self._shared.code_asked.wait(_INTERVAL):
                    self._shared.code_asked.clear()
                    last = time.monotonic()
                self._check_stop()

    def _await_first(self) -> bool:
        """Wait until a request has indexed the code; tell whether one has.

        Whoever indexes first locks the files: a request that comes second would answer without.
        """
        for _ in range(round(_INTERVAL / _FIRST)):
            if self._stop.wait(_FIRST):
                raise Cancelled
            code = self._shared.indexed_codebase()
            if code is not None:
                with code.lock:  # held while a request indexes
                    return True
        return False

    def _embed(self, code: Codebase) -> None:
        """Index what changed, and embed it in turns; raise Cancelled."""
        code.catch_up(progress=self._check_stop, seconds=0.0)
        left = None
        while (now := code.embed(_TURN)) and now != left:  # without an embedder, all are left
            left = now
            if self._stop.wait(_BETWEEN):
                raise Cancelled

    def _check_stop(self, *_: object) -> None:
        if self._stop.is_set():
            raise Cancelled
