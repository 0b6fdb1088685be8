"""Fork processes from one that has loaded all of the package; `tests/support/forked.py` asks for them.

All workers of a run connect to the socket on descriptor 0. A request is its length, with the four
descriptors of the new process attached (stdin, stdout, stderr, and a pipe for its number and its
end), then JSON. The server ends with the last connection.
"""

import atexit
import gc
import importlib
import json
import os
import pkgutil
import select
import signal
import socket
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from io import TextIOWrapper
from typing import Any

import memory_bank
from memory_bank.__main__ import main
from memory_bank.agents import hook
from memory_bank.base.settings import Settings
from memory_bank.search.embedders import static
from memory_bank.search.models import weight_files

HEADER = 4
"""Bytes of the length before a request."""
DESCRIPTORS = 4


def load() -> None:
    """Import every module of the package, and the default embedder's table.

    Some modules need what is not installed.
    """
    for found in pkgutil.walk_packages(memory_bank.__path__, "memory_bank."):
        if not found.name.endswith("__main__"):
            with suppress(ImportError):
                importlib.import_module(found.name)
    static.load(Settings()).embed([""])
    # Else a child lets go of what it inherits, and loads it anew: Rust's threads, which it needs for
    # that, are not forked.
    weight_files._last_used = 0.0
    gc.collect()
    gc.freeze()  # children need not copy these pages


def serve() -> Callable[[], object]:
    """Fork a process for each request; return, in that process only, what it has to do."""
    listener = socket.socket(fileno=os.dup(0))
    connections = [listener.accept()[0]]
    ended, wake = os.pipe()
    for end in (ended, wake):
        os.set_blocking(end, False)
    signal.set_wakeup_fd(wake)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    running: dict[int, int] = {}
    while connections:
        for readable in select.select([listener, ended, *connections], [], [])[0]:
            if readable is listener:
                connections.append(listener.accept()[0])
                continue
            if readable is ended:
                os.read(ended, 512)
                _report_ended(running)
                continue
            header, descriptors, _, _ = socket.recv_fds(readable, HEADER, DESCRIPTORS)
            if not header:
                connections.remove(readable)
                readable.close()
                continue
            request = json.loads(_exactly(readable, int.from_bytes(header, "big")))
            *streams, status = descriptors
            child = os.fork()
            if child == 0:
                return _become(request, streams)
            os.write(status, b"%d\n" % child)
            running[child] = status
            for stream in streams:
                os.close(stream)
    sys.exit()


def _exactly(requests: socket.socket, length: int) -> bytes:
    found = b""
    while len(found) < length:
        found += requests.recv(length - len(found))
    return found


def _report_ended(running: dict[int, int]) -> None:
    while running:
        child, status = os.waitpid(-1, os.WNOHANG)
        if not child:
            return
        pipe = running.pop(child)
        with suppress(BrokenPipeError):  # nobody waits for it
            os.write(pipe, b"%d\n" % status)
        os.close(pipe)


def _become(request: dict[str, Any], streams: list[int]) -> Callable[[], object]:
    """Take over descriptors, folder, environment and arguments; return what is to be done."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    os.closerange(len(streams), 256)
    sys.stdin = sys.__stdin__ = _opened(0, "r", sys.stdin)  # type: ignore[misc]
    sys.stdout = sys.__stdout__ = _opened(1, "w", sys.stdout)  # type: ignore[misc]
    sys.stderr = sys.__stderr__ = _opened(2, "w", sys.stderr)  # type: ignore[misc]
    if request["new_session"]:
        os.setsid()
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.argv = [request["script"] and "-c", *request["arguments"]]
    if not request["script"]:
        if request["arguments"][:1] == ["hook"]:
            _fork_what_follows()
        return main
    code = compile(request["script"], "<string>", "exec")
    return lambda: exec(code, {"__name__": "__main__"})  # noqa: S102  (the test's own)


def _fork_what_follows() -> None:
    """Let a hook start what follows it by a fork, which is made before the hook opens anything.

    It begins when the hook has ended: a new interpreter would take longer than the hook does.
    """
    asked, ask = os.pipe()
    if os.fork():
        os.close(asked)
        hook.start_detached = lambda words: os.write(ask, json.dumps(words).encode())
        return
    os.close(ask)
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(nothing, number)
    with open(asked, encoding="utf-8") as pipe:
        words = pipe.read()
    if words:
        sys.argv[1:] = json.loads(words)
        finish(main)
    os._exit(0)


def _opened(number: int, mode: str, like: TextIOWrapper) -> TextIOWrapper:
    """Open a standard stream as the interpreter does, with the encoding of the one before."""
    opened = open(  # noqa: SIM115  (for as long as the process lives)
        number, mode, encoding=like.encoding, errors=like.errors, closefd=False
    )
    opened.reconfigure(
        line_buffering=like.line_buffering or opened.isatty(), write_through=like.write_through
    )
    return opened


def finish(work: Callable[[], object]) -> None:
    """Do the work, and end as the interpreter does, but for the time it takes to free all memory."""
    code = 1
    try:
        work()
        code = 0
    except SystemExit as leaving:
        code = _code_of(leaving)
    except BaseException:  # noqa: BLE001  (the outermost frame)
        sys.excepthook(*sys.exc_info())  # type: ignore[arg-type]
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code & 0xFF)


def _code_of(leaving: SystemExit) -> int:
    if isinstance(leaving.code, int):
        return leaving.code
    if leaving.code is None:
        return 0
    print(leaving.code, file=sys.stderr)  # noqa: T201  (as the interpreter does)
    return 1


if __name__ == "__main__":
    load()
    finish(serve())
