"""Compression mode `local`: rules make observations of events, the same ones each time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from memory_bank.sessions.compression.drafts import Draft
from memory_bank.sessions.compression.unchanged import drafts as one_each
from memory_bank.sessions.model import Event, Prompt


def drafts(
    events: Sequence[Event], prompts: Sequence[Prompt], project_root: Path | None
) -> tuple[Draft, ...]:
    """Return the observations of a batch of events of one session."""
    del prompts
    return one_each(events, project_root)
