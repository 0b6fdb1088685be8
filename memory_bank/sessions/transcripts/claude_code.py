"""Transcripts of Claude Code: `~/.claude/projects/FOLDER/SESSION.jsonl`.

Seen in 2.1.330. Their form is internal to the program, so that every field may be missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from memory_bank.sessions.transcripts import lines
from memory_bank.sessions.transcripts.base import Transcript, TranscriptCall, TranscriptPrompt
from memory_bank.sessions.transcripts.lines import Line

NAME = "claude-code"
_NO_PROMPT = (
    "<task-notification>", "<command-", "<local-command", "Caveat: The messages below", "<bash-",
    "[Request interrupted", "<user-memory", "This session is being continued from",
)  # fmt: skip
"""Starts of user lines that no person wrote."""
_ADDED = re.compile(r"<(system-reminder|ide_[a-z_]{1,40})>.*?</\1>\s*", re.DOTALL)
_REFUSED = ("The user doesn't want to", "The tool use was rejected", "Permission to use")
_UNTOLD = frozenset(["originalFile", "content"])
"""Fields of an edit's result that hold the whole file."""


def files(environment: Mapping[str, str]) -> Iterator[Path]:
    """Yield the transcripts on this machine."""
    root = environment.get("CLAUDE_CONFIG_DIR") or f"{environment.get('HOME', '')}/.claude"
    yield from lines.listed(Path(root) / "projects", "*/*.jsonl")


def folder(file: Path) -> str:
    """Return the folder in which the session began."""
    return next((cwd for line in lines.first(file) if (cwd := lines.text(line, "cwd"))), "")


def read(file: Path) -> Transcript:
    """Return the session of a file, with the calls of its subagents. Raises OSError."""
    reading = _Reading(Transcript(file, session_id=file.stem))
    for line in lines.read(file, reading.made.skipped):
        reading.take(line)
    for agent in lines.listed(file.with_suffix("") / "subagents", "*.jsonl"):
        for line in lines.read(agent, reading.made.skipped):
            reading.take(line, aside=True)
    return reading.end()


class _Reading:
    """The lines of one session, taken one after the other."""

    def __init__(self, made: Transcript) -> None:
        self.made = made
        self._seen = set[str]()
        self._open = dict[str, tuple[str, Any, float, str]]()
        self._usage = dict[str, tuple[int, int]]()

    def take(self, line: Line, *, aside: bool = False) -> None:
        """Add a line; one that was read already, as a fork repeats them, is passed over."""
        uuid = lines.text(line, "uuid")
        if uuid in self._seen:
            return
        self._seen.update([uuid] if uuid else [])
        kind = lines.text(line, "type")
        made = self.made
        if kind not in ("user", "assistant"):
            made.skipped["no prompt or call"] += kind not in ("system", "summary")
            return
        when = lines.seconds(line.get("timestamp"))
        made.saw(when)
        made.cwd = made.cwd or lines.text(line, "cwd")
        made.branch = made.branch or lines.text(line, "gitBranch")
        aside = aside or bool(line.get("isSidechain"))
        if kind == "assistant":
            self._calls(line, when)
        elif results := [
            part
            for part in lines.items(lines.fields(line, "message"), "content")
            if part.get("type") == "tool_result"
        ]:
            for part in results:
                self._result(line, part, alone=len(results) == 1)
        elif not aside:
            self._prompt(line, when)

    def _calls(self, line: Line, when: float) -> None:
        message = lines.fields(line, "message")
        usage = lines.fields(message, "usage")
        if usage:  # a message has a line for each of its parts, each with the usage so far
            given = lines.number(usage.get("input_tokens"))
            given += lines.number(usage.get("cache_creation_input_tokens"))
            spent = lines.number(usage.get("output_tokens"))
            self._usage[lines.text(message, "id") or str(len(self._usage))] = given, spent
        for part in lines.items(message, "content"):
            key, name = lines.identifier(part, "id"), lines.text(part, "name")
            if part.get("type") == "tool_use" and key and name:
                self._open[key] = name, part.get("input"), when, lines.text(line, "cwd")

    def _result(self, line: Line, part: Line, *, alone: bool) -> None:
        key = lines.text(part, "tool_use_id")
        call = self._open.pop(key, None)
        if call is None:
            self.made.skipped["result without a call"] += 1
            return
        name, given, when, cwd = call
        failed = bool(part.get("is_error"))
        said = lines.texts(part.get("content"))
        output: Any = line.get("toolUseResult") if alone else None
        if isinstance(output, dict) and output.get("structuredPatch"):
            output = {key: output[key] for key in output if key not in _UNTOLD}
        elif isinstance(output, str):
            output = output.removeprefix("Error: ")
        if output is None or (failed and not isinstance(output, str)):
            output = said
        if failed and said.startswith(_REFUSED):
            self.made.skipped["refused call"] += 1
            return
        done = lines.seconds(line.get("timestamp")) or when
        self.made.steps.append(TranscriptCall(name, given, output, done, key, failed, cwd))

    def _prompt(self, line: Line, when: float) -> None:
        if (
            line.get("isMeta")
            or line.get("isCompactSummary")
            or line.get("promptSource") == "system"
        ):
            return
        content = lines.fields(line, "message").get("content")
        text = _ADDED.sub("", lines.texts(content)).strip()
        if not text or text.startswith(_NO_PROMPT):
            return
        self.made.steps.append(TranscriptPrompt(text, when, lines.identifier(line, "promptId")))

    def end(self) -> Transcript:
        """Return the session; a call without a result is counted."""
        made = self.made
        made.skipped["call without a result"] += len(self._open)
        made.input_tokens = sum(given for given, _ in self._usage.values())
        made.output_tokens = sum(spent for _, spent in self._usage.values())
        made.steps.sort(key=lambda step: step.created_at)  # subagents' are read last
        return made
