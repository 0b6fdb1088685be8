"""The contract of a reader of transcripts, and what it returns.

A reader is a module of this package, named like its program with `_` for `-`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class TranscriptPrompt:
    """What a person asked."""

    text: str
    created_at: float
    """Seconds since 1970; 0 if unknown."""
    key: str = ""
    """The key that a hook gives the same prompt; empty if it gives none."""


@dataclass(frozen=True, slots=True)
class TranscriptCall:
    """The use of a tool, with its result."""

    tool_name: str
    tool_input: Any
    """What JSON can hold, as a hook of the program would get it."""
    tool_output: Any
    created_at: float
    key: str = ""
    """The key that a hook gives the same call."""
    failed: bool = False
    cwd: str = ""


Step = TranscriptPrompt | TranscriptCall


@dataclass(slots=True)
class Transcript:
    """One session as a program recorded it."""

    file: Path
    session_id: str = ""
    cwd: str = ""
    """The folder in which the program was started."""
    steps: list[Step] = field(default_factory=list)
    """In the order in which they happened."""
    input_tokens: int = 0
    output_tokens: int = 0
    branch: str = ""
    commit: str = ""
    started_at: float = 0.0
    ended_at: float = 0.0
    skipped: Counter[str] = field(default_factory=Counter)
    """How many lines were not understood, by the reason."""

    def saw(self, when: float) -> None:
        """Widen the time of the session to a line's time."""
        if when:
            self.started_at = min(self.started_at or when, when)
            self.ended_at = max(self.ended_at, when)


class Reader(Protocol):
    """What a reader's module has."""

    NAME: str
    """The program, as sessions name their agent."""

    def files(self, environment: Mapping[str, str]) -> Iterator[Path]:
        """Yield the transcripts on this machine, in a stable order."""

    def folder(self, file: Path) -> str:
        """Return the folder in which the session began, read fast; empty if it isn't said."""

    def read(self, file: Path) -> Transcript:
        """Return the session of a file. Raises OSError."""
