"""The banks and work trees of an editor's files, each opened once, when it is first needed."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from memory_bank.bank.findings import Finding
from memory_bank.base import paths
from memory_bank.base.errors import BadName, BadSetting, MemoryBankError, NoBank, NoRepository
from memory_bank.code.index.codebase import Codebase
from memory_bank.frontends.serving.serving_background import Background
from memory_bank.frontends.serving.shared_bank import SharedBank, SharedCode
from memory_bank.memory.maintenance import ChangedPaths

_BANK_AGAIN = 2.0
"""Seconds after which a folder without a bank is searched again."""

_log = logging.getLogger(__name__)


class OpenBank:
    """A bank, the work in its background, and the last findings of its rules."""

    def __init__(self, root: Path, changed: Callable[[OpenBank, ChangedPaths], None]) -> None:
        """Open nothing yet; `changed` is called with each batch of changed notes."""
        self.root = root
        self.shared = SharedBank(str(root))
        self.background = Background(self.shared)
        self.background.listen(partial(changed, self))
        self.findings: Mapping[str, Sequence[Finding]] = {}
        """Findings in the saved files, by path; replaced as a whole."""

    def start(self) -> None:
        """Make the folder of the index if it is missing, then start the background work.

        Two banks that make it at the same time would each find an index of unknown origin.
        """
        try:
            self.shared.bank().read(lambda view: view)
        finally:
            self.background.start()

    def close(self) -> None:
        """Stop the background work, and close the bank."""
        self.background.close()
        self.shared.close()


class Banks:
    """The banks in which an editor's files are. Its methods may be called from any thread."""

    def __init__(
        self, bank_path: str | None, changed: Callable[[OpenBank, ChangedPaths], None]
    ) -> None:
        """Use the bank at `bank_path` for all files, or the bank of each file's folder."""
        self._named = bank_path
        self._changed = changed
        self._lock = threading.Lock()
        self._open: dict[Path, OpenBank] = {}
        self._found: dict[Path, tuple[float, Path | None]] = {}
        """The bank's root by folder, and when it was searched."""

    def of(self, file: Path) -> OpenBank | None:
        """Return the bank of a file or folder; None if there is none."""
        with self._lock:
            if private := self._find_private(file):
                return private
            root = self._find_root(file if file.is_dir() else file.parent)
            if root is None:
                return None
            if root not in self._open:
                self._open[root] = OpenBank(root, self._changed)
                self._open[root].start()
            return self._open[root]

    def list_open(self) -> list[OpenBank]:
        """Return the banks that are open."""
        with self._lock:
            return list(self._open.values())

    def close(self) -> None:
        """Close all banks."""
        for bank in self.list_open():
            bank.close()

    def _find_private(self, file: Path) -> OpenBank | None:
        """Return the open bank to which a note of a session belongs, which is elsewhere."""
        state = paths.user_folder("state")
        if not file.is_relative_to(state):
            return None
        return next(
            (bank for bank in self._open.values() if bank.shared.bank().roots.key_of(str(file))),
            None,
        )

    def _find_root(self, folder: Path) -> Path | None:
        """Return the root of the bank of a folder; None if there is none."""
        searched_at, root = self._found.get(folder, (float("-inf"), None))
        if time.monotonic() - searched_at < _BANK_AGAIN or (root is not None and root.is_dir()):
            return root
        try:
            root = paths.locate(self._named, start=folder).root
        except (NoBank, BadName, BadSetting, OSError) as error:
            root = None
            if not isinstance(error, NoBank) and folder not in self._found:
                _log.warning("%s: %s", folder, error)
        self._found[folder] = (time.monotonic(), root)
        return root


_CODE_AGAIN = 5.0
"""Seconds after which a folder outside of work trees is searched again."""


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
            searched_at, root = self._found.get(folder, (float("-inf"), None))
            if root is None and time.monotonic() - searched_at >= _CODE_AGAIN:
                root = self._open_work_tree(folder)
                self._found[folder] = (time.monotonic(), root)
            return self._open[root] if root else None

    def close(self) -> None:
        """Close all code."""
        with self._lock:
            for code in self._open.values():
                code.close()

    def _open_work_tree(self, folder: Path) -> Path | None:
        """Open the work tree of a folder, unless it is open, and return its root."""
        code = SharedCode(partial(_open, folder), searched=False)
        try:
            root = code.code.root
        except NoRepository:
            return None
        except (MemoryBankError, OSError) as error:
            _log.warning("%s: %s", folder, error)
            return None
        if root in self._open:
            code.close()
        else:
            code.start()
            self._open[root] = code
        return root


def _open(folder: Path, embeds: Callable[[], bool]) -> Codebase:
    from memory_bank.code.index.codebase import (
        open_codebase,  # start-up: the first answer needs none
    )

    return open_codebase(folder, embeds=embeds)
