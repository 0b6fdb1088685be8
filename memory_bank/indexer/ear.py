"""Tell without looking at any file that none of a bank changed: Linux itself keeps count.

The kernel queues an inotify event before the system call that changes a file returns. So one
read of the queue, with no thread and no waiting, tells what changed since the last read, and an
empty queue is proof that nothing did. Where that does not hold (other systems, network file
systems, watches run out) there is no ear, and the files are looked at.
"""

from __future__ import annotations

import ctypes
import errno
import os
import select
import struct
import sys
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Self

from memory_bank.filenames import NOTE_SUFFIXES

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

# Of inotify(7).
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

    def __init__(self, root: Path, *, trusted: float = RECONCILE) -> None:
        """Listen from now on, for so many seconds; raise OSError where that can't be done."""
        if sys.platform != "linux" or (kind := _file_system(root)) not in _LOCAL:
            raise OSError(errno.ENOTSUP, f"a change of files on {kind} may make no sound")
        self._process = os.getpid()
        self._until = time.monotonic() + trusted
        self._root = str(root)
        self._identity = _identity(self._root)
        self._queue = _queue()
        self._folders: dict[int, str] = {}
        try:
            self._listen(self._root, "")
        except OSError:
            self.close()
            raise

    @classmethod
    def at(cls, root: Path) -> Self | None:
        """Listen to a folder; None where changes can't be heard of for sure."""
        try:
            return cls(root)
        except (OSError, ImportError):
            return None

    def heard(self) -> frozenset[str] | None:
        """Return the notes that may have changed since the last call, by path below the folder.

        None: anything may have, and this ear is of no more use.
        """
        if os.getpid() != self._process or time.monotonic() > self._until:
            return None
        if _identity(self._root) != self._identity:  # a folder above it was moved
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

    def wait(self, seconds: float) -> None:
        """Wait until there is something to hear, at most that long."""
        queue = select.poll()
        queue.register(self._queue, select.POLLIN)
        queue.poll(seconds * 1000)

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

    def _listen(self, folder: str, prefix: str) -> None:
        """Watch a folder before those in it: one that is made meanwhile is met or heard of."""
        watch = _add_watch(self._queue, os.fsencode(folder), _LISTENED)
        if watch < 0:
            if prefix and ctypes.get_errno() in {errno.ENOENT, errno.ENOTDIR}:
                return  # removed while we came: that is heard of
            raise _refused(f"{folder} can't be watched", "max_user_watches")
        self._folders[watch] = prefix
        for name in _below(folder):
            inner = f"{folder}/{name}"
            if _identity(inner)[0] not in {self._identity[0], 0}:
                raise OSError(errno.EXDEV, f"another file system is mounted at {inner}")
            self._listen(inner, f"{prefix}{name}/")


def _below(folder: str) -> list[str]:
    """List the folders in a folder, none if it is gone."""
    try:
        with os.scandir(folder) as entries:
            return [e.name for e in entries if e.name[0] != "." and e.is_dir(follow_symlinks=False)]
    except (FileNotFoundError, NotADirectoryError):
        return []


def _queue() -> int:
    queue = _init(os.O_NONBLOCK | os.O_CLOEXEC)
    if queue < 0:
        raise _refused("no folder can be watched", "max_user_instances")
    return queue


# Asked of the C library itself: watchdog's bindings are no part of its interface, and come with
# threads and 50 ms of imports.
def _init(flags: int) -> int:
    return int(_library().inotify_init1(flags))


def _add_watch(queue: int, folder: bytes, mask: int) -> int:
    return int(_library().inotify_add_watch(queue, folder, mask))


@cache
def _library() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _refused(what: str, limit: str) -> OSError:
    number = ctypes.get_errno()
    if number in {errno.ENOSPC, errno.EMFILE}:
        return OSError(number, f"{what}: raise the limit fs.inotify.{limit}")
    return OSError(number, f"{what}: {os.strerror(number)}")


def _identity(folder: str) -> tuple[int, int]:
    """Tell a folder from any other in its place; none is at a path that leads nowhere."""
    try:
        stat = os.lstat(folder)
    except OSError:
        return 0, 0
    return stat.st_dev, stat.st_ino


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
