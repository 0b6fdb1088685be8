"""The records of sessions, and the contract of a store of them."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Literal, Protocol

from memory_bank.base import NamedTuple, lazy_pattern
from memory_bank.base.errors import BadInput

if TYPE_CHECKING:
    from memory_bank.search.manifest.entries import EntryConditions

TITLE_LIMIT = 100
"""Maximum number of characters of an observation's title, exclusive."""

OBSERVATION_ID = lazy_pattern(r"obs-[0-9a-z]{6,32}\Z")

SUMMARY_PREFIX = "sum-"

SUMMARY_TEXTS = ("request", "investigated", "learned", "completed", "next_steps", "notes")
"""The fields of a summary that are texts."""

ObservationType = Literal["decision", "bugfix", "feature", "refactor", "discovery", "change"]
"""One of `OBSERVATION_TYPES`."""


class GitState(NamedTuple):
    """The commit that was checked out; outside git there is none."""

    repository_id: str
    """The repository's first commit, which all clones and work trees share."""
    branch: str
    """Empty if no branch is checked out."""
    commit: str


def format_git(git: GitState | None) -> str:
    """Return a git state as the queue keeps it."""
    return json.dumps([git.repository_id, git.branch, git.commit]) if git else ""


def parse_git(text: str) -> GitState | None:
    """Return the git state of a text as the queue keeps it."""
    return GitState(*json.loads(text)) if text else None


class Prompt(NamedTuple):
    """What a user asked for in a session."""

    session_id: str
    prompt_number: int
    """From 1."""
    prompt_text: str
    created_at: datetime


class Event(NamedTuple):
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
    """That of the last prompt; before it is stored, 0 for that of the session's last one."""
    created_at: datetime
    failed: bool = False
    """Whether the client reported a failure."""
    cwd: str = ""
    key: str = ""
    """A second event of the session with the same key is not stored, unless the key is empty."""


class Observation(NamedTuple):
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


class Summary(NamedTuple):
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

    @property
    def nullable(self) -> frozenset[str]:
        """The fields that answers have as null instead of leaving them out."""
        return frozenset(["git"])


class Session(NamedTuple):
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


Order = Literal["relevance", "date_desc", "date_asc"]


class ObservationQuery(NamedTuple):
    """What is asked of sessions and notes, and how many rows of the answer in which order."""

    conditions: EntryConditions
    query: str = ""
    type: str | None = None
    """One of `answers.TYPES`; None for all."""
    limit: int = 20
    offset: int = 0
    order_by: Order = "relevance"
    """Without words, `relevance` means the newest first."""


def check_observation_id(argument: object) -> str:
    """Return the id of an observation; raise BadInput for a number or anything else."""
    text = str(argument).strip().removeprefix("#").removeprefix("^")
    if OBSERVATION_ID.match(text):
        return text
    short = str(argument)[:60]
    raise BadInput(
        f"{short!r} is not the id of an observation",
        "ids are texts like obs-3f2a9c1b7d04; search returns them",
    )


def check_type(obs_type: str) -> str:
    """Return the type of an observation in lower case; raise BadInput for an unknown one."""
    from memory_bank.base.setting_sections import OBSERVATION_TYPES  # start-up: of hooks

    folded = obs_type.strip().casefold()
    if folded not in OBSERVATION_TYPES:
        raise BadInput(
            f"{obs_type[:60]!r} is not a type of observation",
            f"choose one of: {', '.join(OBSERVATION_TYPES)}",
        )
    return folded


PROMOTED_TO = "promoted_to"
"""The field of an observation with the link to the note that was made of it."""


class SessionStore(Protocol):
    """Sessions with their prompts, events, observations and summaries.

    All methods raise StorageFailed if something can't be read or written.
    """

    @property
    def name(self) -> str:
        """Its name, such as `notes`."""

    def create_session(self, session: Session) -> bool:
        """Store a new session; False if there is one of that id, which stays as it is."""

    def get_session(self, session_id: str) -> Session | None:
        """Return a session with all that belongs to it; None if there is none."""

    def update_session(self, session: Session) -> None:
        """Store the end, tokens, redactions and git state of a session that exists.

        Raises BadInput for an unknown session.
        """

    def store_prompt(self, prompt: Prompt) -> int:
        """Store a prompt and return its number, the next one if it has number 0."""

    def get_prompts(self, session_id: str) -> list[Prompt]:
        """Return the prompts of a session, by number."""

    def queue_pending(self, event: Event, key: str = "") -> int:
        """Keep an event until it is compressed, durably, and return its id.

        A second event of a session with the same `key` is not stored; the id is that of the first.
        """

    def get_pending(self, session_id: str = "", limit: int | None = None) -> list[Event]:
        """Return the events of a session, or of all, that are not compressed yet, oldest first."""

    def remove_pending(self, ids: Collection[int]) -> None:
        """Remove events whose observations are stored."""

    def store_observation(self, observation: Observation) -> str:
        """Store an observation in its session, unless one of its id is there; return its id."""

    def get_observation(self, observation_id: str) -> Observation | None:
        """Return an observation; None if there is none."""

    def get_observations(self, ids: Sequence[str]) -> list[Observation]:
        """Return those of some observations that exist, in the order of their ids."""

    def search_observations(self, query: ObservationQuery) -> list[Observation]:
        """Return the observations that meet all conditions, as ordered by the query.

        With words, those that have none of them may follow if they fit by meaning. Without words,
        `relevance` means the newest first.
        """

    def store_summary(self, summary: Summary) -> str:
        """Store the summary of a session in place of a former one; return its id."""

    def get_summary(self, session_id: str) -> Summary | None:
        """Return the summary of a session; None if there is none."""
