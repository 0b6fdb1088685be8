"""The records of sessions, which pass between the modules of this package and the actions."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from memory_bank.errors import BadInput
from memory_bank.setting_sections import OBSERVATION_TYPES

TITLE_LIMIT = 100
"""Maximum number of characters of an observation's title, exclusive."""
OBSERVATION_ID = re.compile(r"obs-[0-9a-z]{6,32}\Z")
SUMMARY_PREFIX = "sum-"

Order = Literal["relevance", "date_desc", "date_asc"]


@dataclass(frozen=True, slots=True)
class GitState:
    """The commit that was checked out; outside git there is none."""

    repository_id: str
    """The repository's first commit, which all clones and work trees share."""
    branch: str
    """Empty if no branch is checked out."""
    commit: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a user asked for in a session."""

    session_id: str
    prompt_number: int
    """From 1."""
    prompt_text: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Event:
    """The use of a tool, which waits to be compressed into an observation.

    Its texts have no secrets and no private spans any more.
    """

    id: int
    """Given by the queue; 0 before."""
    session_id: str
    tool_name: str
    """As the client names it."""
    tool_input: str
    """JSON."""
    tool_output: str
    """Text or JSON."""
    prompt_number: int
    """That of the last prompt; 0 before the first."""
    created_at: datetime
    failed: bool = False
    """Whether the client reported a failure."""
    cwd: str = ""


@dataclass(frozen=True, slots=True)
class Observation:
    """What a session taught or changed in one step."""

    id: str
    """`obs-` and hex digits: the block id in the session's note."""
    session_id: str
    project: str
    obs_type: str
    """One of `OBSERVATION_TYPES`."""
    title: str
    created_at: datetime
    subtitle: str = ""
    facts: tuple[str, ...] = ()
    narrative: str = ""
    concepts: tuple[str, ...] = ()
    files_read: tuple[str, ...] = ()
    """Paths below the project."""
    files_modified: tuple[str, ...] = ()
    prompt_number: int = 0
    discovery_tokens: int = 0
    """Estimated tokens of the events it was made of."""
    git: GitState | None = None


@dataclass(frozen=True, slots=True)
class Summary:
    """What a session was about; at most one for each session."""

    id: str
    """`sum-` and hex digits: the block id in the session's note."""
    session_id: str
    project: str
    created_at: datetime
    request: str = ""
    investigated: str = ""
    learned: str = ""
    completed: str = ""
    next_steps: str = ""
    notes: str = ""
    files_read: tuple[str, ...] = ()
    files_edited: tuple[str, ...] = ()
    discovery_tokens: int = 0
    git: GitState | None = None
    """As it was at the session's end."""


@dataclass(frozen=True, slots=True)
class Session:
    """One agent's working period."""

    session_id: str
    """As the agent's program gives it."""
    project: str
    started_at: datetime
    agent: str = ""
    """The agent's program, such as `claude-code`."""
    ended_at: datetime | None = None
    last_prompt_number: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    redactions: int = 0
    """Private spans and secrets that were replaced before anything was stored."""
    git: GitState | None = None
    """As it was at the session's start."""
    prompts: tuple[Prompt, ...] = ()
    observations: tuple[Observation, ...] = ()
    summary: Summary | None = None
    path: str = ""
    """The path of its note; empty before that is written."""


@dataclass(frozen=True, slots=True)
class ObservationQuery:
    """Conditions that observations must meet all."""

    query: str = ""
    project: str = ""
    obs_types: tuple[str, ...] = ()
    """One of them."""
    concepts: tuple[str, ...] = ()
    """All of them."""
    files: tuple[str, ...] = ()
    """One of them, read or modified."""
    session_id: str = ""
    since: datetime | None = None
    before: datetime | None = None
    limit: int = 20
    offset: int = 0
    order_by: Order = "relevance"


def check_observation_id(given: object) -> str:
    """Return the id of an observation; raise BadInput for a number or anything else."""
    text = str(given).strip().removeprefix("#").removeprefix("^")
    if OBSERVATION_ID.match(text):
        return text
    shown = str(given)[:60]
    raise BadInput(
        f"{shown!r} is not the id of an observation",
        "ids are texts like obs-3f2a9c1b7d04; search returns them",
    )


def check_type(obs_type: str) -> str:
    """Return the type of an observation in lower case; raise BadInput for an unknown one."""
    found = obs_type.strip().casefold()
    if found not in OBSERVATION_TYPES:
        raise BadInput(
            f"{obs_type[:60]!r} is not a type of observation",
            f"choose one of: {', '.join(OBSERVATION_TYPES)}",
        )
    return found
