"""The bank and the code that all requests of a front end share, their progress, and stdio."""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import BinaryIO, TypeAlias

from memory_bank.bank.bank import Bank
from memory_bank.base.errors import MemoryBankError, NoBank
from memory_bank.base.filenames import working_folder
from memory_bank.base.repairs import Reports
from memory_bank.code.coupled import CoupledFile, Coupling
from memory_bank.code.index.codebase import Codebase

OpenCode: TypeAlias = "Callable[[Callable[[], bool]], Codebase]"
"""Opens the code; it is given what tells whether its requests embed."""

_INTERVAL = 5.0
"""Seconds between two comparisons with the files."""

_SHARE = 20
"""Files are compared for at most one part in so many of the time."""

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


class SharedCode:
    """One codebase for all requests, and a thread that keeps it up to date with another.

    What requests do decides who reads the files first. If they search, the first request indexes
    (`Codebase.catch_up`), since it can't be answered otherwise; the thread then indexes and embeds
    changes. If they only look up, they read nothing and never wait: the thread reads the files and
    their coupling, and requests see what it has read so far.
    """

    def __init__(self, open_code: OpenCode, *, searched: bool) -> None:
        """Open nothing yet; `searched` says whether requests search or only look up."""
        self.embedded_elsewhere = threading.Event()
        """Set while the thread embeds new passages, so that requests need not."""
        self._open = open_code
        self._searched = searched
        self._lock = threading.Lock()
        self._code: Codebase | None = None
        self._own: Codebase | None = None
        self._thread: threading.Thread | None = None
        self._started = False
        self._stop = threading.Event()
        self._asked = threading.Event()
        self._alone = threading.Event()
        """Set when no request indexes, so that the thread has to."""
        self._indexed = threading.Event()
        """Set while the thread keeps the index up to date."""
        self._last = 0.0
        """When the last request asked for the code."""
        self._coupling: Coupling | None = None
        self._coupled: tuple[object, dict[str, Sequence[CoupledFile]]] = (None, {})

    @property
    def code(self) -> Codebase:
        """The code for requests, opened on first use; raises NoRepository."""
        with self._lock:
            if self._code is None:
                self._code = self._open(lambda: not self.embedded_elsewhere.is_set())
            return self._code

    @property
    def enabled(self) -> bool:
        """Whether the settings allow to read code."""
        return self.code.settings.code.enabled

    @property
    def ready(self) -> bool:
        """Whether the thread has read the coupling of files."""
        return self._coupling is not None

    def start(self) -> None:
        """Let requests start the thread from now on, and start it if one has asked before."""
        with self._lock:
            self._started = True
        if self._asked.is_set():
            self._start()

    def wake(self) -> Codebase:
        """Return the code for a request, which starts or wakes the thread; raise NoRepository."""
        code = self.code
        self._last = time.monotonic()
        self._asked.set()
        self._start()
        return code

    def wait_until_indexed(self, seconds: float) -> bool:
        """Let the thread index, even before any request has; return whether it has in time.

        From then on, requests need not compare the files. Raises NoRepository.
        """
        self._alone.set()
        self.wake()
        return self._indexed.wait(seconds)

    def coupled(self, path: str) -> Sequence[CoupledFile]:
        """Return the files that are coupled with a file, as the thread has read them last."""
        coupling = self._coupling
        if coupling is None:
            return ()
        if self._coupled[0] is not coupling:
            self._coupled = coupling, {}
        coupled = self._coupled[1]
        if path not in coupled:
            coupled[path] = coupling.of(path)
        return coupled[path]

    def stop(self) -> None:
        """End the thread permanently, and wait for it a short time."""
        with self._lock:
            self._stop.set()
        self._asked.set()
        if self._thread is not None:
            self._thread.join(_CLOSE_SECONDS)

    def close(self) -> None:
        """End the thread, and close the code."""
        self.stop()
        with self._lock:
            ended = self._thread is None or not self._thread.is_alive()
            for codebase in (self._code, self._own if ended else None):
                if codebase is not None:
                    codebase.close()
            self._code = None

    def _start(self) -> None:
        with self._lock:
            if self._thread is None and self._started and not self._stop.is_set():
                self._thread = threading.Thread(target=self._run, name="code", daemon=True)
                self._thread.start()

    def _run(self) -> None:
        """Update until no request has asked for the code for long."""
        share = 0  # the first update, which reads all, says nothing of the next
        while True:
            self._asked.clear()
            begun = time.monotonic()
            self._try_update()
            # what a search leaves is embedded at once; a lookup leaves nothing
            wakes = self._asked if self._searched else self._stop
            if not self._stop.is_set():
                wakes.wait(max(_INTERVAL, share * (time.monotonic() - begun)))
            share = _SHARE
            if self._must_end():
                return

    def _try_update(self) -> None:
        try:
            self._update()
        except Cancelled:
            return
        except MemoryBankError as error:
            _log.warning("%s: %s", error.code, error.message)
        except Exception:  # noqa: BLE001  (the outermost frame of a thread: requests are served without it)
            _log.exception("the code was not updated")
        else:
            return
        self._release()

    def _release(self) -> None:
        """Close the thread's code, which is opened again by its next use; let requests embed."""
        self.embedded_elsewhere.clear()
        self._indexed.clear()
        if self._own is not None:
            self._own.close()

    def _must_end(self) -> bool:
        """Return whether the thread must end; if so, the next request starts another one."""
        with self._lock:
            if not self._stop.is_set():
                if self._asked.is_set() or time.monotonic() - self._last <= _IDLE:
                    return False
                self._thread = None
            self._release()
            return True

    def _update(self) -> None:
        if self._searched and self._own is None and not self._wait_for_first():
            return
        if self._own is None:
            self._own = self._open(lambda: True)
        if self._searched:
            self._embed(self._own)
            self.embedded_elsewhere.set()
        else:
            self._read(self._own)

    def _wait_for_first(self) -> bool:
        """Wait until a request has indexed the code; return whether one has, or none will.

        Indexing locks the files: a request that comes while the thread indexes would find nothing.
        """
        code = self.code
        for _ in range(max(1, round(_INTERVAL / _FIRST))):
            if self._stop.wait(0 if self._alone.is_set() else _FIRST):
                raise Cancelled
            if self._alone.is_set():
                return True
            if code.table.file.exists():
                with code.lock:  # held while a request indexes
                    return True
        return False

    def _embed(self, own: Codebase) -> None:
        """Index what changed, and embed it in turns; raise Cancelled."""
        own.catch_up(progress=self._check_stop, seconds=0.0)
        self.code.follow(own)
        self._indexed.set()
        remaining = None
        # without an embedder, all are left
        while (waiting := own.embed(_TURN).waiting) and waiting != remaining:
            remaining = waiting
            if self._stop.wait(_BETWEEN):
                raise Cancelled

    def _read(self, own: Codebase) -> None:
        """Read what changed, and the coupling; raise Cancelled."""
        own.refresh(self._check_stop)
        code = self.code
        with code.lock:
            code.relations()
        self._check_stop()
        self._coupling, _ = own.coupling(refresh=False)

    def _check_stop(self, *_: object) -> None:
        if self._stop.is_set():
            raise Cancelled


FOLDER_SECONDS = 10.0
"""Seconds that requests wait for the folders of a client that offers them."""


class SharedBank:
    """One bank for all requests, opened by the first request.

    A front-end may start without a bank: each request then tries again and raises NoBank.
    """

    def __init__(self, path: str | None = None) -> None:
        """Serve the bank at `path`, or the one of the client's folders or the working directory."""
        self.embedded_elsewhere = threading.Event()
        """Set while background work embeds new passages, so that requests need not."""
        self.code = SharedCode(self._open_code, searched=True)
        """The code around the bank, or around the working directory."""
        self.named = path is not None
        """Whether the bank is named, not found from folders."""
        self._path = path
        self._folders: Sequence[Path] = ()
        self._folders_known = threading.Event()
        self._folders_known.set()
        self._lock = threading.Lock()
        self._bank: Bank | None = None
        self.repairs, self.notices = Reports(), Reports()
        """Those of requests and of background work."""

    def expect_folders(self) -> None:
        """Let requests wait a short time for the folders of the client."""
        self._folders_known.clear()

    def take_folders(self, folders: Sequence[Path]) -> None:
        """Take the folders of the client; a bank that is open stays."""
        self._folders = folders
        self._folders_known.set()

    def bank(self) -> Bank:
        """Return the bank; raise NoBank."""
        with self._lock:
            if self._bank is None:
                self._bank = self._open(lambda: not self.embedded_elsewhere.is_set())
            return self._bank

    def codebase(self) -> Codebase:
        """Return the code for a request, which keeps it up to date; raise NoRepository."""
        return self.code.wake()

    def another(self, *, embeds: bool = True) -> Bank:
        """Open the bank separately, for work that must not block requests; raise NoBank.

        With `embeds`, its queries embed new passages.
        """
        return self._open(lambda: embeds)

    def wait(self, seconds: float) -> None:
        """Wait until no request uses the bank, at most that many seconds."""
        if self._bank is not None:
            self._bank.lock.acquire(timeout=seconds)

    def close(self) -> None:
        """Close the bank and the code."""
        self.code.close()
        with self._lock:
            if self._bank is not None:
                self._bank.close()
                self._bank = None

    def _open_code(self, embeds: Callable[[], bool]) -> Codebase:
        from memory_bank.code.index.codebase import (
            open_codebase,  # start-up: the first answer needs none
        )

        return open_codebase(self._find_folder(), bank=self._path, embeds=embeds)

    def _open(self, embeds: Callable[[], bool]) -> Bank:
        """Open the bank; its progress is reported to the current request."""
        from memory_bank.bank.bank import (
            Conditions,
            open_bank,  # start-up: the first answer needs none
        )

        conditions = Conditions(tell, embeds, self.repairs, self.notices)
        try:
            bank = open_bank(self._path, start=self._find_folder(), conditions=conditions)
        except FileNotFoundError as error:
            raise NoBank(
                "the working directory no longer exists", "start the server in another directory"
            ) from error
        return bank

    def _find_folder(self) -> Path | None:
        """Return the folder from which the bank is found; None for the working directory.

        A client may start the server outside of its project. So if it has folders, the working
        directory counts only inside of one of them.
        """
        if self.named:
            return None
        self._folders_known.wait(FOLDER_SECONDS)
        if not self._folders:
            return None
        from memory_bank.base.paths import locate  # start-up: the first answer needs none

        here = Path(os.path.realpath(working_folder()))
        inside = any(here.is_relative_to(os.path.realpath(path)) for path in self._folders)
        places = [None, *self._folders] if inside else [*self._folders]
        for place in places:
            with suppress(NoBank):
                locate(start=place)
                return place
        return places[0]


Listener = Callable[[str, int, int], None]
"""Called with the task's name, the amount done and the total; an exception ends the work."""

_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


class Cancelled(Exception):
    """The request was cancelled; the work stops before its next step."""


@contextmanager
def reporting_to(listener: Listener) -> Iterator[None]:
    """Report progress inside the block to `listener`, also from threads with a copied context."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def tell(text: str, number: int, total: int) -> None:
    """Report progress to the current listener; raise what it raises."""
    listener = _listener.get()
    if listener is not None:
        listener(text, number, total)


def claim_streams() -> tuple[BinaryIO, BinaryIO]:
    """Reserve stdin and stdout for a protocol alone, and return them.

    Other code that reads stdin gets end of file; its prints go to stderr.
    """
    wire = os.dup(0), os.dup(1)
    _redirect(0, os.open(os.devnull, os.O_RDONLY))
    try:
        _redirect(1, os.dup(2))
    except OSError:  # there is no stderr
        _redirect(1, os.open(os.devnull, os.O_WRONLY))
    return os.fdopen(wire[0], "rb", 2**16), os.fdopen(wire[1], "wb", 2**16)


def _redirect(number: int, target: int) -> None:
    """Redirect a standard descriptor to another one, which is closed."""
    os.dup2(target, number)
    os.close(target)
    if sys.platform == "win32":
        from mcp.os.win32.utilities import rebind_std_handle_to_fd

        with suppress(OSError):
            rebind_std_handle_to_fd(number)
