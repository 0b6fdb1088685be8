"""A project to work in, and the command line as a function."""

import io
import json
import os
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from memory_bank.frontends.cli.main import run
from tests.support import forked


@dataclass(frozen=True)
class Answer:
    """What a command line printed, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def error(self) -> dict[str, str]:
        found: dict[str, str] = json.loads(self.err)["error"]
        return found


Run = Callable[..., Answer]


@pytest.fixture
def mb(
    project: Path,
    indexed_project: None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Run:
    """Run a command line in the project, in this process, as if in a pipe."""
    monkeypatch.chdir(project)
    for name in ("NO_COLOR", "FORCE_COLOR", "VISUAL", "EDITOR"):
        monkeypatch.delenv(name, raising=False)

    def call(*args: str, stdin: str | bytes = "") -> Answer:
        data = stdin if isinstance(stdin, bytes) else stdin.encode()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        code = run(list(args))
        out, err = capsys.readouterr()
        return Answer(code, out, err)

    return call


@pytest.fixture
def real(project: Path) -> Run:
    """Run a command line in the project as a process of its own."""

    def call(*args: str, stdin: str = "", env: dict[str, str] | None = None) -> Answer:
        done = forked.run(
            command(args),
            cwd=project,
            input=stdin,
            capture_output=True,
            text=True,
            env={**environment(), **(env or {})},
        )
        return Answer(done.returncode, done.stdout, done.stderr)

    return call


@pytest.fixture
def terminal(project: Path) -> Run:
    """Run a command line in a terminal of 80 columns, and type; both outputs come as one."""
    pty = pytest.importorskip("pty")

    def call(
        *args: str, env: dict[str, str] | None = None, program: Sequence[str] = (), keys: str = ""
    ) -> Answer:
        ours, theirs = pty.openpty()
        setting = {**environment(), "TERM": "xterm-256color", "COLUMNS": "80", "LINES": "40"}
        process = forked.Popen(
            program or command(args),
            cwd=project,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={**setting, **(env or {})},
            start_new_session=True,
        )
        os.close(theirs)
        os.write(ours, keys.encode())
        shown = b"".join(iter(lambda: _read(ours), b""))
        os.close(ours)
        return Answer(process.wait(60), shown.decode().replace("\r\n", "\n"), "")

    return call


def command(args: Sequence[str]) -> list[str]:
    return [sys.executable, "-m", "memory_bank", *args]


def environment() -> dict[str, str]:
    """Return the environment of a child: the tests' folders, this checkout, no colours forced."""
    root = str(Path(__file__).parents[3])
    kept = {
        key: value
        for key, value in os.environ.items()
        if key not in {"NO_COLOR", "FORCE_COLOR", "VISUAL", "EDITOR", "COLUMNS", "LINES"}
    }
    return {**kept, "PYTHONPATH": root, "PYTHONUTF8": "1"}


def plain_text(text: str) -> str:
    """Return what a terminal shows, without its colours."""
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text)


def editor(folder: Path, body: str) -> str:
    """Make an editor of a Python body, in which `path` is the file and `text` its text."""
    script = folder / "editor.py"
    script.write_text(
        "import sys, pathlib\n"
        "path = pathlib.Path(sys.argv[1])\n"
        "text = path.read_bytes().decode()\n"
        f"{body}\n",
        encoding="utf-8",
    )
    return f'"{sys.executable}" "{script}"'


def _read(handle: int) -> bytes:
    try:
        return os.read(handle, 65536)
    except OSError:  # Linux says so when the other end is gone
        return b""
