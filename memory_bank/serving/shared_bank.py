"""The bank that all requests of a front-end share: found when it is first needed."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Self
from weakref import WeakSet

from memory_bank.errors import NoBank
from memory_bank.serving.progress import tell

if TYPE_CHECKING:
    from memory_bank.bank import Bank


class SharedBank:
    """One bank for all requests; opened by the first that asks.

    A front-end starts where there is no bank yet: each request looks again, and says so if not.
    """

    def __init__(self, path: str | None = None) -> None:
        """Serve the bank at `path`, or the one of the working directory."""
        self._path = path
        self._lock = threading.Lock()
        self._bank: Bank | None = None
        self._banks: WeakSet[Bank] = WeakSet()

    def __enter__(self) -> Self:
        """Return the shared bank itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the bank."""
        self.close()

    def bank(self) -> Bank:
        """Return the bank; raise NoBank."""
        with self._lock:
            if self._bank is None:
                self._bank = self.another()
            return self._bank

    def another(self) -> Bank:
        """Open the bank once more, for work that must not keep requests waiting.

        What it does before an answer is reported to the `progress` of the caller.
        """
        from memory_bank.bank import open_bank  # start-up: what answers first needs no bank

        try:
            bank = open_bank(self._path)
        except FileNotFoundError as error:
            raise NoBank("the working directory is gone", "start the server elsewhere") from error
        bank.progress = tell
        self._banks.add(bank)
        return bank

    def take_repaired(self) -> list[str]:
        """Return what was repaired since the last answer, by background work included."""
        found = [what for bank in list(self._banks) for what in bank.take_repaired()]
        return list(dict.fromkeys(found))

    def take_notices(self) -> list[str]:
        """Return what else there is to say since the last answer."""
        found = [notice for bank in list(self._banks) for notice in bank.take_notices()]
        return list(dict.fromkeys(found))

    def rest(self, seconds: float) -> None:
        """Wait until no request is at work on the bank, at most that many seconds."""
        if self._bank is not None:
            self._bank.lock.acquire(timeout=seconds)

    def close(self) -> None:
        """Let go of the bank."""
        with self._lock:
            if self._bank is not None:
                self._bank.close()
                self._bank = None
