"""The frame: exit codes, errors, pipes, signals."""

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

from memory_bank.base import errors
from memory_bank.frontends.cli import root
from memory_bank.frontends.cli.main import run
from tests.support import forked

from .conftest import Run, command, environment

CODES = {
    errors.BadInput("m", "h"): 2,
    errors.BadName("m", "h"): 2,
    errors.BadSetting("m", "h"): 2,
    errors.NoBank("m", "h"): 2,
    errors.NoteNotFound("m", "h"): 1,
    errors.FileNotFound("m", "h"): 1,
    errors.SymbolNotFound("m", "h"): 1,
    errors.NoteExists("m", "h"): 3,
    errors.Conflict("m", "h"): 3,
    errors.UnreadableNote("m", "h"): 3,
    errors.NoteReadOnly("m", "h"): 3,
    errors.StorageFailed("m", "h"): 3,
    errors.Busy("m", "h"): 3,
    errors.IndexDamaged("m", "h"): 3,
    errors.EmbedderUnavailable("m", "h"): 3,
    errors.SharedUnavailable("m", "h"): 3,
    errors.PluginFailed("m", "h"): 3,
    errors.Exhausted("m", "h"): 3,
    root.ClickFailed("m"): 3,
    click.UsageError("m"): 2,
    click.ClickException("m"): 3,
    click.Abort(): 130,
    KeyboardInterrupt(): 130,
    RuntimeError("m"): 3,
    RecursionError("m"): 3,
}


def _raising(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(root.RootGroup, "invoke", fail)


@pytest.mark.parametrize(("error", "code"), CODES.items(), ids=lambda v: type(v).__name__)
def test_each_error_has_its_exit_code(
    mb: Run, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int
) -> None:
    _raising(monkeypatch, error)
    answer = mb("notes")
    assert answer.code == code
    assert answer.out == ""
    assert answer.err.startswith("error: ")
    assert "Traceback" not in answer.err
    assert mb("notes", "--json").error["message"]


def test_every_error_class_is_in_the_table() -> None:
    tested = {type(error) for error in CODES}
    known = {errors.MemoryBankError, *errors.MemoryBankError.__subclasses__()}
    assert known - tested == {errors.MemoryBankError}


def test_an_unexpected_error_asks_for_a_report_and_shows_where_on_demand(
    mb: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    _raising(monkeypatch, KeyError("oops"))
    answer = mb("notes")
    assert answer.err == (
        "error: unexpected error: KeyError: 'oops'\n"
        "hint: please report it; MEMORY_BANK_DEBUG=1 prints the traceback\n"
    )
    monkeypatch.setenv("MEMORY_BANK_DEBUG", "1")
    assert "Traceback" in mb("notes").err


def test_a_message_can_do_no_harm_to_a_terminal(mb: Run) -> None:
    answer = mb("show", "\x1b[31mred\u202e")
    assert "\x1b" not in answer.err
    assert "\u202e" not in answer.err


def in_bash(line: str, project: Path) -> subprocess.CompletedProcess[str]:
    """Run a line in a shell, in the project."""
    return subprocess.run(
        ["bash", "-c", line],
        cwd=project,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_reader_that_had_enough_ends_it_quietly(project: Path) -> None:
    for number in range(300):
        name = project / ".memories" / f"n{number}.md"
        name.write_text(f"# {'word ' * 40}{number}\n", encoding="utf-8")
    line = f'"{sys.executable}" -m memory_bank notes --limit 400 | head -1; echo ${{PIPESTATUS[0]}}'
    done = in_bash(line, project)
    shown = done.stdout.splitlines()
    assert len(shown) == 2
    assert (shown[1], done.stderr) == ("0", "")


@pytest.mark.parametrize(
    ("args", "code", "closed"),
    [
        *(("recall whoosh", 0, closed) for closed in ("<&-", ">&-", "<&- >&- 2>&-")),
        ("recall", 2, "2>&-"),
    ],
)
def test_closed_streams_are_no_error(project: Path, args: str, code: int, closed: str) -> None:
    line = f'"{sys.executable}" -m memory_bank {args} {closed}'
    done = in_bash(line, project)
    assert done.returncode == code
    assert "unexpected" not in done.stderr + done.stdout
    assert "Traceback" not in done.stderr + done.stdout


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize("args", [["notes"], ["-h"], ["show", "bm25"], ["tags", "--json"]])
def test_a_full_disk_under_the_answer_is_an_error(project: Path, args: list[str]) -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = forked.run(
            command(args),
            cwd=project,
            env=environment(),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert done.returncode == 3
    assert "error" in done.stderr
    assert "No space left" in done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_a_command(
    project: Path, ending: Callable[..., Any], number: int, code: int
) -> None:
    # a suite that a shell runs in the background ignores SIGINT, and so would what it starts
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    process = ending(
        subprocess.Popen(
            command(["remember"]),
            cwd=project,
            env=environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
    )
    signal.signal(signal.SIGINT, before)
    process.stdin.write("x" * 100_000)  # more than a pipe holds: it has begun to read then
    process.stdin.flush()
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == code
    assert out == ""
    assert "Traceback" not in err


def test_an_encoding_that_lacks_a_character_is_no_error(real: Run) -> None:
    answer = real("remember", "Größe 東京", env={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})
    assert answer.code == 0
    shown = real("recall", "Größe", "--json", env={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})
    assert "\\u6771" in shown.out


def test_sigterm_is_put_back(mb: Run) -> None:
    before = signal.getsignal(signal.SIGTERM)
    mb("tags")
    assert signal.getsignal(signal.SIGTERM) is before


def test_it_runs_beside_the_main_thread() -> None:
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(run, ["--version"]).result() == 0


def test_a_removed_working_directory_is_told(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    line = f'cd "{gone}" && rmdir "{gone}" && "{sys.executable}" -m memory_bank notes'
    done = subprocess.run(
        ["bash", "-c", line], env=environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "the working directory no longer exists" in done.stderr
