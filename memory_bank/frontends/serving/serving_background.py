"""Background work of a front-end: warm up, watch the files, compute vectors, notify listeners.

It opens the bank separately, as another process would, so that no request waits for its lock.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from typing import TypeAlias

from memory_bank.bank.bank import Bank
from memory_bank.base.errors import MemoryBankError
from memory_bank.base.setting_sections import BANK
from memory_bank.frontends.serving.shared_bank import Cancelled, SharedBank, reporting_to
from memory_bank.memory import maintenance
from memory_bank.memory.maintenance import ChangedPaths
from memory_bank.search.models import weight_files
from memory_bank.sessions import events
from memory_bank.sessions.answers import SessionStep

Listener: TypeAlias = "Callable[[ChangedPaths], object]"

SessionListener: TypeAlias = "Callable[[Sequence[SessionStep]], object]"

_DELAY = 0.05
"""Seconds after `start`, so that the client's next request goes first."""

_RETRY = 5.0
"""Seconds before another attempt to open or watch a bank."""

_TURN = 0.25
"""Seconds of embedding at a time."""

_EMBED_RETRY = 60.0
"""Seconds before another attempt to compute vectors."""

_IDLE = 300.0
"""Seconds after the last question that needed a model, after which it is let go."""

_CLOSE_SECONDS = 2.0
"""Seconds that `close` waits for running work; even a kill would lose nothing."""

_log = logging.getLogger(__name__)


class Background:
    """Threads that watch the files of a shared bank and its sessions, and embed notes and code."""

    def __init__(self, shared: SharedBank, prepare: Callable[[], object] = lambda: None) -> None:
        """Prepare the threads; `prepare` is called first, to load modules before requests do."""
        self._listeners: list[Listener] = []
        self._session_listeners: list[SessionListener] = []
        self._shared = shared
        self._prepare = prepare
        self._stop = threading.Event()
        self._waiting = threading.Event()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def listen(self, listener: Listener) -> None:
        """Call `listener` for each batch of changes from now on.

        It is called in the watching thread, must return quickly and raise nothing. An empty batch
        says that the files are watched from now on.
        """
        self._listeners.append(listener)

    def listen_to_sessions(self, listener: SessionListener) -> None:
        """Call `listener` with what happens in sessions, also in other processes.

        It is called in a thread of its own, must return quickly and raise nothing.
        """
        self._session_listeners.append(listener)

    def start(self) -> None:
        """Start the work unless it has started; thread-safe and idempotent."""
        with self._lock:
            if self._thread is None and not self._stop.is_set():
                self._thread = threading.Thread(target=self._run, name="background", daemon=True)
                self._thread.start()
                self._shared.code.start()

    def close(self) -> None:
        """Stop the work permanently, and wait for it a short time."""
        with self._lock:
            self._stop.set()
        if self._thread is not None:
            self._thread.join(_CLOSE_SECONDS)
        self._shared.code.stop()

    def _run(self) -> None:
        pause = _DELAY
        while not self._stop.wait(pause):
            pause = _RETRY
            try:
                self._prepare()
                with self._shared.another(embeds=False) as bank, reporting_to(self._check_stop):
                    self._watch(bank)
            except Cancelled:
                return
            except MemoryBankError as error:
                _log.warning("%s: %s", error.code, error.message)
            except Exception:  # noqa: BLE001  (the outermost frame of a thread: requests are served without it)
                _log.exception("background work failed")

    def _watch(self, bank: Bank) -> None:
        """Watch the files until the work stops, while other threads embed and follow sessions."""
        over = threading.Event()
        embedding = threading.Thread(target=self._embed, args=(bank, over), daemon=True)
        embedding.start()
        following = threading.Thread(target=self._follow_sessions, args=(bank, over), daemon=True)
        following.start()
        try:
            maintenance.follow_changes(bank, self.tell, self._stop)
        finally:
            self._shared.embedded_elsewhere.clear()
            over.set()
            self._waiting.set()
            embedding.join(_CLOSE_SECONDS)
            following.join(_CLOSE_SECONDS)

    def _follow_sessions(self, bank: Bank, over: threading.Event) -> None:
        while not over.is_set():
            try:
                events.follow(bank, self._tell_of_sessions, over)
            except MemoryBankError as error:
                _log.warning("%s: %s", error.code, error.message)
                over.wait(_RETRY)

    def _tell_of_sessions(self, news: Sequence[SessionStep]) -> None:
        for listener in self._session_listeners:
            listener(news)

    def tell(self, changed: ChangedPaths) -> None:
        """Tell all listeners that files have changed."""
        if not (changed.added or changed.removed or changed.changed):  # all is indexed
            self._warm()
        self._waiting.set()
        for listener in self._listeners:
            listener(changed)

    def _warm(self) -> None:
        """Load what the first query needs, but the model: most windows ask nothing."""
        from memory_bank.memory.retrieval.recall import recall

        recall(self._shared.bank(), "memory", 1, "lexical", count_access=False, scope=BANK)
        self._shared.embedded_elsewhere.set()

    def _embed(self, bank: Bank, over: threading.Event) -> None:
        while not over.is_set():
            self._waiting.wait(_EMBED_RETRY)
            self._waiting.clear()
            weight_files.release_idle(_IDLE)
            try:
                maintenance.embed_waiting(bank, _TURN, over)
            except MemoryBankError as error:
                _log.warning("%s: %s", error.code, error.message)

    def _check_stop(self, text: str, number: int, total: int) -> None:  # noqa: ARG002  (as actions report)
        if self._stop.is_set():
            raise Cancelled
