"""The log of what failed in hooks, which must not trouble the agent they run in."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import suppress

from memory_bank.base import NamedTuple, paths
from memory_bank.base.dates import seconds_to_iso
from memory_bank.base.errors import StorageFailed
from memory_bank.base.filenames import replace_private, user_state
from memory_bank.base.removed_text import RemovedText

FILE = "hooks.log"

DAYS = 7
"""Failures that are older are not reported."""

# Of a log, which then loses its older half: some hundred failures.
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


def record_failure(
    client: str, event: str, message: str, *, root: str = "", state: str = ""
) -> bool:
    """Add a failure to the log of a bank's private state, or else to the user's; never fail.

    `root` is the bank's folder of notes, empty if it is not known. Returns False if no log can be
    written.
    """
    line = json.dumps(
        {
            "at": time.time(),
            "bank": root,
            "client": client[:100],
            "event": event[:100],
            "message": message[:_LONGEST],
        }
    )
    return any(_append(file, f"{line}\n".encode()) for file in _files(state, make=True))


def recent_failures(root: str, state: str) -> HookFailures | None:
    """Return what failed lately in the hooks of a bank; None if nothing did.

    `root` is its folder of notes. Logs that banks share have failures of others, too.
    """
    now = time.time()
    start, own = now - 86_400 * DAYS, os.path.join(state, FILE)
    failures = sorted(
        (
            failure
            for file in _files(state)
            for bank, failure in _read(file)
            if start <= failure.last <= now + 86_400 and (file == own or bank == root)
        ),
        key=lambda failure: failure.last,
    )
    if not failures:
        return None
    return failures[-1]._replace(times=len(failures), since=failures[0].last)


def describe_failures(root: str, state: str) -> str:
    """Return a text that says what failed lately in a bank's hooks; empty if nothing did."""
    recent = recent_failures(root, state)
    if recent is None:
        return ""

    times = (
        "once"
        if recent.times == 1
        else f"{recent.times} times since {seconds_to_iso(recent.since)}"
    )
    last = f"{recent.client} {recent.event} at {seconds_to_iso(recent.last)}: {recent.message}"
    return f"hooks failed {times}; the last: {last} (log: {recent.log})"


def replace_text(removed: RemovedText, state: str, *, dry_run: bool = False) -> dict[str, int]:
    """Replace a text in the logs; return how often each had it, by path. Raises OSError."""
    entries = {}
    for file in _files(state):
        try:
            text = _text(file)
        except (FileNotFoundError, NotADirectoryError):
            continue
        if number := removed.count(text):
            entries[file] = number
            if not dry_run:
                lines = map(removed.replaced_in_json, text.splitlines(keepends=True))
                replace_private(file, "".join(lines).encode())
    return entries


def _files(state: str, *, make: bool = False) -> Iterator[str]:
    """Yield where a log may be, the best place first; no other user can write in any of them."""
    for folder in (state, user_state()):
        if folder:
            yield os.path.join(folder, FILE)

    with suppress(StorageFailed):
        yield os.path.join(paths.temporary_folder(make=make), FILE)


def _append(file: str, line: bytes) -> bool:
    with suppress(OSError):
        os.makedirs(os.path.dirname(file), mode=0o700, exist_ok=True)
        with open(os.open(file, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600), "a+b") as log:
            log.write(line)
            log.flush()
            if log.tell() > _MOST_BYTES:
                log.seek(-_MOST_BYTES // 2, os.SEEK_END)
                replace_private(file, log.read().partition(b"\n")[2])
        return True
    return False


def _text(file: str) -> str:
    with open(file, encoding="utf-8", errors="replace", newline="") as log:
        return log.read()


def _read(file: str) -> Iterator[tuple[str, HookFailures]]:
    """Yield the failures in a log, each with its bank."""
    with suppress(OSError):
        for line in _text(file).splitlines():
            with suppress(ValueError, KeyError, TypeError, RecursionError):
                document = json.loads(line)
                at, message = float(document["at"]), str(document["message"])
                client, event = str(document["client"]), str(document["event"])
                failures = HookFailures(1, at, at, client, event, message, file)
                yield str(document.get("bank", "")), failures
