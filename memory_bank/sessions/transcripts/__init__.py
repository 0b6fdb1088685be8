"""Read the transcripts that programs of agents keep; one file for each program, see `base.py`."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import cast

from memory_bank.errors import BadInput
from memory_bank.sessions.transcripts.base import Reader

CLIENTS = ("claude-code", "codex", "gemini")
"""The programs whose transcripts are understood."""


def reader(client: str) -> Reader:
    """Return what reads a program's transcripts; raise BadInput for an unknown program."""
    name = client.strip().casefold()
    if name not in CLIENTS:
        raise BadInput(
            f"the transcripts of {client[:60]!r} can't be read", f"choose: {', '.join(CLIENTS)}"
        )
    module: object = import_module(f"{__name__}.{name.replace('-', '_')}")
    return cast("Reader", module)


def readers(client: str | None = None) -> Mapping[str, Reader]:
    """Return the readers of all programs, or of one, by name."""
    return {name: reader(name) for name in ([client] if client else CLIENTS)}
