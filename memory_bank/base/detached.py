"""Start a process of our own that outlives the one that starts it."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from memory_bank.base.locks import is_locked

BACKGROUND = "--background"
"""What `memory-bank hook` has in the place of an event to do the work of `memory.maintenance`."""

WORK_FOLDER = "background"
"""The folder of an index that is locked while the process of `memory.maintenance` runs."""


def is_at_work(index: Path) -> bool:
    """Tell whether a process in the background works on an index."""
    return is_locked(index / WORK_FOLDER)


def start_background(root: str) -> None:
    """Start the work of `memory.maintenance` on the bank of a folder of notes; raise OSError.

    It ends at once where another one is at work. None is started in continuous integration.
    """
    if os.environ.get("CI"):
        return
    start_detached(["hook", "", BACKGROUND, root])


def start_detached(args: Sequence[str]) -> None:
    """Start `memory-bank` with arguments, without streams, in a session of its own.

    Raises OSError.
    """
    # -P: not a package of that name in the working directory
    words = [sys.executable, "-P", "-m", "memory_bank", *args]
    try:
        nothing = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in range(3)]
        os.posix_spawn(sys.executable, words, os.environ, file_actions=nothing, setsid=True)
    except (AttributeError, NotImplementedError):
        _by_subprocess(words)


def _by_subprocess(words: Sequence[str]) -> None:
    """Start it on a system without `posix_spawn`."""
    import subprocess

    flags = sum(
        getattr(subprocess, name, 0)
        for name in ("DETACHED_PROCESS", "CREATE_NEW_PROCESS_GROUP", "CREATE_BREAKAWAY_FROM_JOB")
    )
    subprocess.Popen(  # noqa: S603  (our own program)
        words,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        creationflags=flags,
    )
