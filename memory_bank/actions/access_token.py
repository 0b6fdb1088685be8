"""The token that authorises clients over HTTP: of a file, or of one process."""

from __future__ import annotations

import os
import re
import secrets
import stat
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from memory_bank import layout
from memory_bank.errors import BadInput, NoteExists, StorageFailed
from memory_bank.hints import Hint
from memory_bank.notes import files

_BYTES = 32
_SHORTEST = 16
_MOST = 4096
_OTHERS = 0o077
_SHAPE = re.compile(rb"[!-~]{%d,}" % _SHORTEST)


@dataclass(frozen=True, slots=True)
class Token:
    """A bearer token and its file."""

    value: bytes = field(repr=False)
    file: Path | None = None
    """None if it ends with the process."""
    made: bool = True
    """Whether it is new."""


def new_token() -> Token:
    """Return a token that is in no file."""
    return Token(_value())


def token(file: Path | None = None) -> Token:
    """Return the token of a file; create a private file with a new token if there is none.

    The default file is the user's, for all banks. Raises BadInput if others can read the file or
    it contains no valid token, StorageFailed if it can't be read or created.
    """
    file = file or layout.user_folder("state") / "http-token"
    made = not os.path.lexists(file)
    if made:
        _make(file)
    return Token(_read(file), file, made)


def _make(file: Path) -> None:
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise files.failed("make", file.parent, error) from error
    with suppress(NoteExists):  # another server was faster: its token is used
        files.replace(file, _value() + b"\n", files.ABSENT, mode=0o600)


def _value() -> bytes:
    return secrets.token_urlsafe(_BYTES).encode()


def _read(file: Path) -> bytes:
    try:
        with file.open("rb") as stream:
            _check_private(file, os.fstat(stream.fileno()))
            value = stream.read(_MOST).strip()
    except OSError as error:
        raise files.failed("read", file, error) from error
    if not _SHAPE.fullmatch(value):
        raise BadInput(
            f"{file} has no token: one line of at least {_SHORTEST} ASCII characters",
            "remove the file to get a new token",
        )
    return value


def _check_private(file: Path, found: os.stat_result) -> None:
    """Raise BadInput if somebody else could know the token."""
    if not stat.S_ISREG(found.st_mode):
        raise StorageFailed(f"{file} is not a regular file", Hint.NAME_ANOTHER_FILE)
    if os.name == "nt":  # pragma: no cover  (there the folder's rights count)
        return
    if found.st_uid not in {os.geteuid(), 0}:
        raise BadInput(f"{file} belongs to somebody else", Hint.NAME_ANOTHER_FILE)
    if found.st_mode & _OTHERS:
        raise BadInput(
            f"others can read {file}",
            "remove it to get a new token; `chmod 600` is enough if nobody has read it",
        )
