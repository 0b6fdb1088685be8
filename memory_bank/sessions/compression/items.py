"""The records between events and observations: what happened, with the events behind it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from memory_bank.sessions.compression.changes import FileChange
from memory_bank.sessions.compression.edits import Change, described, merged
from memory_bank.sessions.compression.tool_calls import ToolCall
from memory_bank.tokens import estimate

Sort = Literal["edit", "failure", "check", "run", "look", "agent", "plan"]


@dataclass(eq=False, slots=True)
class Item:
    """One thing that happened; it becomes an observation, or part of one."""

    sort: Sort
    prompt: int
    order: int
    """Its place in the batch."""
    when: datetime
    events: list[int] = field(default_factory=list)
    tokens: int = 0
    changes: dict[str, list[FileChange]] = field(default_factory=dict)
    """By path."""
    modified: list[str] = field(default_factory=list)
    reads: list[str] = field(default_factory=list)
    facts: list[str] = field(default_factory=list)
    title: str = ""
    narrative: str = ""
    command: str = ""
    runner: str = ""
    message: str = ""
    """What a failure says."""
    where: str = ""
    times: int = 1
    fixes: list[Item] = field(default_factory=list)
    """Edits that followed a failure."""
    resolved: list[Item] = field(default_factory=list)
    """Failures that an edit resolved."""
    commit: str = ""
    """The message of a commit that has the edits."""
    decision: str = ""
    """The sentence of a prompt that decides something."""
    words: list[Change] = field(default_factory=list)
    """Its changes in words, once all are known."""

    def take(self, call: ToolCall) -> None:
        """Add the event of a call."""
        self.events.append(call.event.id)
        self.tokens += estimate(call.event.tool_input) + estimate(call.event.tool_output)
        self.when = max(self.when, call.event.created_at)

    def absorb(self, other: Item) -> None:
        """Add all of another item."""
        self.events += other.events
        self.tokens += other.tokens
        self.when = max(self.when, other.when)
        for path, changes in other.changes.items():
            self.changes.setdefault(path, []).extend(changes)
        self.modified += other.modified
        self.reads += other.reads
        self.facts += other.facts
        self.resolved += other.resolved
        self.words += other.words
        self.narrative = self.narrative or other.narrative

    def describe(self) -> None:
        """Tell its changes in words."""
        self.words = [described(merged(path, found)) for path, found in self.changes.items()]
