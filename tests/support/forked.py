"""Processes of our commands, forked from one that has loaded the package: loading takes longest.

`Popen` and `run` are those of `subprocess`. A forked process has descriptors, a folder, an
environment, signals and an exit code of its own, as if it was started anew; only its modules are
loaded already. A test of what a start loads, or what it may run, uses `subprocess` itself.
"""

import atexit
import json
import os
import select
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import memory_bank

_SERVER = Path(__file__).with_name("fork_server.py")
_INTERPRETER = {
    **{name: value for name, value in os.environ.items() if name.startswith("PYTHON")},
    "PYTHONPATH": str(Path(memory_bank.__file__).parents[1]),
    "PYTHONUTF8": "1",
}
"""Variables of the interpreter that is forked; for others a new one is started."""
_asking = threading.Lock()


class Popen(subprocess.Popen[Any]):
    """A process; forked if it is a command of ours or a script, else started by `subprocess`."""

    _status: int | None = None
    """The descriptor from which the number of a forked process and its end are read."""

    def _execute_child(self, *settings: Any) -> None:
        args, _, _, _, _, folder, environ, _, _, shell, *rest = settings
        pipes, new_session = rest[:6], rest[-2]
        environ = dict(os.environ if environ is None else environ)
        task = None if shell else _task(list(args), environ)
        if task is None:
            super()._execute_child(*settings)  # type: ignore[misc]
            return
        request = {
            **task,
            "folder": str(folder or Path.cwd()),
            "environment": environ,
            "new_session": bool(new_session),
        }
        ends = pipes[0], pipes[3], pipes[5]
        streams = [usual if given == -1 else given for usual, given in enumerate(ends)]
        self._status, writing = os.pipe()
        try:
            _send(json.dumps(request).encode(), [*streams, writing])
        finally:
            os.close(writing)
            self._close_pipe_fds(*pipes)  # type: ignore[attr-defined]
        self.pid = int(_line(self._status))
        self._child_created = True

    def _try_wait(self, flags: int) -> tuple[int, int]:
        if self._status is None:
            return super()._try_wait(flags)  # type: ignore[misc, no-any-return]
        if flags & os.WNOHANG and not select.select([self._status], [], [], 0)[0]:
            return 0, 0
        status = int(_line(self._status))
        os.close(self._status)
        return self.pid, status

    def _internal_poll(self, *settings: Any, **more: Any) -> int | None:
        if self._status is None:
            return super()._internal_poll(*settings, **more)  # type: ignore[misc, no-any-return]
        if self.returncode is None:
            number, status = self._try_wait(os.WNOHANG)
            if number:
                self._handle_exitstatus(status)  # type: ignore[attr-defined]
        return self.returncode


def run(
    args: list[str], *, timeout: float = 60, check: bool = False, capture_output: bool = False,
    **settings: Any,
) -> subprocess.CompletedProcess[Any]:  # fmt: skip
    """Run a process to its end, as `subprocess.run`."""
    sent = settings.pop("input", None)
    if sent is not None:
        settings["stdin"] = subprocess.PIPE
    if capture_output:
        settings["stdout"] = settings["stderr"] = subprocess.PIPE
    with Popen(args, **settings) as process:
        try:
            out, err = process.communicate(sent, timeout)
        except BaseException:
            process.kill()
            raise
    done = subprocess.CompletedProcess(args, process.returncode, out, err)
    if check:
        done.check_returncode()
    return done


def _task(words: list[str], environ: Mapping[str, str]) -> dict[str, object] | None:
    """Return what a forked process would have to do; None if it needs an interpreter of its own."""
    named = {name: value for name, value in environ.items() if name.startswith("PYTHON")}
    if words[:1] != [sys.executable] or not named.items() <= _INTERPRETER.items():
        return None
    words = [word for word in words[1:3] if word != "-P"] + words[3:]
    if os.name == "posix" and words[:2] == ["-m", "memory_bank"]:
        return {"script": "", "arguments": words[2:]}
    if os.name == "posix" and words[:1] == ["-c"]:
        return {"script": words[1], "arguments": words[2:]}
    return None


def _line(descriptor: int) -> bytes:
    """Read a line; the next one may be there already."""
    found = b""
    while not found.endswith(b"\n"):
        byte = os.read(descriptor, 1)
        if not byte:
            raise EOFError("the process that forks has ended")
        found += byte
    return found


def _send(request: bytes, descriptors: list[int]) -> None:
    with _asking:
        server = _server()
        socket.send_fds(server, [len(request).to_bytes(4, "big")], descriptors)
        server.sendall(request)


@cache
def _server() -> socket.socket:
    """Connect to the process that forks, which the first worker of a run starts for all of them."""
    import fcntl  # which Windows has not

    run = os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid()))
    place = str(Path(tempfile.gettempdir(), f"forks-{run}"))
    ours = socket.socket(socket.AF_UNIX)
    with _SERVER.open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            ours.connect(place)
        except (FileNotFoundError, ConnectionRefusedError):
            _start(place)
            ours.connect(place)
    atexit.register(ours.close)  # before the wait of `_start` for its end
    return ours


def _start(place: str) -> None:
    """Start the process that forks; it ends when no worker is connected to it any longer."""
    Path(place).unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(place)
        listener.listen()
        started = subprocess.Popen(
            [sys.executable, "-P", str(_SERVER)],
            stdin=listener,
            env={**os.environ, **_INTERPRETER},
        )

    def end() -> None:
        Path(place).unlink(missing_ok=True)
        with suppress(subprocess.TimeoutExpired):
            started.wait(10)

    atexit.register(end)
