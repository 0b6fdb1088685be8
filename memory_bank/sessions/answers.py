"""The records of the answers of verbs about sessions, which views and front ends show."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from memory_bank.base import NamedTuple
from memory_bank.sessions.records import GitState, Prompt, Session, Summary

SCHEMA_VERSION = "1.0"

Type = Literal["observation", "session", "note", "section"]

TYPES: tuple[Type, ...] = ("observation", "session", "note", "section")


@dataclass(frozen=True, slots=True)
class IndexRow:
    """One line about an observation, a session, a note, or a section of a note."""

    id: str
    """Of an observation its block id, of a session the id of its note, of a note its path without
    `.md`, or its id if the path is long, of a section these with `#` and its heading."""
    type: Type
    obs_type: str | None
    """Of an observation: decision, bugfix, feature, refactor, discovery or change."""
    title: str
    project: str
    created_at: str
    estimated_tokens: int
    """Of what `get_observations` returns for it."""

    @property
    def nullable(self) -> frozenset[str]:
        """The fields that answers have as null instead of leaving them out."""
        return frozenset(["obs_type"])


HINT = "Use timeline(anchor=ID) for context, get_observations(ids=[...]) for details"


@dataclass(frozen=True, slots=True)
class ObservationRows:
    """Rows of observations, sessions and notes, and what to do with their ids."""

    schema_version: str
    count: int
    results: tuple[IndexRow, ...]
    hint: str = HINT
    problem: str | None = None
    notices: tuple[str, ...] = ()
    """What may be mistyped in the filters."""

    @property
    def quoted(self) -> frozenset[str]:
        """The fields that need no quotes: the hint is our own text."""
        return frozenset(["hint"])


class Workflow(NamedTuple):
    """How the tools of this toolset are used together."""

    steps: str


class Timeline(NamedTuple):
    """What came before and after an observation, the nearest first."""

    schema_version: str
    anchor_id: str
    before: tuple[IndexRow, ...]
    anchor: IndexRow
    after: tuple[IndexRow, ...]
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Details(IndexRow):
    """All that is known of an observation, a session, a note or a section of one.

    Fields that its type doesn't have are None.
    """

    path: str
    """Of its note."""
    session_id: str | None = None
    subtitle: str | None = None
    facts: tuple[str, ...] | None = None
    narrative: str | None = None
    concepts: tuple[str, ...] | None = None
    files_read: tuple[str, ...] | None = None
    files_modified: tuple[str, ...] | None = None
    prompt_number: int | None = None
    discovery_tokens: int | None = None
    git: GitState | None = None
    """Null outside git."""
    ended_at: str | None = None
    """Of a session, as are the next ones."""
    summary: Summary | None = None
    prompts: tuple[Prompt, ...] | None = None
    observations: tuple[IndexRow, ...] | None = None
    content: str | None = None
    """The text of a note or a section, Markdown."""

    @property
    def nullable(self) -> frozenset[str]:
        """The fields that answers have as null instead of leaving them out."""
        return frozenset(["obs_type"] if self.session_id is None else ["obs_type", "git"])


@dataclass(frozen=True, slots=True)
class Observations:
    """What some ids name, and the ids that name nothing."""

    schema_version: str
    count: int
    observations: tuple[Details, ...]
    missing: tuple[str, ...] = ()
    problem: str | None = None


class Injected(NamedTuple):
    """What an agent is told when its session starts."""

    schema_version: str
    context: str
    project: str
    observation_count: int
    """Number of observations that were found; the text may have fewer."""
    tokens: int
    """Estimated tokens of the context."""
    empty: bool
    """Whether nothing is recorded that it could tell."""

    @property
    def quoted(self) -> frozenset[str]:
        """The fields whose text quotes what comes from notes."""
        return frozenset(["context"])


State = Literal["open", "silent", "ended", "unfinished", "damaged"]
"""It goes on; it has no end, but nothing happened in it for hours, as after a kill; it ended; it
ended, but got no summary; its note can't be read."""


class SessionEntry(NamedTuple):
    """A session in the timeline."""

    session_id: str
    title: str
    project: str
    agent: str
    started_at: str
    ended_at: str | None
    """None if no end is known."""
    state: State
    prompts: int
    observations: int
    pending: int
    """Events that wait to be compressed."""
    redactions: int
    read_tokens: int
    """Estimated, to read the observations."""
    work_tokens: int
    """Estimated, of the events that they were made of."""
    path: str
    """Its note; empty before that is written."""
    private: bool
    """Whether its note is only on this machine."""

    @property
    def saved_tokens(self) -> int:
        """The work without the reading, as far as that is a saving."""
        return max(0, self.work_tokens - self.read_tokens)


@dataclass(frozen=True, slots=True)
class SessionRows:
    """Sessions, the newest first."""

    schema_version: str
    count: int
    total: int
    """Number of sessions that meet the conditions."""
    sessions: tuple[SessionEntry, ...]


class SessionShown(NamedTuple):
    """A session with all that belongs to it."""

    schema_version: str
    title: str
    pending: int
    """Events that wait to be compressed."""
    session: Session
    notes: tuple[str, ...] = ()
    """Paths of the notes that an agent wrote in it."""


class SessionStep(NamedTuple):
    """What was written of a session: its start, a prompt, an event or observation, or its end.

    A subscription says the same of what any process wrote.
    """

    schema_version: str = ""
    session_id: str = ""
    prompt_number: int | None = None
    """That of the last prompt; 0 before the first, None at the session's end."""
    project: str = ""
    """At its start, as the next two."""
    state: str = ""
    """`new`, `active` (it had been started before) or `resumed` (it had ended)."""
    started_at: str = ""
    pending_id: int | None = None
    """Id of the event, which is compressed later."""
    observation_id: str | None = None
    """Id of the observation, if the agent worded it."""
    summary_id: str | None = None
    """At its end; None if nothing happened in it."""
    event: str = ""
    """Of a notification `SessionStarted`, `ObservationStored` or `SessionEnded`."""
    created_at: str = ""
    """When that was."""

    @property
    def nullable(self) -> frozenset[str]:
        """The fields that are shown as null."""
        return frozenset(["summary_id"] if self.prompt_number is None and not self.event else ())

    @property
    def sparse(self) -> frozenset[str]:
        """The fields that JSON omits when they are empty."""
        return frozenset(
            ["schema_version", "project", "state", "started_at", "event", "created_at"]
        )


@dataclass(slots=True)
class Compression:
    """What compression did."""

    schema_version: str = SCHEMA_VERSION
    observations: list[str] = field(default_factory=list)
    """Ids of the new ones."""
    events: int = 0
    """Number of events that they were made of."""
    busy: bool = False
    """Whether another process was at it, so that nothing was done."""
    fallback_reasons: list[str] = field(default_factory=list)
    """Why events were compressed by rules instead of the mode that is set."""
    problems: list[str] = field(default_factory=list)
    """Why events of some sessions wait on."""


class Recovered(NamedTuple):
    """The former ids whose sessions are the bank's now."""

    schema_version: str
    ids: tuple[str, ...]
    notes: int
    """Number of notes that were moved."""
    kept: tuple[str, ...]
    """Files that stay in the former state, since the bank has others of these paths."""
