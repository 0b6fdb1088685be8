"""Tell without looking at any file that none of a bank changed: Linux itself keeps count.

The kernel queues an inotify event before the system call that changes a file returns. So one
read of the queue, with no thread and no waiting, tells what changed since the last read, and an
empty queue is proof that nothing did. Where that does not hold (other systems, network file
systems, watches run out) there is no ear, and the files are looked at.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Self

from memory_bank.layout import NOTE_SUFFIXES

__all__ = ["Ear"]

RECONCILE = 60.0
"""Seconds after which files are looked at although nothing was heard: a write to mapped memory,
or through a hard link from elsewhere, makes no sound."""

_LOCAL = frozenset(
    ["bcachefs", "btrfs", "ext2", "ext3", "ext4", "f2fs", "overlay", "tmpfs", "xfs", "zfs"]
)
"""File systems whose every change is made by this kernel, and heard."""
_BUFFER = 1 << 16
_EVENT = struct.Struct("iIII")

# Of inotify(7), by its own values: watchdog's names for them are no part of its interface.
_MODIFY, _ATTRIB, _CLOSE_WRITE = 0x2, 0x4, 0x8
_MOVED_FROM, _MOVED_TO, _CREATE, _DELETE = 0x40, 0x80, 0x100, 0x200
_DELETE_SELF, _MOVE_SELF = 0x400, 0x800
_UNMOUNT, _OVERFLOW, _IGNORED = 0x2000, 0x4000, 0x8000
_ONLY_FOLDERS, _NO_LINKS, _IS_FOLDER = 0x01000000, 0x02000000, 0x40000000
_FILES = _MODIFY | _ATTRIB | _CLOSE_WRITE | _MOVED_FROM | _MOVED_TO | _CREATE | _DELETE
_LISTENED = _FILES | _DELETE_SELF | _MOVE_SELF | _ONLY_FOLDERS | _NO_LINKS
_LOST = _DELETE_SELF | _MOVE_SELF | _UNMOUNT | _OVERFLOW | _IGNORED


class Ear:
    """Hears of every change below a folder, hidden folders left out."""

    def __init__(self, root: Path) -> None:
        """Listen from now on; raise OSError where that can't be done."""
        self._process = os.getpid()
        self._since = time.monotonic()
        self._queue = _queue()
        self._folders: dict[int, str] = {}
        try:
            self._listen(str(root), "", root.stat().st_dev)
        except OSError:
            self.close()
            raise

    @classmethod
    def at(cls, root: Path) -> Self | None:
        """Listen to a folder; None where changes can't be heard of for sure."""
        if sys.platform != "linux" or _file_system(root) not in _LOCAL:
            return None
        try:
            return cls(root)
        except (OSError, ImportError):
            return None

    def heard(self) -> frozenset[str] | None:
        """Return the notes that may have changed since the last call, by path below the folder.

        None: anything may have, and this ear is of no more use.
        """
        if os.getpid() != self._process or time.monotonic() - self._since > RECONCILE:
            return None
        found = set()
        for watch, mask, name in self._events():
            if mask & _LOST:
                return None
            if name.startswith("."):
                continue
            if mask & _IS_FOLDER:
                return None
            if name.lower().endswith(NOTE_SUFFIXES):
                found.add(self._folders[watch] + name)
        return frozenset(found)

    def close(self) -> None:
        """Listen no more."""
        if self._queue >= 0 and os.getpid() == self._process:
            os.close(self._queue)
        self._queue = -1

    def _events(self) -> Iterator[tuple[int, int, str]]:
        while True:
            try:
                data = os.read(self._queue, _BUFFER)
            except BlockingIOError:
                return
            place = 0
            while place < len(data):
                watch, mask, _, size = _EVENT.unpack_from(data, place)
                place += _EVENT.size + size
                yield watch, mask, os.fsdecode(data[place - size : place].rstrip(b"\0"))

    def _listen(self, folder: str, prefix: str, device: int) -> None:
        """Watch a folder before those in it: one that is made meanwhile is met or heard of."""
        from watchdog.observers.inotify_c import Mask, inotify_add_watch

        watch = inotify_add_watch(self._queue, os.fsencode(folder), Mask(_LISTENED))
        if watch < 0:
            raise OSError(ctypes.get_errno(), "can't be watched", folder)
        self._folders[int(watch)] = prefix
        with os.scandir(folder) as entries:
            below = [e for e in entries if e.name[0] != "." and e.is_dir(follow_symlinks=False)]
        for entry in below:
            if entry.stat(follow_symlinks=False).st_dev != device:
                raise OSError(f"{entry.path} is another file system, which may make no sound")
            self._listen(entry.path, f"{prefix}{entry.name}/", device)


def _queue() -> int:
    from watchdog.observers.inotify_c import inotify_init

    queue = inotify_init()
    if queue < 0:
        raise OSError(ctypes.get_errno(), "no changes can be heard of")
    os.set_inheritable(queue, False)
    os.set_blocking(queue, False)
    return queue


def _file_system(root: Path) -> str:
    """Return the type of the file system that a folder is on, as proc_mounts(5) names it."""
    found = longest = ""
    place = f"{root.resolve()}/"
    try:
        with open("/proc/self/mounts", encoding="utf-8", errors="surrogateescape") as lines:  # noqa: PTH123  (a file of the kernel)
            for line in lines:
                _, mount, kind, *_ = line.split(" ")
                mount = mount.encode().decode("unicode_escape").rstrip("/") + "/"
                if place.startswith(mount) and len(mount) >= len(longest):
                    found, longest = kind, mount
    except OSError:
        return ""
    return found
