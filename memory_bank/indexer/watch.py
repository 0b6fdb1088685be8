"""Follow the changes of a bank's files: a batch at a time, when those who write pause."""

from __future__ import annotations

import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, Self

from memory_bank.indexer.ear import Ear

QUIET = 0.1
"""Seconds without a further change after which a batch is taken for complete."""
LONGEST = 2.0
"""Seconds after which a batch is reported even if changes keep coming."""
RECONCILE = 300.0
"""Seconds after which all files are looked at although nothing was heard, and listening is tried
again where it failed."""
_TURN = 0.25
_STEP = 0.02
_SYSTEM: str = sys.platform


@dataclass(frozen=True, slots=True)
class Heard:
    """A batch of changes."""

    paths: frozenset[str] = frozenset()
    """Notes below the bank that came, changed or went."""
    everything: bool = False
    """Whether any other may have, too: a folder moved, say, or changes were lost."""

    def __bool__(self) -> bool:
        """Tell whether there is any change."""
        return self.everything or bool(self.paths)

    def __add__(self, other: Heard) -> Heard:
        """Put two batches together."""
        return Heard(self.paths | other.paths, self.everything or other.everything)


NOTHING = Heard()
EVERYTHING = Heard(everything=True)


class Hearing(Protocol):
    """One way to hear of changes below a folder."""

    def heard(self) -> frozenset[str] | None:
        """Return the notes that changed since the last call.

        None: anything may have, and one must listen anew.
        """

    def wait(self, seconds: float) -> None:
        """Wait until there may be something to hear, at most that long."""

    def close(self) -> None:
        """Stop to listen."""


class Watcher:
    """Hears of changes below a folder; `wait` returns once for each batch of them.

    It serves those who follow. A question need not ask it: a bank hears of changes by itself.
    """

    def __init__(self, root: Path) -> None:
        """Watch the Markdown files below `root`, hidden folders left out."""
        self._root = root
        self._hearing: Hearing | None = None
        self._batch = NOTHING
        self._first = self._last = self._since = 0.0
        self.polling = ""
        """Why files are looked at in turns instead of being heard of; empty if they aren't."""

    def __enter__(self) -> Self:
        """Start to listen."""
        self._listen()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop to listen."""
        self._close()

    def wait(self, stop: threading.Event) -> Heard:
        """Wait for a batch of changes to be complete and return it; nothing when `stop` is set."""
        while not stop.is_set():
            self._hear()
            now = time.monotonic()
            if self._batch and (now - self._last >= QUIET or now - self._first >= LONGEST):
                heard, self._batch = self._batch, NOTHING
                return heard
            if self._batch or self._hearing is None:
                stop.wait(_STEP)
            else:
                self._hearing.wait(_TURN)
        return NOTHING

    def _hear(self) -> None:
        """Add what was heard to the batch; listen anew when that is no more believed."""
        heard = self._hearing.heard() if self._hearing else None
        old = time.monotonic() - self._since > RECONCILE
        if heard is None or old:
            before = self._hearing
            self._listen()
            found = EVERYTHING if before or self._hearing else NOTHING
        else:
            found = Heard(heard)
        if found:
            self._last = time.monotonic()
            self._first = self._first if self._batch else self._last
            self._batch += found

    def _listen(self) -> None:
        self._close()
        self.polling, self._since = "", time.monotonic()
        if not self._root.is_dir():
            return
        try:
            self._hearing = _hearing(self._root)
        except OSError as error:
            from memory_bank.indexer._ears import POLL, Looked

            self._hearing = Looked(self._root)
            self.polling = f"changes are looked for every {POLL:g} s: {error.strerror}"

    def _close(self) -> None:
        if self._hearing is not None:
            self._hearing.close()
            self._hearing = None


def deaf(root: Path) -> str:
    """Return why changes below a folder can't be heard of just now; empty if they can."""
    with Watcher(root) as watcher:
        return watcher.polling


def _hearing(root: Path) -> Hearing:
    if _SYSTEM == "linux":
        return Ear(root, trusted=2 * RECONCILE)
    from memory_bank.indexer._ears import Observed

    return Observed(root)
