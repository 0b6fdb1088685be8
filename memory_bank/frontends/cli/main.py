"""The outermost frame of the command line, which maps errors to codes."""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from memory_bank.errors import BadInput, MemoryBankError, NoteNotFound
from memory_bank.frontends.cli import click_adapter
from memory_bank.frontends.cli.console import Console, prepare_streams
from memory_bank.frontends.cli.hints import hint_of
from memory_bank.frontends.rendering import failure

_INTERRUPTED = 130
_FAILED = 3
_CODES: tuple[tuple[type[BaseException], int], ...] = (
    (BadInput, 2),
    (NoteNotFound, 1),
    (MemoryBankError, _FAILED),
    (KeyboardInterrupt, _INTERRUPTED),
)
"""What each error means to a shell; the first class that fits decides."""


def run(args: list[str]) -> int:
    """Run a command line and return its exit code: 0, 1, 2, 3, or 128 and a signal's number."""
    prepare_streams()
    try:
        with _terminable():
            return _answered(args)
    except BrokenPipeError:
        return 0  # who reads had enough
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else _FAILED
    except (KeyboardInterrupt, Exception) as error:  # noqa: BLE001  (the outermost frame)
        return _told(error, args)
    finally:
        _settle_stdout()


def _answered(args: list[str]) -> int:
    code = click_adapter.invoke(args)
    Console(sys.stdout).flush()
    return code


def _told(error: BaseException, args: list[str]) -> int:
    """Say on stderr what went wrong, in the form that was asked for; return the exit code."""
    code = next((code for kind, code in _CODES if isinstance(error, kind)), _FAILED)
    name, message, hint = _described(error)
    if os.environ.get("MEMORY_BANK_DEBUG") == "1":
        traceback.print_exception(error)
    page = Console(sys.stderr)
    try:
        if "--json" in args[: args.index("--") if "--" in args else None]:
            page.document(failure(name, message, hint))
        else:
            page.labelled("error: ", "bad", message)
            if hint:
                page.labelled("hint: ", "dim", hint)
        page.flush()
    except (BrokenPipeError, MemoryBankError):
        pass  # nobody is there to be told
    return code


def _described(error: BaseException) -> tuple[str, str, str]:
    """Return an error's code, message and hint."""
    if isinstance(error, MemoryBankError):
        return error.code, error.message, hint_of(error)
    if isinstance(error, KeyboardInterrupt):
        return "interrupted", "interrupted", ""
    what = f"unexpected error: {type(error).__name__}: {error}"
    return "unexpected", what, "please report it; MEMORY_BANK_DEBUG=1 shows where it comes from"


@contextmanager
def _terminable() -> Iterator[None]:
    """Let SIGTERM unwind the stack, so that nothing half-made stays behind."""

    def leave(number: int, _: FrameType | None) -> None:
        sys.exit(128 + number)

    try:
        before = signal.signal(signal.SIGTERM, leave)
    except ValueError:  # not in the main thread
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before or signal.SIG_DFL)


def _settle_stdout() -> None:
    """Let go of what can't be written: the interpreter would complain about it at its end."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
