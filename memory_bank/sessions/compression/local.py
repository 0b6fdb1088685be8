"""Compression mode `local`: rules make observations, the same ones each time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from memory_bank.sessions.compression import wording
from memory_bank.sessions.compression.definitions import Paths
from memory_bank.sessions.compression.tool_calls import read
from memory_bank.sessions.compression.turns import Turn
from memory_bank.sessions.records import Event, Observation, Prompt


def observations(
    events: Sequence[Event],
    prompts: Sequence[Prompt],
    project_root: Path | None,
    before: Sequence[Observation] = (),
) -> tuple[Observation, ...]:
    """Return the observations of a batch of events of one session.

    Each file that was changed is among their files, each command that failed in their text.
    `before` are the observations that the session has already.
    """
    asked = {prompt.prompt_number: prompt.prompt_text for prompt in prompts}
    paths = Paths(project_root)
    turns = dict[int, Turn]()
    for event in events:
        number = event.prompt_number
        turns.setdefault(number, Turn(paths, asked.get(number, ""))).take(read(event))
    made = list[Observation]()
    for turn in turns.values():
        made += wording.observations(turn, (*before, *made))
    return tuple(made)
