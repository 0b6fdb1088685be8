"""Tell when files of a bank change: at once where the system does, else by looking."""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Self

from watchdog.events import (
    DirCreatedEvent,
    DirDeletedEvent,
    DirMovedEvent,
    FileClosedEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileModifiedEvent,
    FileMovedEvent,
    FileSystemEvent,
    FileSystemEventHandler,
)
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver
from watchdog.observers.polling import PollingObserver

from memory_bank.layout import NOTE_SUFFIXES

QUIET = 0.1
"""Seconds without a further event after which a batch of changes is taken for complete."""
LONGEST = 2.0
"""Seconds after which a batch is reported even if events keep coming."""
RECONCILE = 300.0
"""Seconds after which files are looked at although nothing was heard: events can be lost."""
_POLL = 1.0
_ALIVE = 5.0

# Opening and reading is no change. Where the end of writing is told, each write need not be.
_EVENTS: list[type[FileSystemEvent]] = [
    FileCreatedEvent, FileClosedEvent, FileDeletedEvent, FileMovedEvent,
    DirCreatedEvent, DirDeletedEvent, DirMovedEvent,
    *([] if sys.platform == "linux" else [FileModifiedEvent]),
]  # fmt: skip


class Watcher(FileSystemEventHandler):
    """Hears of changes below a folder; `wait` returns once for each batch of them."""

    def __init__(self, root: Path) -> None:
        """Watch the Markdown files below `root`, hidden folders left out."""
        self._root = root
        self._changed = threading.Condition()
        self._first = self._last = 0.0
        self._observer: BaseObserver | None = None
        self.polling = ""
        """Why files are looked at every second instead of being heard of; empty if they aren't."""

    def __enter__(self) -> Self:
        """Start to listen."""
        self._lost = _Lost(self.touch)
        logging.getLogger("watchdog").addHandler(self._lost)
        self._start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop to listen."""
        logging.getLogger("watchdog").removeHandler(self._lost)
        self._stop()

    def on_any_event(self, event: FileSystemEvent) -> None:
        """Take note of a change to a note or a folder."""
        paths = [str(path) for path in (event.src_path, event.dest_path) if path]
        if any(self._matters(path, folder=event.is_directory) for path in paths):
            self.touch()

    def touch(self) -> None:
        """Say that something changed."""
        with self._changed:
            self._last = time.monotonic()
            self._first = self._first or self._last
            self._changed.notify_all()

    def wait(self, stop: threading.Event) -> bool:
        """Wait for a batch of changes to be complete; False when `stop` is set before."""
        looked = time.monotonic()
        while not stop.is_set():
            with self._changed:
                self._changed.wait(self._pause())
                now = time.monotonic()
                if self._first and (now - self._last >= QUIET or now - self._first >= LONGEST):
                    self._first = 0.0
                    return True
            if now - looked > RECONCILE:
                return True
            self._revive()
        return False

    def _pause(self) -> float:
        if not self._first:
            return _POLL / 4
        return max(0.001, QUIET - (time.monotonic() - self._last))

    def _matters(self, path: str, *, folder: bool) -> bool:
        try:
            parts = Path(path).relative_to(self._root).parts
        except ValueError:
            return False
        hidden = any(part.startswith(".") for part in parts)
        return not hidden and (folder or path.endswith(NOTE_SUFFIXES))

    def _start(self) -> None:
        try:
            self._observer = self._listen(Observer())
            self.polling = ""
        except OSError as error:  # inotify's watches or instances have run out
            self.polling = f"changes are looked for every {_POLL:g} s: {error}"
            self._observer = self._listen(PollingObserver(timeout=_POLL))

    def _listen(self, observer: BaseObserver) -> BaseObserver:
        observer.schedule(self, str(self._root), recursive=True, event_filter=_EVENTS)
        observer.start()
        return observer

    def _stop(self) -> None:
        if self._observer is not None:
            self._observer.stop()
            self._observer.join(_ALIVE)
            self._observer = None

    def _revive(self) -> None:
        """Listen anew when the folder was removed and made again: the old ear has gone deaf."""
        observer = self._observer
        if observer is None or all(emitter.is_alive() for emitter in observer.emitters):
            return
        if self._root.is_dir():
            self._stop()
            self._start()
            self.touch()


class _Lost(logging.Handler):
    """Hears watchdog say that its queue ran over, which means that events were lost."""

    def __init__(self, touch: Callable[[], None]) -> None:
        super().__init__(logging.WARNING)
        self._touch = touch

    def emit(self, record: logging.LogRecord) -> None:
        if "overflow" in record.getMessage():
            self._touch()
