"""Parse files in another process, and end it where one takes too much memory or time.

One process serves all threads, one file at a time. It starts with the first file, and ends when
this process does, or after some time without a file.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import signal
import struct
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

from memory_bank.base.errors import StorageFailed, find_exhausted
from memory_bank.code.parse.parsed_file import (
    ANSWER,
    MAX_ANSWER,
    OUT_OF_MEMORY,
    READY,
    REQUEST,
    ParsedFile,
    load_file,
)

MAX_MEMORY = 128_000_000
"""Bytes that the process may take; 1 MB of common code makes it take up to 70 MB."""

_SECONDS, _SECONDS_A_BYTE, _MAX_SECONDS = 1.0, 4e-6, 5.0
"""Processor time for a file, more for each of its bytes, and at most; common code takes a sixth."""

_WALL_SECONDS = 60.0 if hasattr(signal, "SIGPROF") else 9.0
"""Time for a file; short where the system can't limit processor time, which other work leaves."""

# A cold disk takes some seconds to start Python.
_START_SECONDS = 30.0

# After that the process is killed.
_END_SECONDS = 2.0

_PAUSE, _MAX_PAUSE = 0.02, 0.5
"""Seconds between two looks at a process that is parsing, and the most that count as spent: this
process may have been stopped between them."""

_REUSED = 80_000_000
"""Bytes above which the process is not used for the next file."""

_IDLE_SECONDS = 30.0
"""Seconds without a file after which the process is ended."""

_START = (
    "import sys; sys.path.insert(0, sys.argv.pop(1)); import memory_bank; del sys.path[0];"
    " from memory_bank.code.parse.parse_worker import main; main()"
)
"""Runs this very package, from wherever it was imported."""

_CRASHED = "the parser crashes"

_TOO_MUCH = f"it takes more than {MAX_MEMORY // 1_000_000} MB to parse"


class Worker:
    """A process that parses files, with a thread that ends it at a limit."""

    def __init__(self) -> None:
        """Start the process; raise OSError, EOFError or RuntimeError."""
        root = str(Path(__file__).parents[2])
        self._process = subprocess.Popen(  # noqa: S603  (our own program)
            [sys.executable, "-P", "-c", _START, root, str(MAX_MEMORY)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
        self._busy = threading.Event()
        self._guard = threading.Lock()
        self._number = 0
        """Of the requests so far."""
        self._seconds = _START_SECONDS
        """Wall-clock time for the present request."""
        self._memory = 0
        """Bytes at the last look."""
        self._why = ""
        self._closed = False
        try:
            threading.Thread(target=self._watch_limits, daemon=True, name="parse-limits").start()
            self._send(b"", _START_SECONDS, len(READY))
        except BaseException:
            self.end()
            raise
        self._busy.clear()

    def parse(self, data: bytes, language: str) -> ParsedFile:
        """Return what is in a file, or why it is refused; raise StorageFailed if this was ended."""
        seconds = min(_MAX_SECONDS, _SECONDS + _SECONDS_A_BYTE * len(data))
        name = language.encode()
        request = REQUEST.pack(seconds, len(name), len(data)) + name + data
        try:
            (size,) = ANSWER.unpack(self._send(request, _WALL_SECONDS, ANSWER.size))
            parsed_file = load_file(self._read(size).decode()) if size <= MAX_ANSWER else None
        except (OSError, EOFError, ValueError):
            parsed_file = None
        except BaseException:
            self.end()  # its answer would be taken for the next one's
            raise
        self._busy.clear()
        if parsed_file is None and self._closed:
            raise StorageFailed("parsing was interrupted, as the program ends", "start it again")
        if parsed_file is None:
            self.end()
            parsed_file = ParsedFile(language, refused=self._explain_end(seconds))
        return parsed_file

    def is_usable(self) -> bool:
        """Tell whether the process runs, and takes little memory."""
        runs = not self._closed and self._process.poll() is None
        return runs and resident_bytes(self._process.pid) <= _REUSED

    def end(self) -> None:
        """End the process and close its pipes."""
        self._closed = True
        self._process.kill()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_END_SECONDS)
        self._busy.set()  # the thread ends, too
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError):  # what was not sent
                if pipe is not None:
                    pipe.close()

    def _send(self, request: bytes, seconds: float, size: int) -> bytes:
        """Send a request; return the start of the answer."""
        with self._guard:
            self._number += 1
            self._seconds = seconds
        self._busy.set()
        assert self._process.stdin is not None  # noqa: S101  (it was asked for)
        self._process.stdin.write(request)
        self._process.stdin.flush()
        return self._read(size)

    def _read(self, size: int) -> bytes:
        assert self._process.stdout is not None  # noqa: S101  (it was asked for)
        content = self._process.stdout.read(size)
        if len(content) < size:
            raise EOFError("the process that parses has ended")
        return content

    def _watch_limits(self) -> None:
        """End the process when a file exceeds a limit, or when there is none for long."""
        number, spent, before = 0, 0.0, 0.0
        while self._process.poll() is None:
            if not self._busy.wait(_IDLE_SECONDS):
                _end_idle(self)
                continue
            if number != self._number:
                number, spent, before = self._number, 0.0, time.monotonic()
            time.sleep(_PAUSE)
            now = time.monotonic()
            spent += min(now - before, _MAX_PAUSE)
            before = now
            self._memory = resident_bytes(self._process.pid) or self._memory
            if self._memory > MAX_MEMORY:
                self._kill(number, _TOO_MUCH)
            elif spent > self._seconds:
                self._kill(number, _describe_time(self._seconds))

    def _kill(self, number: int, why: str) -> None:
        """End the process if it still works on a request."""
        with self._guard:
            if number == self._number and self._busy.is_set():
                self._why = why
                self._process.kill()

    def _explain_end(self, seconds: float) -> str:
        """Return why the process ended."""
        code = self._process.returncode
        if self._why:
            return self._why
        if code == -getattr(signal, "SIGPROF", 0):
            return _describe_time(seconds)
        refused = code in {OUT_OF_MEMORY, -signal.SIGABRT} or self._memory > MAX_MEMORY / 2
        return _TOO_MUCH if refused else _CRASHED  # some grammars crash without memory


class _SharedWorker:
    """What the threads of this process share."""

    lock = threading.Lock()
    worker: Worker | None = None


def parse(data: bytes, language: str) -> ParsedFile:
    """Return what is in a file, or why it is refused; raise StorageFailed if no process starts."""
    with _SharedWorker.lock:
        parsed_file = _open_worker().parse(data, language)
        if parsed_file.refused == _CRASHED:  # by this file, or by something else
            parsed_file = _open_worker().parse(data, language)
    return parsed_file


def _open_worker() -> Worker:
    """Return a process that can be used."""
    if _SharedWorker.worker is not None and _SharedWorker.worker.is_usable():
        return _SharedWorker.worker
    if _SharedWorker.worker is not None:
        _SharedWorker.worker.end()
        _SharedWorker.worker = None
    try:
        _SharedWorker.worker = Worker()
    except (OSError, EOFError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise find_exhausted(error) or StorageFailed(
            f"no source file can be parsed: a process can't be started ({reason})",
            "look at the limits of memory and processes",
        ) from error
    return _SharedWorker.worker


def _describe_time(seconds: float) -> str:
    return f"it takes longer than {seconds:.2g} seconds to parse"


def _end_idle(worker: Worker) -> None:
    """End a process, unless a thread is just about to use it."""
    if _SharedWorker.lock.acquire(blocking=False):
        try:
            worker.end()
        finally:
            _SharedWorker.lock.release()


def _end() -> None:
    if _SharedWorker.worker is not None:
        _SharedWorker.worker.end()


def _forget() -> None:
    """Leave the process to the one that started it, after a fork."""
    _SharedWorker.lock = threading.Lock()
    _SharedWorker.worker = None


atexit.register(_end)

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


_TASK_INFO, _TASK_INFO_SIZE = 4, 96
"""PROC_PIDTASKINFO of macOS, and the size of what it returns: virtual and resident bytes first."""

_COUNTERS = struct.Struct("@II8N")
"""PROCESS_MEMORY_COUNTERS of Windows: its own size, page faults, then eight sizes."""

_PAGEFILE_USAGE = 8
"""Place of the memory that belongs to the process alone."""

_QUERY = 0x1000
"""PROCESS_QUERY_LIMITED_INFORMATION."""


def resident_bytes(pid: int) -> int:
    """Return the bytes of memory of a process of this user; 0 where nothing tells."""
    try:
        if sys.platform == "win32":
            return _of_windows(pid)
        if sys.platform == "darwin":
            return _resident_of_macos(pid)
        with open(f"/proc/{pid}/statm", "rb") as file:  # noqa: PTH123  (many times a second)
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError, AttributeError):
        return 0


def _resident_of_macos(pid: int) -> int:
    """Ask as `ps` does."""
    array = ctypes.create_string_buffer(_TASK_INFO_SIZE)
    ask = ctypes.CDLL("/usr/lib/libproc.dylib").proc_pidinfo
    ask.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_uint64, ctypes.c_void_p, ctypes.c_int)
    size = ask(pid, _TASK_INFO, 0, array, _TASK_INFO_SIZE)
    return int(struct.unpack_from("@Q", array, 8)[0]) if size == _TASK_INFO_SIZE else 0


if sys.platform == "win32":

    def _of_windows(pid: int) -> int:
        """Ask as the task manager does."""
        kernel = ctypes.WinDLL("kernel32")
        kernel.OpenProcess.restype = ctypes.c_void_p
        handle = ctypes.c_void_p(kernel.OpenProcess(_QUERY, 0, pid))
        if not handle:
            return 0
        create_string_buffer = ctypes.create_string_buffer(_COUNTERS.size)
        ask = kernel.K32GetProcessMemoryInfo
        ask.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint32)
        try:
            entry = ask(handle, create_string_buffer, _COUNTERS.size)
        finally:
            kernel.CloseHandle(handle)
        return int(_COUNTERS.unpack(create_string_buffer)[_PAGEFILE_USAGE]) if entry else 0
