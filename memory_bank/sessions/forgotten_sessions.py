"""The list of sessions that were forgotten: hooks and imports store nothing of them again.

It is a file beside the queue that has only ids, one on a line, so that it outlives a damaged queue.
A hook reads it at each event.
"""

from __future__ import annotations

import os
from pathlib import Path

from memory_bank.base.errors import StorageFailed

FILE = "forgotten-sessions"


def ids(folder: Path) -> frozenset[str]:
    """Return the ids of the forgotten sessions of a bank, by its private state."""
    try:
        with open(folder / FILE, encoding="utf-8") as file:  # noqa: PTH123  (start-up)
            return frozenset(file.read().split("\n")) - {""}
    except FileNotFoundError:
        return frozenset()
    except (OSError, UnicodeDecodeError) as error:
        raise StorageFailed(
            f"{folder / FILE} can't be read", "check the file: it has an id on each line"
        ) from error


def add(folder: Path, session_id: str) -> None:
    """Add a session, durably; raise StorageFailed."""
    if session_id in ids(folder):
        return
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle = os.open(folder / FILE, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        with open(handle, "ab") as file:  # noqa: PTH123
            file.write(f"{session_id}\n".encode())
            file.flush()
            os.fsync(handle)
    except OSError as error:
        raise StorageFailed(f"{folder / FILE} can't be written: {error.strerror}") from error
