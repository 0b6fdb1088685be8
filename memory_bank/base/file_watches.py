"""Tell whether the system reports every change below a folder; known on Linux only.

watchdog is silent where a folder below the first can't be watched, and on network file systems.
"""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from pathlib import Path

_LOCAL = frozenset(
    ["bcachefs", "btrfs", "ext2", "ext3", "ext4", "f2fs", "overlay", "tmpfs", "xfs", "zfs"]
)
"""File systems that only this kernel changes, so that it reports every change."""

_CREATE = 0x100  # of inotify(7), any event does


def problem(root: Path) -> str:
    """Return why not every change below a folder is reported; empty if it is."""
    if sys.platform != "linux":
        return ""
    if (kind := _file_system(root)) not in _LOCAL:
        return f"not every change on {kind or 'this file system'} is reported"
    return _limit(root)


def _limit(root: Path) -> str:
    """Watch all folders for a moment; return which limit does not allow it."""
    library = ctypes.CDLL(None, use_errno=True)
    queue = library.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
    if queue < 0:
        return _refused("no folder can be watched", "max_user_instances")
    try:
        for folder, below, _ in os.walk(root):
            below[:] = [name for name in below if name[0] != "."]
            if library.inotify_add_watch(queue, os.fsencode(folder), _CREATE) < 0 and (
                ctypes.get_errno() not in {errno.ENOENT, errno.ENOTDIR}  # removed meanwhile
            ):
                return _refused(f"{folder} can't be watched", "max_user_watches")
    finally:
        os.close(queue)
    return ""


def _refused(what: str, limit: str) -> str:
    number = ctypes.get_errno()
    if number in {errno.ENOSPC, errno.EMFILE}:
        return f"{what}: raise the limit fs.inotify.{limit}"
    return f"{what}: {os.strerror(number)}"


def _file_system(root: Path) -> str:
    """Return the type of the file system that a folder is on, as proc_mounts(5) names it."""
    found = longest = ""
    place = f"{root.resolve()}/"
    try:
        mounts = Path("/proc/self/mounts").read_text("utf-8", "surrogateescape")
    except OSError:
        return ""
    for line in mounts.splitlines():
        _, mount, kind, *_ = line.split(" ")
        mount = mount.encode().decode("unicode_escape").rstrip("/") + "/"
        if place.startswith(mount) and len(mount) >= len(longest):
            found, longest = kind, mount
    return found
