"""The work trees of an editor's source files, each opened once, when it is first needed."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from memory_bank.errors import MemoryBankError, NoRepository
from memory_bank.serving.shared_code import SharedCode

if TYPE_CHECKING:
    from memory_bank.codebase import Codebase

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
        made = SharedCode(partial(_open, folder), searched=False)
        try:
            root = made.code.root
        except NoRepository:
            return None
        except (MemoryBankError, OSError) as error:
            _log.warning("%s: %s", folder, error)
            return None
        if root in self._open:
            made.close()
        else:
            made.start()
            self._open[root] = made
        return root


def _open(folder: Path, embeds: Callable[[], bool]) -> Codebase:
    from memory_bank.codebase import open_codebase  # start-up: the first answer needs none

    return open_codebase(folder, embeds=embeds)
