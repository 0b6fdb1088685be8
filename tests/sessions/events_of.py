"""Make events as clients report them, one minute apart."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

from memory_bank.base.setting_sections import CompressionSettings
from memory_bank.sessions.compression.modes import compress
from memory_bank.sessions.queue_rows import MESSAGE
from memory_bank.sessions.records import Event, Observation, Prompt

BEGUN = datetime(2026, 11, 22, 10, tzinfo=UTC)
ROOT = Path("/repo")


class Work:
    """A session of Claude Code in `/repo`."""

    def __init__(self, *prompts: str) -> None:
        self.events: list[Event] = []
        self.prompts = [Prompt("s", n, text, BEGUN) for n, text in enumerate(prompts, 1)]
        self.prompt = 1

    def call(self, tool: str, given: object, output: object = "", *, failed: bool = False) -> Work:
        """Add a call of a tool; input and output as the client has them."""
        texts = [one if isinstance(one, str) else json.dumps(one) for one in (given, output)]
        number = len(self.events) + 1
        when = BEGUN + timedelta(minutes=number)
        event = Event(number, "s", tool, *texts, self.prompt, when, failed, str(ROOT))
        self.events.append(event)
        return self

    def edit(self, path: str, old: str, new: str) -> Work:
        """Add the edit of a file."""
        given = {"file_path": f"{ROOT}/{path}", "old_string": old, "new_string": new}
        return self.call("Edit", given, {"filePath": f"{ROOT}/{path}"})

    def write(self, path: str, text: str) -> Work:
        """Add a new file."""
        given = {"file_path": f"{ROOT}/{path}", "content": text}
        return self.call("Write", given, {"type": "create", "filePath": f"{ROOT}/{path}"})

    def run(self, command: str, output: str = "", code: int = 0) -> Work:
        """Add a command with its output."""
        if code:
            return self.call(
                "Bash", {"command": command}, f"Exit code {code}\n{output}", failed=True
            )
        told = {"stdout": output, "stderr": "", "interrupted": False}
        return self.call("Bash", {"command": command}, told)

    def read(self, path: str, text: str = "") -> Work:
        """Add the reading of a file."""
        file = {"filePath": f"{ROOT}/{path}", "content": text}
        return self.call("Read", {"file_path": f"{ROOT}/{path}"}, {"type": "text", "file": file})

    def say(self, text: str) -> Work:
        """Add the last text of the turn."""
        return self.call(MESSAGE, "", text)

    def then(self) -> Work:
        """Go on with the next prompt."""
        self.prompt += 1
        return self

    def drafts(self) -> list[Observation]:
        """Return the observations that rules make of it."""
        made, fallback = compress(
            self.events, prompts=self.prompts, settings=CompressionSettings(), project_root=ROOT
        )
        assert not fallback
        return list(made)

    def draft(self) -> Observation:
        """Return the only observation."""
        (found,) = self.drafts()
        return found
