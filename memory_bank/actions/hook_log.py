"""The log of what failed in hooks, which must not trouble the agent they run in."""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from memory_bank.actions.hook_bank import user_state

if TYPE_CHECKING:
    from memory_bank.removed_text import RemovedText

FILE = "hooks.log"
DAYS = 7
"""Failures that are older are not reported."""

_MOST_BYTES = 200_000
_LONGEST = 500
"""Characters of a message."""


class HookFailures(NamedTuple):
    """What failed in hooks during the last days."""

    times: int
    since: float
    """Seconds since 1970."""
    last: float
    client: str
    """Of the last failure, like its event and message."""
    event: str
    message: str
    log: str
    """The path of the log with the last failure."""


def record(client: str, event: str, message: str, state: str = "") -> bool:
    """Add a failure to the log of a bank's private state, or else to the user's; never fail.

    Returns False if no log can be written.
    """
    line = json.dumps(
        {
            "at": time.time(),
            "client": client[:100],
            "event": event[:100],
            "message": message[:_LONGEST],
        }
    )
    return any(_append(file, line) for file in _files(state))


def failures(state: str = "") -> HookFailures | None:
    """Return what failed lately in the hooks of a bank, or of none; None if nothing did."""
    start = time.time() - 86_400 * DAYS
    found = sorted(
        (one for file in _files(state) for one in _read(file) if one.last >= start),
        key=lambda one: one.last,
    )
    if not found:
        return None
    return found[-1]._replace(times=len(found), since=found[0].last)


def described(state: str = "") -> str:
    """Return a text that says what failed lately in hooks; empty if nothing did."""
    found = failures(state)
    if found is None:
        return ""
    from memory_bank.notes.dates import iso_of

    times = "once" if found.times == 1 else f"{found.times} times since {iso_of(found.since)}"
    last = f"{found.client} {found.event} at {iso_of(found.last)}: {found.message}"
    return f"hooks failed {times}; the last: {last} (log: {found.log})"


def replace_text(removed: RemovedText, state: str, *, dry_run: bool = False) -> dict[str, int]:
    """Replace a text in the logs; return how often each had it, by path. Raises OSError."""
    found = {}
    for file in map(Path, _files(state)):
        if file.is_symlink() or not file.is_file():
            continue
        text = file.read_text(encoding="utf-8", errors="replace")
        if number := removed.count(text):
            found[str(file)] = number
            if not dry_run:
                lines = map(removed.replaced_in_json, text.splitlines(keepends=True))
                _replace(str(file), "".join(lines).encode())
    return found


def _files(state: str) -> list[str]:
    """Return where a log may be, the best place first."""
    import tempfile

    user = os.getuid() if hasattr(os, "getuid") else 0
    folders = [state] if state else []
    folders += [user_state(), os.path.join(tempfile.gettempdir(), f"memory-bank-{user}")]
    return [os.path.join(folder, FILE) for folder in folders]


def _append(file: str, line: str) -> bool:
    with suppress(OSError):
        os.makedirs(os.path.dirname(file), mode=0o700, exist_ok=True)
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
        handle = os.open(file, flags, 0o600)
        try:
            done = os.write(handle, f"{line}\n".encode()) > len(line)
            size = os.fstat(handle).st_size
        finally:
            os.close(handle)
        if size > _MOST_BYTES:
            _shorten(file)
        return done
    return False


def _shorten(file: str) -> None:
    """Keep the last half of a log."""
    with open(file, "rb") as old:
        old.seek(-_MOST_BYTES // 2, os.SEEK_END)
        _replace(file, old.read().partition(b"\n")[2])


def _replace(file: str, kept: bytes) -> None:
    temporary = f"{file}.{os.urandom(4).hex()}"
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(handle, "wb") as new:
        new.write(kept)
    os.replace(temporary, file)


def _read(file: str) -> list[HookFailures]:
    found = []
    with suppress(OSError), open(file, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            with suppress(ValueError, KeyError, TypeError):
                one = json.loads(line)
                at, message = float(one["at"]), str(one["message"])
                client, event = str(one["client"]), str(one["event"])
                found.append(HookFailures(1, at, at, client, event, message, file))
    return found
