"""The entry point of the command line, which maps errors to exit codes."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from types import FrameType

from memory_bank.base.errors import (
    BadInput,
    FileNotFound,
    MemoryBankError,
    NoteNotFound,
    SymbolNotFound,
    find_exhausted,
)
from memory_bank.base.rendering import render_failure
from memory_bank.base.screen import Interrupted
from memory_bank.frontends.cli import overview
from memory_bank.frontends.cli.console import Console, prepare_streams
from memory_bank.frontends.hints import find_hint

_INTERRUPTED = 130

_FAILED = 3

_CODES: tuple[tuple[type[BaseException], int], ...] = (
    (BadInput, 2),
    (NoteNotFound, 1),
    (FileNotFound, 1),
    (SymbolNotFound, 1),
    (MemoryBankError, _FAILED),
    (KeyboardInterrupt, _INTERRUPTED),
)
"""The exit code of each error; the first matching class decides."""


def run(args: list[str]) -> int:
    """Run a command line and return its exit code: 0, 1, 2, 3, or 128 and a signal's number."""
    prepare_streams()
    try:
        with _exit_on_sigterm():
            code = _invoke(args)
            Console(sys.stdout).flush()
            return code
    except BrokenPipeError:
        return 0  # the reader closed the pipe
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else _FAILED
    except BaseException as error:  # noqa: BLE001  (the outermost frame; a library's panic is no Exception)
        return _report_error(error, args)
    finally:
        _close_stdout()


def _invoke(args: list[str]) -> int:
    if args[:1] == ["help"] and args[1:] != ["--all"]:
        args = [*args[1:], "--help"]
    if args in (["-h"], ["--help"], ["help", "--all"]):  # start-up: no library reads it
        console = Console(sys.stdout)
        text = overview.text(overview.help_width(console), long=args == ["help", "--all"])
        overview.show(text, console)
        return 0
    from memory_bank.frontends.cli import root

    return root.run_line(args)


def _report_error(error: BaseException, args: list[str]) -> int:
    """Print an error on stderr, as JSON with `--json`; return the exit code."""
    if not isinstance(error, MemoryBankError):
        error = find_exhausted(error) or error
    code = next((code for kind, code in _CODES if isinstance(error, kind)), _FAILED)
    name, message, hint = _describe_error(error)
    if os.environ.get("MEMORY_BANK_DEBUG") == "1":
        import traceback

        traceback.print_exception(error)
    console = Console(sys.stderr)
    try:
        if _wants_json(args[: args.index("--") if "--" in args else None]):
            console.document(render_failure(name, message, hint))
        else:
            console.labelled("error: ", "bad", message)
            if hint:
                console.labelled("hint: ", "dim", hint)
        console.flush()
    except (BrokenPipeError, MemoryBankError):
        pass  # stderr can't be written either
    return code


def _wants_json(args: list[str]) -> bool:
    """Return whether a command line asks for JSON, so that its errors are JSON too."""
    return not {"--json", "--format=json"}.isdisjoint(args) or ("--format", "json") in pairwise(
        args
    )


def _describe_error(error: BaseException) -> tuple[str, str, str]:
    """Return an error's code, message and hint."""
    if isinstance(error, MemoryBankError):
        return error.code, error.message, find_hint(error)
    if isinstance(error, Interrupted):
        return "interrupted", error.message, error.hint
    if isinstance(error, KeyboardInterrupt):
        return "interrupted", "interrupted", ""
    message = f"unexpected error: {type(error).__name__}: {error}"
    return "unexpected", message, "please report it; MEMORY_BANK_DEBUG=1 prints the traceback"


@contextmanager
def _exit_on_sigterm() -> Iterator[None]:
    """Unwind the stack on SIGTERM, so that temporary files are removed."""

    def exit_process(number: int, _: FrameType | None) -> None:
        sys.exit(128 + number)

    try:
        old_handler = signal.signal(signal.SIGTERM, exit_process)
    except ValueError:  # not in the main thread
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, old_handler or signal.SIG_DFL)


def _close_stdout() -> None:
    """Discard output that can't be written; the interpreter would print an error at exit."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
