"""The door of stdin and stdout: one message a line, and an answer to each line that is none.

The SDK's own is silent where a line is no message, replaces what is no UTF-8, and holds a line of
any length in memory.
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
"""Bytes of a message: a note of 10 MB in which every letter is written as `\\uXXXX` and some."""

_PIECE = 2**16

_Incoming = SessionMessage | Exception


@asynccontextmanager
async def connected() -> AsyncIterator[
    tuple[MemoryObjectReceiveStream[_Incoming], MemoryObjectSendStream[SessionMessage]]
]:
    """Yield what a client sends and where it is answered, until it closes stdin."""
    lines, answers = _claimed()
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
            with suppress(BrokenPipeError):  # a client that hangs up closes stdin, too
                await to_thread.run_sync(_write, answers, text_of(message.message))


def _next(lines: BinaryIO) -> JSONRPCMessage | Refused | None:
    """Return the next message; None at the end. Lines without a word are skipped."""
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


def _claimed() -> tuple[BinaryIO, BinaryIO]:
    """Return stdin and stdout for the protocol alone.

    Whatever else reads stdin is at its end; whatever else is printed goes to stderr.
    """
    wire = os.dup(0), os.dup(1)
    _lead(0, os.open(os.devnull, os.O_RDONLY))
    try:
        _lead(1, os.dup(2))
    except OSError:  # there is no stderr
        _lead(1, os.open(os.devnull, os.O_WRONLY))
    return os.fdopen(wire[0], "rb", _PIECE), os.fdopen(wire[1], "wb", _PIECE)


def _lead(number: int, elsewhere: int) -> None:
    """Let a standard descriptor be another one, which is closed."""
    os.dup2(elsewhere, number)
    os.close(elsewhere)
    if sys.platform == "win32":
        with suppress(OSError):
            rebind_std_handle_to_fd(number)
