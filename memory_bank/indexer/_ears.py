"""Ways to hear of changes where the kernel's own queue can't be asked."""

from __future__ import annotations

import threading
import time
from pathlib import Path

from watchdog.events import DirModifiedEvent, FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer

from memory_bank.errors import NoBank, StorageFailed
from memory_bank.filenames import NOTE_SUFFIXES
from memory_bank.notes.scan import Scan, scan

POLL = 1.0
"""Seconds between two looks at all files, where nothing tells of changes."""
_ALIVE = 5.0
_NO_CHANGE = ("opened", "closed_no_write")


class Observed(FileSystemEventHandler):
    """What watchdog hears on systems without inotify, a while after it was done."""

    def __init__(self, root: Path) -> None:
        """Listen; raise OSError when the system refuses."""
        self._root = root
        self._lock = threading.Lock()
        self._paths: set[str] = set()
        self._folders = False
        self._some = threading.Event()
        self._observer = Observer()
        self._observer.schedule(self, str(root), recursive=True)
        self._observer.start()

    def on_any_event(self, event: FileSystemEvent) -> None:
        """Take note of a change to a note or a folder."""
        if event.event_type in _NO_CHANGE or isinstance(event, DirModifiedEvent):
            return  # a folder that is modified has a file in it that came or went
        for path in (event.src_path, event.dest_path):
            try:
                found = Path(str(path)).relative_to(self._root)
            except ValueError:
                continue
            if any(part.startswith(".") for part in found.parts):
                continue
            if event.is_directory or found.suffix in NOTE_SUFFIXES:
                with self._lock:
                    self._folders |= event.is_directory
                    self._paths.add(found.as_posix())
                self._some.set()

    def heard(self) -> frozenset[str] | None:
        """Return the notes that changed since the last call; None: anything may have."""
        if not all(emitter.is_alive() for emitter in self._observer.emitters):
            return None  # the folder was removed: watchdog stays deaf to one that is made again
        with self._lock:
            self._some.clear()
            paths, self._paths = self._paths, set()
            folders, self._folders = self._folders, False
        return None if folders else frozenset(paths)

    def wait(self, seconds: float) -> None:
        """Wait until something is heard, at most that long."""
        self._some.wait(seconds)

    def close(self) -> None:
        """Stop to listen."""
        self._observer.stop()
        self._observer.join(_ALIVE)


class Looked:
    """All files looked at in turns, where nothing tells of changes."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._seen = self._look()
        self._next = time.monotonic() + POLL

    def heard(self) -> frozenset[str] | None:
        """Look, when it is time to; return what differs from the last look."""
        if time.monotonic() < self._next:
            return frozenset()
        before, self._seen = self._seen, self._look()
        self._next = time.monotonic() + POLL
        if before.refused != self._seen.refused:
            return None
        return frozenset(path for path, _ in before.files.items() ^ self._seen.files.items())

    def wait(self, seconds: float) -> None:
        """Wait until it is time to look, at most that long."""
        time.sleep(max(0.0, min(seconds, self._next - time.monotonic())))

    def close(self) -> None:
        """Hold nothing."""

    def _look(self) -> Scan:
        try:
            return scan(self._root)
        except (NoBank, StorageFailed):  # told by whoever indexes
            return Scan()
