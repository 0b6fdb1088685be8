"""Stdin and stdout for a protocol alone: other code in the process can't read or write them."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import BinaryIO

_BUFFER = 2**16


def claim_streams() -> tuple[BinaryIO, BinaryIO]:
    """Reserve stdin and stdout for the protocol, and return them.

    Other code that reads stdin gets end of file; its prints go to stderr.
    """
    wire = os.dup(0), os.dup(1)
    _redirect(0, os.open(os.devnull, os.O_RDONLY))
    try:
        _redirect(1, os.dup(2))
    except OSError:  # there is no stderr
        _redirect(1, os.open(os.devnull, os.O_WRONLY))
    return os.fdopen(wire[0], "rb", _BUFFER), os.fdopen(wire[1], "wb", _BUFFER)


def _redirect(number: int, target: int) -> None:
    """Redirect a standard descriptor to another one, which is closed."""
    os.dup2(target, number)
    os.close(target)
    if sys.platform == "win32":
        from mcp.os.win32.utilities import rebind_std_handle_to_fd

        with suppress(OSError):
            rebind_std_handle_to_fd(number)
