"""The stdio transport: one message per line, and an error for each invalid line.

The SDK's own transport ignores invalid lines, replaces invalid UTF-8, and reads lines of any
length into memory.
"""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import BinaryIO

import anyio
from anyio import to_thread
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.os.win32.utilities import rebind_std_handle_to_fd
from mcp.shared.message import SessionMessage
from mcp_types import PARSE_ERROR, JSONRPCMessage

from memory_bank.frontends.mcp.messages import Refused, message_of, refused, text_of

MAX_LINE = 32 * 2**20
"""Bytes of the longest message: enough for a note of 10 MB with `\\uXXXX` escapes."""

_PIECE = 2**16

_Incoming = SessionMessage | Exception


@asynccontextmanager
async def connected() -> AsyncIterator[
    tuple[MemoryObjectReceiveStream[_Incoming], MemoryObjectSendStream[SessionMessage]]
]:
    """Yield the streams of incoming and outgoing messages, until the client closes stdin."""
    lines, answers = _claim_stdio()
    arrived, incoming = anyio.create_memory_object_stream[_Incoming](0)
    outgoing, leaving = anyio.create_memory_object_stream[SessionMessage](0)
    async with anyio.create_task_group() as group:
        group.start_soon(_receive, lines, arrived, outgoing.clone())
        group.start_soon(_send, answers, leaving)
        yield incoming, outgoing


async def _receive(
    lines: BinaryIO,
    arrived: MemoryObjectSendStream[_Incoming],
    outgoing: MemoryObjectSendStream[SessionMessage],
) -> None:
    async with arrived, outgoing:
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):  # the server ended
            while (message := await to_thread.run_sync(_next, lines)) is not None:
                if isinstance(message, Refused):
                    await outgoing.send(SessionMessage(message.answer))
                else:
                    await arrived.send(SessionMessage(message))


async def _send(answers: BinaryIO, leaving: MemoryObjectReceiveStream[SessionMessage]) -> None:
    async with leaving:
        async for message in leaving:
            with suppress(BrokenPipeError):  # a client that disconnects closes stdin, too
                await to_thread.run_sync(_write, answers, text_of(message.message))


def _next(lines: BinaryIO) -> JSONRPCMessage | Refused | None:
    """Return the next message; None at the end. Empty lines are skipped."""
    while line := lines.readline(MAX_LINE + 1):
        if len(line) > MAX_LINE:
            while line and not line.endswith(b"\n"):
                line = lines.readline(_PIECE)
            return refused(PARSE_ERROR, f"Parse error: a line of more than {MAX_LINE:,} bytes")
        if line.strip():
            return message_of(line)
    return None


def _write(answers: BinaryIO, text: str) -> None:
    answers.write(text.encode() + b"\n")
    answers.flush()


def _claim_stdio() -> tuple[BinaryIO, BinaryIO]:
    """Reserve stdin and stdout for the protocol, and return them.

    Other code that reads stdin gets end of file; its prints go to stderr.
    """
    wire = os.dup(0), os.dup(1)
    _redirect(0, os.open(os.devnull, os.O_RDONLY))
    try:
        _redirect(1, os.dup(2))
    except OSError:  # there is no stderr
        _redirect(1, os.open(os.devnull, os.O_WRONLY))
    return os.fdopen(wire[0], "rb", _PIECE), os.fdopen(wire[1], "wb", _PIECE)


def _redirect(number: int, target: int) -> None:
    """Redirect a standard descriptor to another one, which is closed."""
    os.dup2(target, number)
    os.close(target)
    if sys.platform == "win32":
        with suppress(OSError):
            rebind_std_handle_to_fd(number)
