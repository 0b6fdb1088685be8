"""Read the transcripts that programs of agents keep; one file for each program, see `base.py`."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import cast

from memory_bank.agents.clients.base import TranscriptReader
from memory_bank.base.errors import BadInput

CLIENTS = ("claude-code", "codex", "gemini")
"""The programs whose transcripts are understood."""


def reader(client: str) -> TranscriptReader:
    """Return what reads a program's transcripts; raise BadInput for an unknown program."""
    name = client.strip().casefold()
    if name not in CLIENTS:
        raise BadInput(
            f"the transcripts of {client[:60]!r} can't be read", f"choose: {', '.join(CLIENTS)}"
        )
    module: object = import_module(f"memory_bank.agents.clients.{name.replace('-', '_')}")
    return cast("TranscriptReader", module)


def readers(client: str | None = None) -> Mapping[str, TranscriptReader]:
    """Return the readers of all programs, or of one, by name."""
    return {name: reader(name) for name in ([client] if client else CLIENTS)}
