"""Read many files for the index, in processes beside this one.

They are plain children that run this module and talk over their pipes. The ways of the standard
library would import the caller's main module again or fork a process that has threads, and a
library must do neither. A child ends with its pipe, so none outlives us.
"""

from __future__ import annotations

import marshal
import os
import signal
import struct
import subprocess
import sys
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from queue import SimpleQueue
from typing import IO, Any

from memory_bank.indexer.reading import Asked, Found, Gone, Place, Same, Unread, read, read_all
from memory_bank.manifest.rows import NoteRows

_CHUNK = 50
_AHEAD = 100
"""Chunks that are read ahead: what is indexed under one lock at most."""
_MOST = 4
_LENGTH = struct.Struct("<Q")
_GREETING = b"memory_bank reads\n"
"""What a child says first: one that says anything else runs code of somebody who prints."""
_KINDS: tuple[type[Found], ...] = (NoteRows, Unread, Same, Gone)
_START = (
    "import marshal, sys; sys.path[:] = marshal.load(sys.stdin.buffer);"
    " from memory_bank.indexer.readers import serve; serve()"
)


def read_many(place: Place, files: Sequence[Asked]) -> Generator[tuple[str, Found]]:
    """Yield what each file says, in their order."""
    count = _children()
    if not count:
        yield from read_all(place, files)
        return
    chunks = [files[start : start + _CHUNK] for start in range(0, len(files), _CHUNK)]
    with ExitStack() as running:
        free: SimpleQueue[_Child] = SimpleQueue()
        for _ in range(count):
            free.put(running.enter_context(_child(place)))
        pool = running.enter_context(ThreadPoolExecutor(count, "memory-bank-read"))
        running.callback(pool.shutdown, wait=False, cancel_futures=True)
        asked: deque[_Chunk] = deque()
        for chunk in chunks:
            asked.append(_Chunk(place, chunk, pool.submit(_ask, free, chunk)))
            if len(asked) > _AHEAD:
                yield from _first(asked)
        while asked:
            yield from _first(asked)


def serve() -> None:
    """Read what the parent asks for until it asks no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent is told, and ends us
    asking, saying = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr
    saying.write(_GREETING)
    place = Place(*_receive(asking))
    while (files := _receive(asking)) is not None:
        found = [read(place, Asked(*file)) for file in files]
        _send(saying, [(_KINDS.index(type(one)), tuple(one)) for one in found])


class _Chunk:
    """Some files that are to be read."""

    def __init__(self, place: Place, files: Sequence[Asked], answer: Future[bytes]) -> None:
        self._place = place
        self._files = files
        self._answer = answer
        self._here: list[tuple[str, Found]] = []

    def done(self) -> bool:
        """Tell whether nobody need be waited for."""
        return self._answer.done()

    def taken(self) -> bool:
        """Read the files here, unless a child has begun to."""
        if not self._answer.cancel():
            return False
        self._here = list(read_all(self._place, self._files))
        return True

    def found(self) -> Iterator[tuple[str, Found]]:
        """Yield what the files say; without an answer, whatever the reason, they are read here."""
        if self._answer.cancelled():
            yield from self._here
            return
        answer = self._answer.result()
        if not answer:
            yield from read_all(self._place, self._files)
            return
        for asked, (kind, found) in zip(self._files, _value(answer), strict=True):
            yield asked.path, _KINDS[kind](*found)


def _first(asked: deque[_Chunk]) -> Iterator[tuple[str, Found]]:
    """Yield what the first chunk says; while a child is at it, the next ones are read here."""
    first = asked.popleft()
    for chunk in asked:
        if first.done():
            break
        chunk.taken()
    return first.found()


class _Child:
    """A process that reads files; one that failed answers nothing any more."""

    def __init__(self, asking: IO[bytes] | None, saying: IO[bytes] | None) -> None:
        self._asking = asking
        self._saying = saying
        self._greeted = False

    def ask(self, files: Sequence[Asked]) -> bytes:
        """Return the answer as it came, or nothing."""
        if self._asking is None or self._saying is None:
            return b""
        try:
            _send(self._asking, [tuple(asked) for asked in files])
            self._greeted = self._greeted or self._saying.read(len(_GREETING)) == _GREETING
            answer = _receive_bytes(self._saying) if self._greeted else b""
        except (OSError, ValueError):
            answer = b""
        if not answer:
            self._asking = self._saying = None
        return answer


def _ask(free: SimpleQueue[_Child], files: Sequence[Asked]) -> bytes:
    child = free.get()
    try:
        return child.ask(files)
    finally:
        free.put(child)


@contextmanager
def _child(place: Place) -> Iterator[_Child]:
    """Start a process; end it in the end."""
    try:
        process = subprocess.Popen(  # noqa: S603  (this interpreter, and words of our own)
            [sys.executable, "-P", "-c", _START],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
    except OSError:
        yield _Child(None, None)
        return
    try:
        if process.stdin is not None:
            with suppress(OSError):  # it will be noticed when it is asked
                marshal.dump(list(sys.path), process.stdin)
                _send(process.stdin, tuple(place))
        yield _Child(process.stdin, process.stdout)
    finally:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with suppress(OSError):  # what it was not told is of no use now
                    stream.close()


def _children() -> int:
    """Count the processes that this machine has room for beside this one."""
    name = Path(sys.executable or "").stem.lower()
    if getattr(sys, "frozen", False) or not name.startswith(("python", "pypy")):
        return 0  # a program that embeds Python: it would be started again, not an interpreter
    cores = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    return min(cores - 1, _MOST)


def _send(stream: IO[bytes], value: Any) -> None:  # noqa: ANN401  (what marshal takes)
    data = marshal.dumps(value)
    stream.write(_LENGTH.pack(len(data)) + data)
    stream.flush()


def _receive(stream: IO[bytes]) -> Any:  # noqa: ANN401  (what was sent)
    """Return what was sent; None at the end."""
    data = _receive_bytes(stream)
    return _value(data) if data else None


def _receive_bytes(stream: IO[bytes]) -> bytes:
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return b""
    (length,) = _LENGTH.unpack(head)
    data = stream.read(length)
    return data if len(data) == length else b""


def _value(data: bytes) -> Any:  # noqa: ANN401  (what was sent)
    return marshal.loads(data)  # noqa: S302  (by a child of ours, or by our parent)
