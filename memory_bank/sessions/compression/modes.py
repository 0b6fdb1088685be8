"""Compress the events of a session into observations, in the mode that the settings say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

from memory_bank.base.errors import MemoryBankError
from memory_bank.base.setting_sections import CompressionSettings
from memory_bank.sessions.compression import command, wording
from memory_bank.sessions.compression.definitions import Paths
from memory_bank.sessions.compression.sentences import find_telling
from memory_bank.sessions.compression.texts import PART, Compressed, bound_observation, cut
from memory_bank.sessions.compression.tool_calls import ToolCall, estimate_tokens, read
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
        return Compressed(_keep_whole_events(events, project_root), "none")
    if settings.mode != "local" and events:
        project = project_root.name if project_root else ""
        question = command.build_question(events, prompts, settings.model, project)
        try:
            if settings.mode == "command":
                answer = command.ask(settings.command, question)
            else:
                answer = _ask_sample(sample, command.client_prompt(question))
            return Compressed(
                command.parse_observations(answer, events, project_root), settings.mode
            )
        except command.NoObservations as error:
            reason = str(error)
        except MemoryBankError as error:
            reason = error.message
    return Compressed(
        wording.word_observations(events, prompts, project_root, before), "local", reason
    )


def _ask_sample(sample: Sample | None, prompt: str) -> str:
    if sample is None:
        raise command.NoObservations("no client is there that offers its model")
    return sample(prompt, command.MOST_TOKENS)


_MOST = 100_000
"""Characters of the text of one event that stays as it is."""


def _keep_whole_events(
    events: Sequence[Event], project_root: Path | None
) -> tuple[Observation, ...]:
    """Return an observation for each event with all its text."""
    paths = Paths(project_root)
    return tuple(_observation(read(event), paths) for event in events)


def _observation(call: ToolCall, paths: Paths) -> Observation:
    event = call.event
    changed = list(call.changed(paths))
    about = call.command or call.path or call.words or ", ".join(changed) or event.tool_input
    title = f"{event.tool_name}{' fails' if call.failed else ''}: {cut(about, PART)}"
    narrative = f"Input:\n\n{event.tool_input}\n\nOutput:\n\n{event.tool_output}"
    if call.kind == "message":
        narrative = event.tool_output
        title = find_telling(narrative) or cut(narrative, PART - 1)
    read_files = [paths.shown(call.path, event.cwd)] if call.kind == "read" and call.path else []
    return bound_observation(
        "change" if changed else "discovery",
        title,
        event.created_at,
        lists={"files_read": read_files, "files_modified": changed},
        narrative=narrative,
        most=_MOST,
        prompt_number=event.prompt_number,
        discovery_tokens=estimate_tokens(event),
    )
