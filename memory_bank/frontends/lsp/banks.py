"""The banks of an editor's folders and files, each opened once, when it is first needed."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from memory_bank import layout
from memory_bank.errors import BadName, BadSetting, NoBank
from memory_bank.serving.background import Background
from memory_bank.serving.shared_bank import SharedBank

if TYPE_CHECKING:
    from memory_bank.actions.editor.problems import Finding
    from memory_bank.actions.maintenance import Changed

_AGAIN = 2.0
"""Seconds after which a folder without a bank is searched again."""
_log = logging.getLogger(__name__)


class OpenBank:
    """A bank, the work in its background, and what its rules found last."""

    def __init__(self, root: Path, changed: Callable[[OpenBank, Changed], None]) -> None:
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

    def __init__(self, named: str | None, changed: Callable[[OpenBank, Changed], None]) -> None:
        """Use the bank at `named` for all files, or the bank of each file's folder."""
        self._named = named
        self._changed = changed
        self._lock = threading.Lock()
        self._open: dict[Path, OpenBank] = {}
        self._found: dict[Path, tuple[float, Path | None]] = {}
        """The bank's root by folder, and when it was searched."""

    def of(self, file: Path) -> OpenBank | None:
        """Return the bank of a file or folder; None if there is none."""
        with self._lock:
            if private := self._private(file):
                return private
            root = self._root(file if file.is_dir() else file.parent)
            if root is None:
                return None
            if root not in self._open:
                self._open[root] = OpenBank(root, self._changed)
                self._open[root].start()
            return self._open[root]

    def opened(self) -> list[OpenBank]:
        """Return the banks that are open."""
        with self._lock:
            return list(self._open.values())

    def close(self) -> None:
        """Close all banks."""
        for one in self.opened():
            one.close()

    def _private(self, file: Path) -> OpenBank | None:
        """Return the open bank to which a note of a session belongs, which is elsewhere."""
        state = layout.user_folder("state")
        if not file.is_relative_to(state):
            return None
        return next(
            (one for one in self._open.values() if one.shared.bank().roots.key_of(str(file))), None
        )

    def _root(self, folder: Path) -> Path | None:
        """Return the root of the bank of a folder; None if there is none."""
        searched, root = self._found.get(folder, (float("-inf"), None))
        if time.monotonic() - searched < _AGAIN or (root is not None and root.is_dir()):
            return root
        try:
            root = layout.locate(self._named, start=folder).root
        except (NoBank, BadName, BadSetting, OSError) as error:
            root = None
            if not isinstance(error, NoBank) and folder not in self._found:
                _log.warning("%s: %s", folder, error)
        self._found[folder] = (time.monotonic(), root)
        return root
