"""The secret by which an agent on another machine shows that it may come in."""

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
    """A secret and the file that holds it."""

    value: bytes = field(repr=False)
    file: Path
    made: bool
    """Whether it was not there before."""


def token(file: Path | None = None) -> Token:
    """Return the secret of a file, which is made where there is none, for the user's eyes only.

    Without a file it is the user's own for all banks. Raises BadInput when others can read the
    file or it holds nothing that could be a secret, StorageFailed when it can't be read or made.
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
    value = secrets.token_urlsafe(_BYTES).encode() + b"\n"
    with suppress(NoteExists):  # another server was faster: its secret counts
        files.replace(file, value, files.ABSENT, mode=0o600)


def _read(file: Path) -> bytes:
    try:
        with file.open("rb") as stream:
            _check_private(file, os.fstat(stream.fileno()))
            value = stream.read(_MOST).strip()
    except OSError as error:
        raise files.failed("read", file, error) from error
    if not _SHAPE.fullmatch(value):
        raise BadInput(
            f"{file} holds no token: {_SHORTEST} or more letters, digits and signs on one line",
            "remove the file, and a token is made",
        )
    return value


def _check_private(file: Path, found: os.stat_result) -> None:
    """Raise BadInput when somebody else could know the secret."""
    if not stat.S_ISREG(found.st_mode):
        raise StorageFailed(f"{file} is no plain file", Hint.NAME_ANOTHER_FILE)
    if os.name == "nt":  # pragma: no cover  (there the folder's rights count)
        return
    if found.st_uid not in {os.geteuid(), 0}:
        raise BadInput(f"{file} belongs to somebody else", Hint.NAME_ANOTHER_FILE)
    if found.st_mode & _OTHERS:
        raise BadInput(
            f"others can read {file}",
            "remove it, and a new token is made; `chmod 600` is enough if nobody has read it",
        )
