"""Register the folders of derived files that were made on this machine.

Such a folder has a random id, and the private state of this machine has a file with that name. The
id of a folder that came with a repository is not registered there. The file also caches data about
the bank.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from memory_bank.filenames import TEMPORARY_PREFIX

NAME = "index-id"
_LENGTH = 32
_DIGITS = frozenset(b"0123456789abcdef")
_OWN_RULES = ".gitignore"
KEPT = frozenset({NAME, _OWN_RULES})
"""Files that stay when an index is emptied."""


def read(index: Path) -> str:
    """Return the id of a folder, or empty; open no other file in it."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        handle = os.open(index / NAME, flags)
    except OSError:
        return ""
    try:
        data = os.read(handle, _LENGTH + 1)
    except OSError:
        return ""
    finally:
        os.close(handle)
    return data.decode() if len(data) == _LENGTH and _DIGITS.issuperset(data) else ""


def known(registry: Path, index_id: str) -> bool:
    """Tell whether an id is registered on this machine."""
    return bool(index_id) and os.access(registry / index_id, os.R_OK)


def bare(index: Path) -> bool:
    """Tell whether a folder has no data yet, for example since its maker was killed."""
    try:
        with os.scandir(index) as found:
            return all(
                entry.name == _OWN_RULES or entry.name.startswith(TEMPORARY_PREFIX)
                for entry in found
            )
    except OSError:
        return False


def give(index: Path, registry: Path) -> str:
    """Give a folder a registered id, unless another process has; return its id.

    Raises OSError.
    """
    made = os.urandom(_LENGTH // 2).hex()
    remember(registry, made, b"")
    temporary = index / f"{TEMPORARY_PREFIX}{made}"
    _write(temporary, made.encode())
    try:
        os.link(temporary, index / NAME)
    except FileExistsError:
        pass
    except OSError:  # a file system without hard links
        with suppress(FileExistsError):
            _write(index / NAME, made.encode())
    finally:
        temporary.unlink(missing_ok=True)
    found = read(index)
    if found != made:
        (registry / made).unlink(missing_ok=True)
    return found


def remember(registry: Path, index_id: str, what: bytes) -> None:
    """Register an id, and store some bytes with it; raise OSError."""
    registry.mkdir(parents=True, exist_ok=True, mode=0o700)
    temporary = registry / f"{TEMPORARY_PREFIX}{os.urandom(6).hex()}"
    try:
        _write(temporary, what)
        temporary.replace(registry / index_id)
    finally:
        temporary.unlink(missing_ok=True)


def remembered(registry: Path, index_id: str) -> bytes:
    """Return the bytes that are stored with an id; none if it is not registered."""
    try:
        return (registry / index_id).read_bytes() if index_id else b""
    except OSError:
        return b""


def all_remembered(registry: Path) -> list[bytes]:
    """Return the bytes that are stored with all ids of this machine."""
    try:
        names = os.listdir(registry)  # noqa: PTH208
    except OSError:
        return []
    return [found for name in names if (found := remembered(registry, name))]


def _write(file: Path, data: bytes) -> None:
    handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
    with os.fdopen(handle, "wb") as stream:
        stream.write(data)
