"""A session of Claude Code in the form of another program reads back as the same session."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory_bank.agents import clients
from memory_bank.agents.clients.base import TranscriptPrompt
from memory_bank.sessions.compression.tool_calls import read
from memory_bank.sessions.queue_rows import MESSAGE
from tests.benchmarks.transcript_forms import FORMS, converted
from tests.sessions import transcripts_of


def _told(client: str, file: Path) -> tuple[list[str], list[str], list[tuple[object, ...]]]:
    """Return the prompts, the texts of the agent, and what each call did."""
    steps = clients.find(client, clients.TRANSCRIPTS).read_transcript(file).steps
    prompts = [step.text for step in steps if isinstance(step, TranscriptPrompt)]
    events, _, _ = transcripts_of.session_in(client, file, Path("/home/dev/shop"))
    said = [event.tool_output for event in events if event.tool_name == MESSAGE]
    calls = [read(event) for event in events if event.tool_name != MESSAGE]
    known = [
        (one.kind, one.command or one.path, one.failed, [(c.removed, c.added) for c in one.changes])
        for one in calls
        if one.kind in ("edit", "read", "command")
    ]
    return prompts, said, known


@pytest.mark.parametrize("client", FORMS)
def test_the_same_prompts_texts_and_calls_are_read(client: str, tmp_path: Path) -> None:
    file = transcripts_of.FOLDER / "claude-code.jsonl"
    other = tmp_path / f"{client}.jsonl"
    other.write_text(converted(file, client))
    prompts, said, calls = _told("claude-code", file)
    assert len(calls) > 20
    assert _told(client, other) == (prompts, said, calls)
