"""Watch a bank's files with watchdog: one signal for each burst of changes."""

from __future__ import annotations

import logging
import threading
import time
import warnings
from collections.abc import Callable, Sequence
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

from memory_bank.base.file_watches import find_watch_problem
from memory_bank.base.filenames import NOTE_SUFFIXES, SETTINGS
from memory_bank.notes.roots import Watched

QUIET = 0.1
"""Seconds without a further change after which a burst is over."""

LONGEST = 2.0
"""Seconds after which a burst is reported even if changes keep coming."""

RECONCILE = 300.0
"""Seconds after which a burst is reported without an event, since events may be lost."""

POLL = 1.0
"""Seconds between two scans of all files where the system does not notify of changes."""

# Seconds between two looks at whether to stop.
_TURN = 0.25

# Seconds to wait for the thread of watchdog.
_JOIN = 5.0

_EVENTS: list[type[FileSystemEvent]] = [
    FileCreatedEvent,
    FileModifiedEvent,
    FileClosedEvent,
    FileMovedEvent,
    FileDeletedEvent,
    DirCreatedEvent,
    DirMovedEvent,
    DirDeletedEvent,
]

# watchdog warns about a folder that was moved away and back, but handles it
_MOVED_BACK = "Callback with id"

warnings.filterwarnings("ignore", _MOVED_BACK, RuntimeWarning)

# and it logs an error, which goes to stderr, when it is stopped while events arrive
logging.getLogger("watchdog.observers.inotify").setLevel(logging.CRITICAL)


class Watcher(FileSystemEventHandler):
    """Watches the Markdown files in folders, except in hidden ones below, and their settings.

    It signals that something changed, not what.
    """

    def __init__(self, folders: Callable[[], Sequence[Watched]]) -> None:
        """Watch `folders` from `__enter__` on; they are asked for again after each change."""
        self._folders = folders
        self._watched: Sequence[Watched] = ()
        self._changed = threading.Event()
        self._observer: BaseObserver | None = None
        self._since = 0.0
        self.polling = ""
        """Why files are scanned every second; empty if they are watched."""

    def __enter__(self) -> Self:
        """Start watching."""
        self._start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop watching."""
        self._stop()

    def wait(self, stop: threading.Event) -> bool:
        """Wait until a burst of changes is over; return False when `stop` is set."""
        self._follow()
        first = 0.0
        while not stop.is_set():
            if not self._alive() or time.monotonic() - self._since > RECONCILE:
                self._restart()
            if self._changed.wait(QUIET if first else _TURN):
                self._changed.clear()
                first = first or time.monotonic()
                if time.monotonic() - first < LONGEST:
                    stop.wait(QUIET / 4)
                    continue
            if first:
                return True
        return False

    def on_any_event(self, event: FileSystemEvent) -> None:
        """Record a change to a note or a folder."""
        for path in (event.src_path, event.dest_path):
            for watched in self._watched:
                if self._concerns(Path(str(path)), watched.folder, event):
                    self._changed.set()

    def _concerns(self, path: Path, folder: Path, event: FileSystemEvent) -> bool:
        """Tell whether a change below a folder may change notes."""
        if not path.is_relative_to(folder):
            return False
        below = path.relative_to(folder)
        if any(part.startswith(".") for part in below.parts):
            return False
        return event.is_directory or below.suffix in NOTE_SUFFIXES or below.name == SETTINGS

    def _follow(self) -> None:
        """Watch other folders after a change of settings, or when a missing one was made."""
        if self._observer is not None and self._folders_now() != self._watched:
            self._restart()

    def _alive(self) -> bool:
        """Tell whether changes are still reported; they are not once the folder was removed."""
        observer = self._observer
        return observer is not None and all(
            event_emitter.is_alive() for event_emitter in observer.emitters
        )

    def _restart(self) -> None:
        """Watch again, and signal a change, since one may have been missed."""
        watched = self._observer is not None
        self._stop()
        self._start()
        if watched or self._observer is not None:
            self._changed.set()

    def _start(self) -> None:
        self.polling, self._since = "", time.monotonic()
        self._watched = self._folders_now()
        if not self._watched:
            return
        recursive = [watched.folder for watched in self._watched if watched.recursive]
        reason = next(filter(None, map(find_watch_problem, recursive)), "")
        if not reason:
            try:
                self._observer = self._started(Observer())
            except OSError as error:
                reason = error.strerror or str(error)
        if self._observer is None:
            self._observer = self._started(PollingObserver(timeout=POLL))
            self.polling = f"files are scanned every {POLL:g} s: {reason}"

    def _folders_now(self) -> Sequence[Watched]:
        return [watched for watched in self._folders() if watched.folder.is_dir()]

    def _started(self, observer: BaseObserver) -> BaseObserver:
        for folder, recursive in self._watched:
            observer.schedule(self, str(folder), recursive=recursive, event_filter=_EVENTS)
        observer.start()
        return observer

    def _stop(self) -> None:
        if self._observer is not None:
            self._observer.stop()
            self._observer.join(_JOIN)
            self._observer = None
