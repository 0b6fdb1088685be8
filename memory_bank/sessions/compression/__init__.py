"""Compress the events of a session into observations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

from memory_bank.base.errors import MemoryBankError
from memory_bank.base.setting_sections import CompressionSettings
from memory_bank.sessions.compression import client, command, local, program, unchanged
from memory_bank.sessions.compression.texts import Compressed
from memory_bank.sessions.records import Event, Observation, Prompt

Sample: TypeAlias = Callable[[str, int], str]
"""Asks a client's model: a prompt and the most tokens of its answer, to the answer.

Raises MemoryBankError if the client doesn't answer.
"""


def compress(
    events: Sequence[Event],
    *,
    prompts: Sequence[Prompt],
    settings: CompressionSettings,
    project_root: Path | None,
    before: Sequence[Observation] = (),
    sample: Sample | None = None,
) -> Compressed:
    """Return the observations that a batch of events becomes, in the way of the settings.

    The events are of one session, oldest first, and `before` are the observations that it has. If
    a program or a client's model fails, they are compressed by rules, and the result says why.
    """
    reason = ""
    if settings.mode == "none":
        return Compressed(unchanged.observations(events, project_root), "none")
    if settings.mode != "local" and events:
        project = project_root.name if project_root else ""
        question = command.question(events, prompts, settings.model, project)
        try:
            if settings.mode == "command":
                answer = program.ask(settings.command, question)
            else:
                answer = _asked(sample, client.prompt(question))
            return Compressed(command.observations(answer, events, project_root), settings.mode)
        except command.NoObservations as error:
            reason = str(error)
        except MemoryBankError as error:
            reason = error.message
    return Compressed(local.observations(events, prompts, project_root, before), "local", reason)


def _asked(sample: Sample | None, prompt: str) -> str:
    if sample is None:
        raise command.NoObservations("no client is there that offers its model")
    return sample(prompt, client.MOST_TOKENS)
