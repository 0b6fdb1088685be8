"""Read the kernel's queue of file changes before a query (Linux).

The kernel queues an inotify event before the system call that changes a file returns. So a read of
the queue, without thread or waiting, returns all changes since the last read, and an empty queue
proves that there are none. If the watch is unavailable (other systems, network file systems, too
few watches), the files are scanned. Commands that follow changes use watchdog (`watch.py`).
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
import sys
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Self

from memory_bank.base.filenames import NOTE_SUFFIXES

RECONCILE = 60.0
"""Seconds after which files are scanned anyway: a write to mapped memory, or through a hard link
in another folder, causes no event."""

_LOCAL = frozenset(
    ["bcachefs", "btrfs", "ext2", "ext3", "ext4", "f2fs", "overlay", "tmpfs", "xfs", "zfs"]
)
"""File systems that only this kernel changes, so that it reports every change."""

_BUFFER = 1 << 16

_EVENT = struct.Struct("iIII")

# Of inotify(7).
_MODIFY, _ATTRIB, _CLOSE_WRITE = 0x2, 0x4, 0x8

_MOVED_FROM, _MOVED_TO, _CREATE, _DELETE = 0x40, 0x80, 0x100, 0x200

_DELETE_SELF, _MOVE_SELF = 0x400, 0x800

_UNMOUNT, _OVERFLOW, _IGNORED = 0x2000, 0x4000, 0x8000

_ONLY_FOLDERS, _NO_LINKS, _IS_FOLDER = 0x01000000, 0x02000000, 0x40000000

_FILES = _MODIFY | _ATTRIB | _CLOSE_WRITE | _MOVED_FROM | _MOVED_TO | _CREATE | _DELETE

_WATCHED = _FILES | _DELETE_SELF | _MOVE_SELF | _ONLY_FOLDERS | _NO_LINKS

_LOST = _DELETE_SELF | _MOVE_SELF | _UNMOUNT | _OVERFLOW | _IGNORED


class InotifyQueue:
    """The changes below a folder, except in hidden folders."""

    def __init__(self, root: Path, *, trusted: float = RECONCILE) -> None:
        """Start watching, for `trusted` seconds; raise OSError if the watch is unavailable."""
        if sys.platform != "linux":
            raise OSError(errno.ENOTSUP, "inotify exists on Linux only")
        if (kind := _file_system(root)) not in _LOCAL:
            raise OSError(errno.ENOTSUP, f"not every change on {kind} is reported")
        self._process = os.getpid()
        self._until = time.monotonic() + trusted
        self._root = str(root)
        self._identity = _identity(self._root)
        self._queue = _new_queue()
        self._folders: dict[int, str] = {}
        try:
            self._watch(self._root, "")
        except OSError:
            self.close()
            raise

    @classmethod
    def at(cls, root: Path) -> Self | None:
        """Watch a folder; return None if the watch is unavailable."""
        try:
            return cls(root)
        except (OSError, ImportError):
            return None

    def read(self) -> frozenset[str] | None:
        """Return the notes that may have changed since the last call, by path below the folder.

        None if any may have; the queue must then be replaced.
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

    def close(self) -> None:
        """Stop watching."""
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

    def _watch(self, folder: str, prefix: str) -> None:
        """Watch a folder, then its subfolders, so that a new one is listed or reported."""
        watch = _add_watch(self._queue, os.fsencode(folder), _WATCHED)
        if watch < 0:
            if prefix and ctypes.get_errno() in {errno.ENOENT, errno.ENOTDIR}:
                return  # removed meanwhile, which is reported
            raise _refused(f"{folder} can't be watched", "max_user_watches")
        self._folders[watch] = prefix
        for name in _below(folder):
            inner = f"{folder}/{name}"
            if _identity(inner)[0] not in {self._identity[0], 0}:
                raise OSError(errno.EXDEV, f"another file system is mounted at {inner}")
            self._watch(inner, f"{prefix}{name}/")


def problem(root: Path) -> str:
    """Return why the system does not report every change below a folder; empty if it does.

    Known on Linux only.
    """
    if sys.platform != "linux":
        return ""
    try:
        InotifyQueue(root).close()
    except OSError as error:
        return error.strerror or str(error)
    return ""


def _below(folder: str) -> list[str]:
    """List the folders in a folder, none if it is gone."""
    try:
        with os.scandir(folder) as entries:
            return [e.name for e in entries if e.name[0] != "." and e.is_dir(follow_symlinks=False)]
    except (FileNotFoundError, NotADirectoryError):
        return []


def _new_queue() -> int:
    queue = _init(os.O_NONBLOCK | os.O_CLOEXEC)
    if queue < 0:
        raise _refused("no folder can be watched", "max_user_instances")
    return queue


# Calls the C library: watchdog's bindings are private, and take threads and 50 ms of imports.
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
    """Return what identifies a folder; (0, 0) if there is none."""
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
