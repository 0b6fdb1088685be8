"""Where a command's text comes from: the command line, stdin, or the user's editor."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from memory_bank.base.errors import BadInput, MemoryBankError
from memory_bank.frontends.cli.console import Console


class Aborted(BadInput):
    """The user left an empty text in the editor."""


def interactive() -> bool:
    """Tell whether stdin is a terminal."""
    return sys.stdin is not None and sys.stdin.isatty()


def given(text: str | None) -> str | None:
    """Return the text of an argument or of stdin; None when there is neither, on a terminal."""
    if text is not None and text != "-":
        return text
    if text is None and interactive():
        return None
    return _stdin()


@contextmanager
def given_or_edited(text: str | None, start: str = "") -> Iterator[str]:
    """Yield the text of an argument or of stdin; without either, let the user edit `start`.

    An edited text is kept, as in `editing`, when the body raises.
    """
    content = given(text)
    if content is not None:
        yield content
        return
    with editing("text.md", start) as written:
        yield written


@contextmanager
def editing(name: str, start: str) -> Iterator[str]:
    """Let the user edit a text in a temporary file; yield the edited text.

    The file is deleted at the end. When the body raises, it is kept, and the error names it.
    Raises Aborted for an empty text.
    """
    import shutil  # start-up: few commands open an editor
    import tempfile

    folder = Path(tempfile.mkdtemp(prefix="memory-bank-"))
    file = folder / name
    file.write_bytes(start.encode("utf-8", "surrogateescape"))
    try:
        click.edit(filename=str(file))
        written = _decoded(file.read_bytes(), "the text")
        if not written.strip():
            raise Aborted("aborted: the text is empty, so nothing was written")
        yield written
    except BaseException as error:
        _keep(file, start, error)
        raise
    shutil.rmtree(folder, ignore_errors=True)


def _keep(file: Path, start: str, error: BaseException) -> None:
    """Report where an edited text is kept; delete an unchanged or an empty one."""
    unchanged = file.exists() and file.read_bytes() == start.encode("utf-8", "surrogateescape")
    if unchanged or isinstance(error, Aborted):
        file.unlink()
        file.parent.rmdir()
    elif isinstance(error, MemoryBankError):
        error.kept = f"your text is kept in {file}"
    else:
        Console(sys.stderr).line(f"your text is kept in {file}")


def _stdin() -> str:
    if sys.stdin is None:
        return ""
    buffer = getattr(sys.stdin, "buffer", None)
    return sys.stdin.read() if buffer is None else _decoded(buffer.read(), "stdin")


def _decoded(data: bytes, what: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInput(
            f"{what} is not UTF-8: byte {error.start + 1} is 0x{data[error.start]:02x}",
            "convert it, for example with iconv",
        ) from error
