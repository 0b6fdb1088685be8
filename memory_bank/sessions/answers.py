"""The records of the answers of verbs about sessions, which views and front ends show."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Literal

from memory_bank.base import NamedTuple, in_json, shorten, with_schema_version
from memory_bank.base.dates import format_iso, seconds_to_iso
from memory_bank.base.documents import Document, Section
from memory_bank.search.manifest.entries import SessionCounts, read_session_id
from memory_bank.sessions.note_text import one_line
from memory_bank.sessions.queue_rows import Outline
from memory_bank.sessions.records import TITLE_LIMIT, Observation, Session

Type = Literal["observation", "session", "note", "section"]

TYPES: tuple[Type, ...] = ("observation", "session", "note", "section")


@in_json("id", "type", "obs_type", "title", "project", "created_at", "estimated_tokens")
class IndexRow(NamedTuple):
    """One line about an observation, a session, a note, or a section of a note."""

    id: str
    """Of an observation its block id, of a session the id of its note, of a note its path without
    `.md`, or its id if the path is long, of a section these with `#` and its heading."""
    document: Document
    """Of the note."""
    section: Section | None
    """That of the observation, or the section; None for a whole note."""
    obs_type: str | None
    """Of an observation: decision, bugfix, feature, refactor, discovery or change."""
    project: str
    estimated_tokens: int
    """Of what `get_observations` returns for it."""

    @property
    def type(self) -> Type:
        """What it is a row of."""
        if self.section is not None:
            return "section" if self.obs_type is None else "observation"
        return "session" if read_session_id(self.document) else "note"

    @property
    def title(self) -> str:
        """The heading of the section, else the title of the note."""
        headings = self.section.headings if self.section else ()
        return headings[-1] if headings else self.document.title

    @property
    def path(self) -> str:
        """The path of the note."""
        return self.document.key

    @property
    def created_at(self) -> str:
        """The time of an observation, else that of the note."""
        observed = self.section.created if self.section and self.obs_type else 0.0
        return seconds_to_iso(observed or self.document.created)

    @property
    def nullable(self) -> frozenset[str]:
        """The fields that answers have as null instead of leaving them out."""
        return frozenset(["obs_type"])


HINT = "Use timeline(anchor=ID) for context, get_observations(ids=[...]) for details"


@with_schema_version("1.0")
@dataclass(frozen=True, slots=True)
class ObservationRows:
    """Rows of observations, sessions and notes, and what to do with their ids."""

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


@with_schema_version("1.0")
class Timeline(NamedTuple):
    """What came before and after an observation, the nearest first."""

    anchor_id: str
    before: tuple[IndexRow, ...]
    anchor: IndexRow
    after: tuple[IndexRow, ...]
    problem: str | None = None


@in_json(
    "row.id", "row.type", "row.obs_type", "row.title", "row.project", "row.created_at",
    "row.estimated_tokens", "row.path", "stored.session_id", "stored.subtitle", "stored.facts",
    "stored.narrative", "stored.concepts", "stored.files_read", "stored.files_modified",
    "stored.prompt_number", "stored.discovery_tokens", "stored.git", "stored.ended_at",
    "stored.summary", "stored.prompts", "observations", "content",
)  # fmt: skip
class Details(NamedTuple):
    """All that is known of an observation, a session, a note or a section of one."""

    row: IndexRow
    stored: Observation | Session | None = None
    """What its note says; None of another note or section."""
    observations: tuple[IndexRow, ...] | None = None
    """Of a session."""
    content: str | None = None
    """The text of a note or a section, Markdown."""

    @property
    def nullable(self) -> frozenset[str]:
        """The fields that answers have as null instead of leaving them out."""
        return frozenset(["obs_type"] if self.stored is None else ["obs_type", "git"])


@with_schema_version("1.0")
@dataclass(frozen=True, slots=True)
class Observations:
    """What some ids name, and the ids that name nothing."""

    count: int
    observations: tuple[Details, ...]
    missing: tuple[str, ...] = ()
    problem: str | None = None


@with_schema_version("1.0")
class Injected(NamedTuple):
    """What an agent is told when its session starts."""

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

IDLE = timedelta(hours=6)
"""Time without an event after which a session is no longer taken to go on: longer than a command
runs or a person reads. Its program was killed, or is open unused; its next event resumes it."""


@in_json(
    "session_id", "title", "session.project", "session.agent", "started_at", "ended_at", "state",
    "counts.prompts", "counts.observations", "pending", "session.redactions", "counts.read_tokens",
    "counts.work_tokens", "path", "private",
)  # fmt: skip
class SessionEntry(NamedTuple):
    """A session as the queue and the index know it, without its texts."""

    session: Session
    outline: Outline | None
    document: Document | None
    """Of its note."""
    counts: SessionCounts = SessionCounts()
    damaged: bool = False
    """Whether its note can't be read."""
    private: bool = False
    """Whether its note is only on this machine."""

    @property
    def session_id(self) -> str:
        """Its id."""
        return self.session.session_id

    @property
    def path(self) -> str:
        """Its note; empty before that is written."""
        return self.session.path

    @property
    def empty(self) -> bool:
        """Whether it ended before anything happened."""
        outline = self.outline if self.document is None else None
        if outline is None or not outline.session.ended_at:
            return False
        return not (outline.prompts or outline.pending or outline.summary or outline.session.path)

    @property
    def title(self) -> str:
        """That of its note, else its first prompt."""
        if self.document:
            text = self.document.title
        else:
            text = one_line((self.outline and self.outline.first_prompt) or "")
        return shorten(text, TITLE_LIMIT - 1) or "Session"

    @property
    def started_at(self) -> str:
        """Its start, to the second."""
        return format_iso(self.session.started_at)

    @property
    def ended_at(self) -> str | None:
        """Its end, to the second; None if none is known."""
        return format_iso(self.session.ended_at) if self.session.ended_at else None

    @property
    def pending(self) -> int:
        """Events that wait to be compressed."""
        return self.outline.pending if self.outline else 0

    @property
    def state(self) -> State:
        """How it went, or that it goes on."""
        if self.damaged:
            return "damaged"
        if self.session.ended_at is not None:
            summary = self.counts.summary or bool(self.outline and self.outline.summary)
            happened = self.counts.observations or self.counts.prompts
            return "ended" if summary or not happened else "unfinished"
        last = max(
            self.outline.last_moment if self.outline else 0.0,
            self.counts.last,
            self.document.created if self.document else 0.0,
        )
        return "open" if time.time() - last < IDLE.total_seconds() else "silent"


@with_schema_version("1.0")
@dataclass(frozen=True, slots=True)
class SessionRows:
    """Sessions, the newest first."""

    count: int
    total: int
    """Number of sessions that meet the conditions."""
    sessions: tuple[SessionEntry, ...]


@with_schema_version("1.0")
class SessionShown(NamedTuple):
    """A session with all that belongs to it."""

    title: str
    pending: int
    """Events that wait to be compressed."""
    session: Session
    notes: tuple[str, ...] = ()
    """Paths of the notes that an agent wrote in it."""


@in_json(
    "schema_version", "session_id", "prompt_number", "project", "state", "started_at",
    "pending_id", "observation_id", "summary_id", "event", "created_at",
)  # fmt: skip
class SessionStep(NamedTuple):
    """What was written of a session: its start, a prompt, an event or observation, or its end.

    A subscription says the same of what any process wrote.
    """

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
    def schema_version(self) -> str:
        """Empty in a notification."""
        return "" if self.event else "1.0"

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


@with_schema_version("1.0")
@dataclass(slots=True)
class Compression:
    """What compression did."""

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


@with_schema_version("1.0")
class Recovered(NamedTuple):
    """The former ids whose sessions are the bank's now."""

    ids: tuple[str, ...]
    notes: int
    """Number of notes that were moved."""
    kept: tuple[str, ...]
    """Files that stay in the former state, since the bank has others of these paths."""
