"""The bank and the code that all requests of a front-end share, opened on first use."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from memory_bank.errors import NoBank
from memory_bank.filenames import reached
from memory_bank.repairs import Reports
from memory_bank.serving.progress import tell
from memory_bank.serving.shared_code import SharedCode

if TYPE_CHECKING:
    from memory_bank.bank import Bank
    from memory_bank.codebase import Codebase

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
        self._repairs = Reports()
        self._notices = Reports()

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
        return self.code.asked()

    def another(self, *, embeds: bool = True) -> Bank:
        """Open the bank separately, for work that must not block requests; raise NoBank.

        With `embeds`, its queries embed new passages.
        """
        return self._open(lambda: embeds)

    def take_repaired(self) -> list[str]:
        """Return the repairs since the last call, including those of background work."""
        return self._repairs.take()

    def take_notices(self) -> list[str]:
        """Return the other notices since the last call."""
        return self._notices.take()

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
        from memory_bank.codebase import open_codebase  # start-up: the first answer needs none

        return open_codebase(self._folder(), bank=self._path, embeds=embeds)

    def _open(self, embeds: Callable[[], bool]) -> Bank:
        """Open the bank; its progress is reported to the current request."""
        from memory_bank.bank import Conditions, open_bank  # start-up: the first answer needs none

        conditions = Conditions(tell, embeds, self._repairs, self._notices)
        try:
            return open_bank(self._path, start=self._folder(), conditions=conditions)
        except FileNotFoundError as error:
            raise NoBank(
                "the working directory no longer exists", "start the server in another directory"
            ) from error

    def _folder(self) -> Path | None:
        """Return the folder from which the bank is found; None for the working directory.

        A client may start the server outside of its project. So if it has folders, the working
        directory counts only inside of one of them.
        """
        if self.named:
            return None
        self._folders_known.wait(FOLDER_SECONDS)
        if not self._folders:
            return None
        from memory_bank.layout import locate  # start-up: the first answer needs none

        here = Path(os.path.realpath(reached()))
        inside = any(here.is_relative_to(os.path.realpath(one)) for one in self._folders)
        places = [None, *self._folders] if inside else [*self._folders]
        for place in places:
            with suppress(NoBank):
                locate(start=place)
                return place
        return places[0]
