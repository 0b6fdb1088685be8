"""The code of a work tree that all requests of a front-end share, kept up to date in a thread.

Requests read it as it is: no request waits for files to be parsed or commits to be read.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from memory_bank.errors import MemoryBankError

if TYPE_CHECKING:
    from memory_bank.codebase import Codebase
    from memory_bank.repo.coupled_files import CouplingState
    from memory_bank.repo.coupling import Coupled

_FRESH = 5.0
"""Seconds after an update before the next one."""
_CLOSE_SECONDS = 2.0
_log = logging.getLogger(__name__)


class SharedCode:
    """One codebase for all requests, and another that a thread updates."""

    def __init__(self, folder: Path) -> None:
        """Open the code of the work tree that holds a folder; raise NoRepository."""
        from memory_bank.codebase import open_codebase  # start-up: the first answer needs none

        self.code: Codebase = open_codebase(folder)
        self._own = open_codebase(folder)
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._ended = 0.0
        self._stop = False
        self._state: CouplingState | None = None
        self._coupled: tuple[object, dict[str, Sequence[Coupled]]] = (None, {})

    @property
    def enabled(self) -> bool:
        """Whether the settings allow to read code."""
        return self.code.settings.code.enabled

    def update(self) -> None:
        """Start an update in a thread, unless one runs or has just ended."""
        with self._lock:
            runs = self._thread is not None and self._thread.is_alive()
            if runs or self._stop or not self.enabled or time.monotonic() - self._ended < _FRESH:
                return
            self._thread = threading.Thread(target=self._update, name="code", daemon=True)
            self._thread.start()

    def coupled(self, path: str) -> Sequence[Coupled]:
        """Return the files that are coupled with a file, as of the last update."""
        state = self._state
        if state is None:
            return ()
        if self._coupled[0] is not state.coupling:
            self._coupled = state.coupling, {}
        known = self._coupled[1]
        if path not in known:
            known[path] = state.coupling.of(path)
        return known[path]

    @property
    def ready(self) -> bool:
        """Whether it was updated once."""
        return self._state is not None

    def close(self) -> None:
        """Stop updating, and close the code."""
        with self._lock:
            self._stop = True
        if self._thread is not None:
            self._thread.join(_CLOSE_SECONDS)
        if self._thread is None or not self._thread.is_alive():
            self._own.close()
        self.code.close()

    def _update(self) -> None:
        try:
            self._own.refresh()
            with self.code.lock:
                self.code.relations()
            if not self._stop:
                self._state = self._own.coupling()
        except MemoryBankError as error:
            _log.warning("%s: %s", error.code, error.message)
        except Exception:  # noqa: BLE001  (the outermost frame of a thread: requests are served without it)
            _log.exception("the code was not updated")
        finally:
            self._ended = time.monotonic()
