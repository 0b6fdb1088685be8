"""Transcripts of Codex: `~/.codex/sessions/YYYY/MM/DD/rollout-TIME-ID.jsonl`.

Seen in 0.169.0; older files have other lines for the same things. A call that is told in several
ways is taken once, from the line that tells most.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from memory_bank.sessions.transcripts import lines
from memory_bank.sessions.transcripts.base import Transcript, TranscriptCall, TranscriptPrompt
from memory_bank.sessions.transcripts.lines import Line

NAME = "codex"
_ID = re.compile(r"([0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12})$")
_INJECTED = re.compile(
    r"\s*<(?:environment_context|user_instructions|turn_aborted|permissions|skill)"
)
_SHELLS = ("shell", "exec_command", "local_shell", "unified_exec", "container.exec")
_CODE = re.compile(
    r"Process exited with code (-?\d+)|\"exit_code\":\s?(-?\d+)|^Exit code: (-?\d+)", re.MULTILINE
)
_BEST, _GOOD, _SOME = 3, 2, 1
"""How much a kind of line tells of a call."""


def files(environment: Mapping[str, str]) -> Iterator[Path]:
    """Yield the transcripts on this machine."""
    root = Path(environment.get("CODEX_HOME") or f"{environment.get('HOME', '')}/.codex")
    yield from lines.listed(root / "sessions", "*/*/*/rollout-*.jsonl")
    yield from lines.listed(root / "archived_sessions", "**/rollout-*.jsonl")


def folder(file: Path) -> str:
    """Return the folder in which the session began."""
    for line in lines.first(file, 5):
        payload = lines.fields(line, "payload") or line
        if cwd := lines.text(payload, "cwd"):
            return cwd
    return ""


def read(file: Path) -> Transcript:
    """Return the session of a file. Raises OSError."""
    found = _ID.search(file.stem)
    reading = _Reading(Transcript(file, session_id=found[1] if found else file.stem))
    for line in lines.read(file, reading.made.skipped):
        reading.take(line)
    return reading.end()


class _Reading:
    """The lines of one session, taken one after the other."""

    def __init__(self, made: Transcript) -> None:
        self.made = made
        self._calls = dict[str, tuple[int, TranscriptCall]]()
        self._begun = dict[str, tuple[str, Any]]()
        self._prompts = dict[int, list[TranscriptPrompt]]()
        self._cwd = ""

    def take(self, line: Line) -> None:
        """Add a line."""
        kind, payload = lines.text(line, "type"), lines.fields(line, "payload")
        when = lines.seconds(line.get("timestamp"))
        self.made.saw(when)
        if kind == "session_meta":
            self._meta(payload)
        elif kind == "turn_context":
            self._cwd = lines.text(payload, "cwd") or self._cwd
        elif kind == "event_msg":
            self._event(payload, when)
        elif kind == "response_item":
            self._item(payload, when)
        else:
            self.made.skipped["no prompt or call"] += 1

    def _meta(self, payload: Line) -> None:
        made, git = self.made, lines.fields(payload, "git")
        made.session_id = lines.identifier(payload, "id", "session_id") or made.session_id
        made.cwd = self._cwd = lines.text(payload, "cwd")
        made.branch, made.commit = lines.text(git, "branch"), lines.text(git, "commit_hash")

    def _event(self, payload: Line, when: float) -> None:
        kind = lines.text(payload, "type")
        if kind == "item_completed":
            self._completed(lines.fields(payload, "item"), payload, when)
        elif kind == "user_message":
            self._prompt(lines.text(payload, "message"), when, "", _GOOD)
        elif kind == "exec_command_end":
            self._command(payload, lines.identifier(payload, "call_id"), when, _GOOD)
        elif kind == "patch_apply_end":
            self._patch(payload, lines.identifier(payload, "call_id"), when, _GOOD)
        elif kind == "mcp_tool_call_end":
            invoked = lines.fields(payload, "invocation")
            self._tool(payload, invoked, lines.identifier(payload, "call_id"), when, _GOOD)
        elif kind == "token_count":
            total = lines.fields(lines.fields(payload, "info"), "total_token_usage")
            if total:
                spared = lines.number(total.get("cached_input_tokens"))
                given = lines.number(total.get("input_tokens")) - spared
                self.made.input_tokens = max(self.made.input_tokens, given)
                spent = lines.number(total.get("output_tokens"))
                self.made.output_tokens = max(self.made.output_tokens, spent)

    def _completed(self, item: Line, payload: Line, when: float) -> None:
        kind, key = lines.text(item, "type"), lines.identifier(item, "id")
        if kind == "UserMessage":
            turn = lines.identifier(payload, "turn_id")
            self._prompt(lines.texts(item.get("content")), when, turn, _BEST)
        elif kind == "CommandExecution":
            self._command(item, key, when, _BEST)
        elif kind == "FileChange":
            self._patch(item, key, when, _BEST)
        elif kind == "McpToolCall":
            self._tool(item, item, key, when, _BEST)

    def _command(self, item: Line, key: str, when: float, rank: int) -> None:
        words = item.get("command")
        if isinstance(words, list):
            words = str(words[-1]) if words else ""
        code = item.get("exit_code")
        said = lines.text(item, "aggregated_output", "formatted_output", "stdout")
        failed = isinstance(code, int) and code != 0
        cwd = lines.text(item, "cwd").removeprefix("file://") or self._cwd
        output = {"output": said, "exit_code": code}
        self._add(
            key, rank, TranscriptCall("Bash", {"command": words}, output, when, key, failed, cwd)
        )

    def _patch(self, item: Line, key: str, when: float, rank: int) -> None:
        failed = item.get("status") == "failed" or item.get("success") is False
        output = lines.text(item, "stderr" if failed else "stdout")
        given = {"changes": lines.fields(item, "changes")}
        call = TranscriptCall("apply_patch", given, output, when, key, failed, self._cwd)
        self._add(key, rank, call)

    def _tool(self, item: Line, invoked: Line, key: str, when: float, rank: int) -> None:
        name = f"mcp__{lines.text(invoked, 'server')}__{lines.text(invoked, 'tool')}"
        result = item.get("result")
        failed = item.get("status") == "failed" or (isinstance(result, dict) and "Err" in result)
        call = TranscriptCall(name, invoked.get("arguments"), result, when, key, failed, self._cwd)
        self._add(key, rank, call)

    def _item(self, payload: Line, when: float) -> None:
        """Take a message or call as the model's interface has it."""
        kind, key = lines.text(payload, "type"), lines.identifier(payload, "call_id", "id")
        if kind == "message" and payload.get("role") == "user":
            self._prompt(lines.texts(payload.get("content")), when, "", _SOME)
        elif kind in ("function_call", "custom_tool_call", "local_shell_call") and key:
            given = payload.get("arguments") or payload.get("input") or payload.get("action")
            self._begun[key] = lines.text(payload, "name") or "shell", given
        elif kind in ("function_call_output", "custom_tool_call_output") and key in self._begun:
            self._answered(key, payload.get("output"), when)

    def _answered(self, key: str, output: object, when: float) -> None:
        name, given = self._begun.pop(key)
        parsed = lines.parsed(given) if isinstance(given, str) else given
        said = lines.texts(output) or lines.text(lines.fields({"x": output}, "x"), "content")
        code = _CODE.search(said[:4000])
        failed = bool(code) and int(next(filter(None, code.groups())) if code else 0) != 0
        if name in _SHELLS and isinstance(parsed, dict):
            words = parsed.get("command") or parsed.get("cmd")
            line = str(words[-1]) if isinstance(words, list) and words else words
            cwd = lines.text(parsed, "workdir") or self._cwd
            call = TranscriptCall("Bash", {"command": line}, said, when, key, failed, cwd)
        elif name == "apply_patch":
            patch = (
                given
                if isinstance(given, str)
                else lines.text(lines.fields({"x": parsed}, "x"), "input")
            )
            call = TranscriptCall(name, {"command": patch}, said, when, key, failed, self._cwd)
        elif name == "update_plan":
            call = TranscriptCall(name, parsed, said, when, key, failed, self._cwd)
        else:
            self.made.skipped["call of another tool"] += 1
            return
        self._add(key, _SOME, call)

    def _add(self, key: str, rank: int, call: TranscriptCall) -> None:
        name = key or f"{call.created_at} {len(self._calls)}"
        if name not in self._calls or self._calls[name][0] < rank:
            self._calls[name] = rank, call

    def _prompt(self, text: str, when: float, turn: str, rank: int) -> None:
        """Add a prompt that one kind of line tells; those of the best kind are taken."""
        said = text.strip()
        if not said or _INJECTED.match(said):
            return
        self._prompts.setdefault(rank, []).append(TranscriptPrompt(said, when, turn))

    def end(self) -> Transcript:
        """Return the session."""
        made = self.made
        made.skipped["call without a result"] += sum(key not in self._calls for key in self._begun)
        prompts = list[TranscriptPrompt]()
        for rank in sorted(self._prompts, reverse=True):
            known = Counter(prompt.text for prompt in prompts)
            for prompt in self._prompts[rank]:
                known[prompt.text] -= 1
                if known[prompt.text] < 0:
                    prompts.append(prompt)
        ranks = {rank for rank, _ in self._calls.values()}
        calls = [
            call
            for rank, call in self._calls.values()
            # in files with completed items, the model's calls are scripts that made these
            if rank > _SOME or not ranks & {_BEST} or call.tool_name == "update_plan"
        ]
        made.steps = sorted([*prompts, *calls], key=lambda step: step.created_at)
        return made
