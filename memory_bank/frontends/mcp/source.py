"""Where the server's bank comes from: found when it is first needed, closed in the end."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING
from weakref import WeakSet

from memory_bank.errors import NoBank
from memory_bank.frontends.mcp.progress import tell

if TYPE_CHECKING:
    from memory_bank.bank import Bank


class Source:
    """One bank for all requests of a server; opened by the first that asks.

    A server starts where there is no bank yet: each request looks again, and says so if not.
    """

    def __init__(self, path: str | None = None) -> None:
        """Serve the bank at `path`, or the one of the working directory."""
        self.hide: Callable[[str], str] = str
        """What messages of ours go through: over HTTP, paths of this machine are left out."""
        self._path = path
        self._lock = threading.Lock()
        self._bank: Bank | None = None
        self._banks: WeakSet[Bank] = WeakSet()

    def bank(self) -> Bank:
        """Return the bank, which tells each call's client how far it is; raise NoBank."""
        with self._lock:
            if self._bank is None:
                self._bank = self.another()
                self._bank.progress = tell
            return self._bank

    def another(self) -> Bank:
        """Open the bank a second time, for work that must not keep requests waiting."""
        from memory_bank.bank import open_bank

        try:
            bank = open_bank(self._path)
        except FileNotFoundError as error:
            raise NoBank("the working directory is gone", "start the server elsewhere") from error
        self._banks.add(bank)
        return bank

    def take_repaired(self) -> list[str]:
        """Return what was repaired since the last answer, behind the server's back included."""
        found = [what for bank in list(self._banks) for what in bank.take_repaired()]
        return list(dict.fromkeys(found))

    def take_notices(self) -> list[str]:
        """Return what else there is to say since the last answer."""
        found = [notice for bank in list(self._banks) for notice in bank.take_notices()]
        return list(dict.fromkeys(found))

    def rest(self, seconds: float) -> None:
        """Wait until no call is at work on the bank, at most that many seconds."""
        if self._bank is not None:
            self._bank.lock.acquire(timeout=seconds)

    def close(self) -> None:
        """Let go of the bank."""
        with self._lock:
            if self._bank is not None:
                self._bank.close()
                self._bank = None
