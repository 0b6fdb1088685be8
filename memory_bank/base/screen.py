"""What the view of an answer may print, and on what: lines, tables and blocks, on any console."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol, TypeVar
from unicodedata import combining, east_asian_width

from memory_bank.base.errors import BadInput
from memory_bank.base.rendering import quote_path
from memory_bank.base.text import one_line

if TYPE_CHECKING:  # a tenth of the time of `mb -h`
    from pathlib import Path

FOUND, NOTHING, FAILED = 0, 1, 3
"""Exit codes: found or done; nothing found; failed."""

FINDINGS = 1
"""Exit code of a check that has findings."""

Piece = str | tuple[str, str]
"""A text, or a text and the name of its style."""


def join_pieces(line: Sequence[Piece]) -> str:
    """Return pieces without styles, on one line."""
    return one_line(
        "".join(character if isinstance(character, str) else character[0] for character in line)
    )


_LEAST = 4
"""Columns below which the start of a text is not worth printing."""

Value = TypeVar("Value")


class BadUsage(BadInput):
    """Wrong options, or options that can't be combined."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C in a command that can say what was done, and how to continue."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class Screen(Protocol):
    """An output stream that escapes every harmful character."""

    terminal: bool
    coloured: bool

    @property
    def columns(self) -> int:
        """The number of columns of the terminal."""

    @property
    def rows(self) -> int:
        """The number of rows of the terminal."""

    @property
    def width(self) -> int:
        """The number of columns for running text."""

    def line(self, *pieces: Piece) -> None:
        """Print one line; line ends inside it are escaped."""

    def block(self, text: str, indent: str = "", style: str = "") -> None:
        """Print text of several lines, indented; long lines are wrapped on a terminal."""

    def labelled(self, label: str, style: str, text: str) -> None:
        """Print a label followed by a text, which is wrapped on a terminal."""

    def fold_line(self, line: str, indent: int) -> list[str]:
        """Return a line as lines that fit the width of a terminal behind an indent."""

    def document(self, value: object, *, indent: int | None = 2) -> None:
        """Print one JSON document."""

    def table(
        self,
        headings: Sequence[str],
        rows: Sequence[Sequence[str]],
        gives_way: str = "",
        below: Sequence[str] = (),
    ) -> None:
        """Print rows in columns; on a narrow terminal, those of the column `gives_way` are cut.

        What is `below` a row, if anything, is printed below it.
        """

    def hanging(self, indent: int, pieces: Sequence[Piece]) -> None:
        """Print a line, its first part less indented; on a terminal it is wrapped below that."""

    def markdown(self, text: str) -> None:
        """Print rendered Markdown; links show their targets."""

    def write(self, text: str) -> None:
        """Write text unchanged; raise StorageFailed if the stream can't be written."""

    def flush(self) -> None:
        """Flush the stream; raise StorageFailed if it can't be written."""


class Call(Protocol):
    """One call of a command: its bank, and where its answer and remarks go."""

    command: str
    named_bank: str | None
    """The folder given by `--bank` or MEMORY_BANK."""
    json: bool

    @property
    def console(self) -> Screen:
        """Where the answer goes."""

    @property
    def stderr(self) -> Screen:
        """Where remarks go."""

    @property
    def progress(self) -> Callable[[str, int, int], None] | None:
        """The callback for the progress of a long action; None without a terminal."""

    @property
    def interactive(self) -> bool:
        """Whether a person can be asked."""

    def open(self) -> AbstractContextManager[Any]:
        """Open the bank, and close it at the end."""

    def open_if_there(self, *, needed: bool = False) -> AbstractContextManager[Any]:
        """Open the bank; None where there is none, unless it is `needed` or was named."""

    def open_code(self) -> AbstractContextManager[Any]:
        """Open the code of the work tree, and close it at the end; no bank is needed."""

    def settings(self) -> Any:  # noqa: ANN401  (those of `base.settings`, which views don't load)
        """Return the bank's settings; outside a bank the user's."""

    def place(self, path: str, line: int | None = None) -> str:
        """Return where a note is, as seen from the working directory."""

    def answer(self, value: Value, render: Callable[[Value], None]) -> None:
        """Print an answer: as JSON with `--json`, else by `render`."""

    def document(self, value: object) -> None:
        """Print an answer as JSON, including repairs and notices."""

    def show_repaired(self, repaired: Sequence[str]) -> None:
        """Print repairs as part of the answer."""

    def remark(self, text: str) -> None:
        """Print a remark on stderr."""

    def warn(self, text: str | None) -> None:
        """Print a warning on stderr, if there is one."""

    def notices(self, notices: Sequence[str]) -> None:
        """Print an answer's notices on stderr; a JSON document contains them."""

    def incomplete(
        self, reason: str | None, problem: str | None = None, *, mode: str = "lexical"
    ) -> None:
        """Print what an answer lacks: results by meaning or of other banks, or `problem`."""

    def usage_error(self, message: str) -> BadUsage:
        """Return the error for a wrong combination of options."""

    def hint(self, hint: str | None) -> str | None:
        """Return the command line's wording of a hint in a record."""

    def read_text(self, text: str | None) -> str | None:
        """Return the text of an argument or of stdin; None when there is neither."""

    def edit_text(self, name: str, start: str) -> AbstractContextManager[str]:
        """Let the user edit a text in a file of that name; yield it, and keep it after an error."""

    def read_or_edit_text(self, text: str | None) -> AbstractContextManager[str]:
        """Yield the text of an argument or of stdin; without either, that of an editor."""

    def confirm(self, question: str, *, default: bool = False) -> bool:
        """Ask a person a question that is answered by yes or no; there must be one."""


def print_list(
    call: Call, name: str, items: Collection[Any], show: Callable[[], None], nothing: str
) -> int:
    """Print what was found as JSON or by `show`, or say that there is nothing; return the code."""
    if call.json:
        call.document({"result_count": len(items), name: items})
    elif items:
        show()
    else:
        call.remark(nothing)
    return FOUND if items else NOTHING


def show_place(path: str | Path, line: int | None = None) -> str:
    """Return a file's path as seen from the working directory, with a line if given."""
    try:
        relpath = os.path.relpath(path)
    except (ValueError, OSError):  # another drive, or the working directory is gone
        relpath = str(path)
    relpath = quote_path(min(relpath, str(path), key=len))
    return relpath if line is None else f"{relpath}:{line}"


def count_cells(text: str) -> int:
    """Return the number of terminal columns of a text."""
    if text.isascii():
        return len(text)
    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def cut(text: str, most: int) -> str:
    """Return a text cut to a number of columns, with an ellipsis if it was longer."""
    if count_cells(text) <= most:
        return text
    if most < _LEAST:
        return ""
    head = text[: max(most - 1, 0)]
    while head and count_cells(head) > most - 1:
        head = head[:-1]
    return f"{head}…"
