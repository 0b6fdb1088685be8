"""Tell how much memory a process takes, without a library for it."""

from __future__ import annotations

import ctypes
import os
import struct
import sys

_TASK_INFO, _TASK_INFO_SIZE = 4, 96
"""PROC_PIDTASKINFO of macOS, and the size of what it returns: virtual and resident bytes first."""

_COUNTERS = struct.Struct("@II8N")
"""PROCESS_MEMORY_COUNTERS of Windows: its own size, page faults, then eight sizes."""

_PAGEFILE_USAGE = 8
"""Place of the memory that belongs to the process alone."""

_QUERY = 0x1000
"""PROCESS_QUERY_LIMITED_INFORMATION."""


def resident(pid: int) -> int:
    """Return the bytes of memory of a process of this user; 0 where nothing tells."""
    try:
        if sys.platform == "win32":
            return _of_windows(pid)
        if sys.platform == "darwin":
            return _of_macos(pid)
        with open(f"/proc/{pid}/statm", "rb") as file:  # noqa: PTH123  (many times a second)
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError, AttributeError):
        return 0


def _of_macos(pid: int) -> int:
    """Ask as `ps` does."""
    found = ctypes.create_string_buffer(_TASK_INFO_SIZE)
    ask = ctypes.CDLL("/usr/lib/libproc.dylib").proc_pidinfo
    ask.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_uint64, ctypes.c_void_p, ctypes.c_int)
    size = ask(pid, _TASK_INFO, 0, found, _TASK_INFO_SIZE)
    return int(struct.unpack_from("@Q", found, 8)[0]) if size == _TASK_INFO_SIZE else 0


if sys.platform == "win32":

    def _of_windows(pid: int) -> int:
        """Ask as the task manager does."""
        kernel = ctypes.WinDLL("kernel32")
        kernel.OpenProcess.restype = ctypes.c_void_p
        handle = ctypes.c_void_p(kernel.OpenProcess(_QUERY, 0, pid))
        if not handle:
            return 0
        found = ctypes.create_string_buffer(_COUNTERS.size)
        ask = kernel.K32GetProcessMemoryInfo
        ask.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint32)
        try:
            said = ask(handle, found, _COUNTERS.size)
        finally:
            kernel.CloseHandle(handle)
        return int(_COUNTERS.unpack(found)[_PAGEFILE_USAGE]) if said else 0
