"""The work trees of an editor's source files, each opened once, when it is first needed."""

from __future__ import annotations

import logging
import threading
import time
from pathlib import Path

from memory_bank.errors import MemoryBankError, NoRepository
from memory_bank.serving.shared_code import SharedCode

_AGAIN = 5.0
"""Seconds after which a folder outside of work trees is searched again."""
_log = logging.getLogger(__name__)


class Codebases:
    """The code of the work trees in which an editor's files are; for any thread."""

    def __init__(self) -> None:
        """Open nothing yet."""
        self._lock = threading.Lock()
        self._open: dict[Path, SharedCode] = {}
        self._found: dict[Path, tuple[float, Path | None]] = {}
        """The root of the work tree by folder, and when it was searched."""

    def of(self, file: Path) -> SharedCode | None:
        """Return the code of a file's work tree; None outside of work trees."""
        folder = file.parent
        with self._lock:
            searched, root = self._found.get(folder, (float("-inf"), None))
            if root is None and time.monotonic() - searched >= _AGAIN:
                root = self._opened(folder)
                self._found[folder] = (time.monotonic(), root)
            return self._open[root] if root else None

    def close(self) -> None:
        """Close all code."""
        with self._lock:
            for one in self._open.values():
                one.close()

    def _opened(self, folder: Path) -> Path | None:
        """Open the work tree of a folder, unless it is open, and return its root."""
        try:
            made = SharedCode(folder)
        except NoRepository:
            return None
        except (MemoryBankError, OSError) as error:
            _log.warning("%s: %s", folder, error)
            return None
        root = made.code.root
        if root in self._open:
            made.close()
        else:
            self._open[root] = made
        return root
