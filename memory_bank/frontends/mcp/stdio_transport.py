"""The stdio transport: one message per line, and an error for each invalid line.

The SDK's own transport ignores invalid lines, replaces invalid UTF-8, and reads lines of any
length into memory.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import BinaryIO

import anyio
from anyio import to_thread
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import PARSE_ERROR, JSONRPCMessage

from memory_bank.frontends.mcp.messages import InvalidMessage, message_of, refused, text_of
from memory_bank.frontends.mcp.transports import claim

MAX_LINE = 32 * 2**20
"""Bytes of the longest message: enough for a note of 10 MB with `\\uXXXX` escapes."""

_PIECE = 2**16

_Incoming = SessionMessage | Exception


@asynccontextmanager
async def connected() -> AsyncIterator[
    tuple[MemoryObjectReceiveStream[_Incoming], MemoryObjectSendStream[SessionMessage]]
]:
    """Yield the streams of incoming and outgoing messages, until the client closes stdin."""
    lines, answers = claim()
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
                if isinstance(message, InvalidMessage):
                    await outgoing.send(SessionMessage(message.answer))
                else:
                    await arrived.send(SessionMessage(message))


async def _send(answers: BinaryIO, leaving: MemoryObjectReceiveStream[SessionMessage]) -> None:
    async with leaving:
        async for message in leaving:
            with suppress(BrokenPipeError):  # a client that disconnects closes stdin, too
                await to_thread.run_sync(_write, answers, text_of(message.message))


def _next(lines: BinaryIO) -> JSONRPCMessage | InvalidMessage | None:
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
