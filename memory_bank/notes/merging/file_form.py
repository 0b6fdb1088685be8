"""The form of a file besides its lines: byte order mark, line ends, final newline."""

from __future__ import annotations

import re
from typing import NamedTuple, TypeVar

from memory_bank.notes.decoding import BOM

Value = TypeVar("Value")
_BREAK = re.compile(r"\r\n|\n|\r")


class NoText(Exception):
    """The bytes are not UTF-8, or binary."""


class Form(NamedTuple):
    """How a file is written; None for what an empty file doesn't tell."""

    mark: bytes = b""
    newline: str | None = None
    r"""The line end of all lines; empty if they differ: then lines are what `\n` ends."""
    ended: bool | None = None
    """Whether the last line has a line end."""


class Text(NamedTuple):
    """A file's text, to be split into lines at its line ends, and its form."""

    text: str
    form: Form


def read(data: bytes) -> Text:
    """Return a file's text without its mark; raise NoText."""
    mark = BOM if data.startswith(BOM) else b""
    try:
        text = data[len(mark) :].decode("utf-8")
    except UnicodeDecodeError as error:
        raise NoText(f"not UTF-8 (byte {error.start})") from error
    if "\0" in text:
        raise NoText("binary: it has NUL bytes")
    ends = set(_BREAK.findall(text))
    newline = (ends.pop() if len(ends) == 1 else "") if ends else None
    ended = text.endswith(newline or "\n") if text else None
    return Text(text, Form(mark, newline, ended))


def lines(text: str, newline: str) -> list[str]:
    """Return the lines without line ends; the last one may lack it."""
    if not text:
        return []
    newline = newline or "\n"
    return text.removesuffix(newline).split(newline)


def merged(base: Form, ours: Form, theirs: Form) -> Form:
    """Return the form with the changes of both sides; ours where they differ."""
    return Form(
        theirs.mark if ours.mark == base.mark else ours.mark,
        _chosen(base.newline, ours.newline, theirs.newline),
        _chosen(base.ended, ours.ended, theirs.ended),
    )


def _chosen(base: Value | None, ours: Value | None, theirs: Value | None) -> Value | None:
    if ours is None or (ours == base and theirs is not None):
        return theirs
    return ours
