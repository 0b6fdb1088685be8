"""Tell whether the system reports every change below a folder, and whether it reported one.

Known on Linux only. watchdog is silent where a folder below the first can't be watched, and on
network file systems.
"""

from __future__ import annotations

import errno
import os
import struct
import sys
import time
from contextlib import suppress
from pathlib import Path

_LOCAL = frozenset(
    ["bcachefs", "btrfs", "ext2", "ext3", "ext4", "f2fs", "overlay", "tmpfs", "xfs", "zfs"]
)
"""File systems that only this kernel changes, so that it reports every change."""

_CHANGES = 0xFCE
"""The events of inotify(7) but for opened, read and closed unchanged."""

_OF_FOLDER = 0x4000_0000
"""What the event of a folder has."""

_EVENT_BYTES = 16
"""Length of an event without its name."""

_SECONDS = 60.0
"""Seconds after which files are compared anyway: writes through mapped memory are not reported."""


def find_watch_problem(root: Path) -> str:
    """Return why not every change below a folder is reported; empty if it is."""
    if sys.platform != "linux":
        return ""
    queue = ChangeQueue(root)
    queue.close()
    return queue.problem


class ChangeQueue:
    """The changes below a folder, except in hidden ones, that Linux queues before a write returns.

    watchdog reads its queue in a thread, so that an answer could come before the news of a change.
    """

    def __init__(self, root: Path) -> None:
        """Queue changes from now on."""
        import ctypes  # start-up: only servers watch folders

        self._root = root
        self._made = time.monotonic()
        self._process = os.getpid()  # a fork would take changes from the queue of its parent
        kind = _file_system(root)
        library = ctypes.CDLL(None, use_errno=True)
        self._queue: int = library.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        self.problem = ""
        """Why not every change is queued; empty if it is."""
        if kind not in _LOCAL:
            self.problem = f"not every change on {kind or 'this file system'} is reported"
        elif self._queue < 0:
            self.problem = _name_limit("no folder can be watched", "instances")
        folders = [str(root)]
        self._folders: dict[int, str] = {}
        """The paths of the folders below the root by their numbers in the queue, with a slash."""
        while folders and not self.problem:
            folder = folders.pop()
            # a folder is watched before it is read, so that each new one below it is seen
            number = library.inotify_add_watch(self._queue, os.fsencode(folder), _CHANGES)
            self._folders[number] = f"{folder}/".removeprefix(f"{root}/")
            if number < 0:
                if ctypes.get_errno() not in {errno.ENOENT, errno.ENOTDIR}:  # removed meanwhile
                    self.problem = _name_limit(f"{folder} can't be watched", "watches")
                continue
            with suppress(OSError), os.scandir(folder) as entries:
                folders += [
                    entry.path
                    for entry in entries
                    if entry.name[0] != "." and entry.is_dir(follow_symlinks=False)
                ]
        self._place = self._stat()

    def take(self) -> set[str] | None:
        """Return the paths below the root that changed since the last call, but for hidden ones.

        None if any may have: after a minute, in a fork, after a change of a folder, or of too many.
        """
        late = time.monotonic() > self._made + _SECONDS or self._process != os.getpid()
        if late or self._place != self._stat():
            return None
        paths = set[str]()
        with suppress(BlockingIOError):
            while events := os.read(self._queue, 1 << 16):
                start = 0
                while start < len(events):
                    folder, change, _, length = struct.unpack_from("iIII", events, start)
                    start += _EVENT_BYTES
                    name = os.fsdecode(events[start : start + length].rstrip(b"\0"))
                    start += length
                    if name.startswith("."):
                        continue
                    if not name or change & _OF_FOLDER or folder not in self._folders:
                        return None
                    paths.add(f"{self._folders[folder]}{name}")
        return paths

    def close(self) -> None:
        """Queue no more changes."""
        if self._queue >= 0:
            os.close(self._queue)
        self._queue = -1

    __del__ = close

    def _stat(self) -> tuple[int, int] | None:
        """Return which folder is at the path now."""
        try:
            stat = self._root.stat()
        except OSError:
            return None
        return stat.st_dev, stat.st_ino


def _name_limit(text: str, limit: str) -> str:
    import ctypes  # start-up: only servers watch folders

    number = ctypes.get_errno()
    if number in {errno.ENOSPC, errno.EMFILE}:
        return f"{text}: raise the limit fs.inotify.max_user_{limit}"
    return f"{text}: {os.strerror(number)}"


def _file_system(root: Path) -> str:
    """Return the type of the file system that a folder is on, as proc_mounts(5) names it."""
    text = longest = ""
    place = f"{root.resolve()}/"
    try:
        mounts = Path("/proc/self/mounts").read_text("utf-8", "surrogateescape")
    except OSError:
        return ""
    for line in mounts.splitlines():
        _, mount, kind, *_ = line.split(" ")
        mount = mount.encode().decode("unicode_escape").rstrip("/") + "/"
        if place.startswith(mount) and len(mount) >= len(longest):
            text, longest = kind, mount
    return text
