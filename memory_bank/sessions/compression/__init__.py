"""Compress the events of a session into observations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

from memory_bank.errors import MemoryBankError
from memory_bank.sessions.compression import answers, client, command, local, unchanged
from memory_bank.sessions.compression.drafts import Compressed as Compressed
from memory_bank.sessions.compression.drafts import Draft as Draft
from memory_bank.sessions.model import Event, Prompt
from memory_bank.setting_sections import Compression

Sample: TypeAlias = Callable[[str, int], str]
"""Asks a client's model: a prompt and the most tokens of its answer, to the answer.

Raises MemoryBankError if the client doesn't answer.
"""


def compress(
    events: Sequence[Event],
    *,
    prompts: Sequence[Prompt],
    settings: Compression,
    project_root: Path | None,
    sample: Sample | None = None,
) -> Compressed:
    """Return the observations that a batch of events becomes, in the way of the settings.

    The events are of one session, oldest first, and all are behind one of the observations. If a
    program or a client's model fails, they are compressed by rules, and the result says why.
    """
    reason = ""
    if settings.mode == "none":
        return Compressed(unchanged.drafts(events, project_root), "none")
    if settings.mode != "local" and events:
        project = project_root.name if project_root else ""
        question = answers.question(events, prompts, settings.model, project)
        try:
            if settings.mode == "command":
                answer = command.ask(settings.command, question)
            else:
                answer = _asked(sample, client.prompt(question))
            return Compressed(answers.drafts(answer, events, project_root), settings.mode)
        except answers.Failed as error:
            reason = str(error)
        except MemoryBankError as error:
            reason = error.message
    return Compressed(local.drafts(events, prompts, project_root), "local", reason)


def _asked(sample: Sample | None, prompt: str) -> str:
    if sample is None:
        raise answers.Failed("no client is there that offers its model")
    return sample(prompt, client.MOST_TOKENS)
