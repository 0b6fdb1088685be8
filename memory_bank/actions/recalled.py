"""What `recall` answers."""

from __future__ import annotations

from typing import NamedTuple

from memory_bank.actions.as_of import AsOf
from memory_bank.actions.linked_notes import LinkShown
from memory_bank.notes.note import Entity
from memory_bank.search.hits import Reason

SCHEMA_VERSION = "1.0"


class Origin(NamedTuple):
    """Where a note is that is not in the bank that was asked."""

    bank: str
    """The bank's folder in its repository; of a bank of the user's own, its name."""
    repository: str = ""
    """Its name in the shared index, such as `github.com/owner/name`."""
    commit: str = ""
    committed_at: str = ""
    url: str = ""
    """The web address of the line; empty if there is none."""
    teams: tuple[str, ...] = ()
    age_days: int = 0
    """Days since the note was last changed."""


class Also(NamedTuple):
    """Another section of a note that matches."""

    line: int
    heading: str
    snippet: str
    relevance_score: float


class RecalledNote(NamedTuple):
    """A note in an answer, with its best section."""

    note_id: str
    path: str
    """Relative to the bank; of a note of the shared index, relative to its repository."""
    line: int
    """1-based line of the file where the matching passage starts."""
    title: str
    heading: str
    """The headings above the passage, outermost first, joined by ` > `."""
    content: str
    """The whole matching section."""
    snippet: str
    tags: tuple[str, ...]
    type: str
    status: str
    file_refs: tuple[str, ...]
    symbol_refs: tuple[str, ...]
    entity_refs: tuple[Entity, ...]
    source_type: str
    source_agent: str
    edited_by: tuple[str, ...]
    """Agents that are known to have changed it, without its author."""
    created_at: str
    access_count: int
    """Before this answer."""
    last_accessed_at: str
    """Before this answer; empty if it was never accessed."""
    relevance_score: float
    """The likelihood that it answers the query, 0 to 1."""
    reasons: tuple[Reason, ...]
    also: tuple[Also, ...]
    trust: str = ""
    """How far its section is to be trusted, by its commits; empty outside git."""
    stale: str = ""
    """Why the code that its section cites is no longer as it was; empty if it is."""
    weak: bool = False
    """Whether that likelihood is too low for an answer."""
    superseded_by: str | None = None
    links: tuple[LinkShown, ...] | None = None
    """Links to the note or ghost of `linked_to`, the most relevant first."""
    origin: Origin | None = None
    """Where it is, if it is not in the bank that was asked."""


class Recalled(NamedTuple):
    """An answer: notes by relevance, the mode used, and problems of the search."""

    schema_version: str
    query: str
    mode_used: str
    fallback_reason: str | None
    result_count: int
    notes: tuple[RecalledNote, ...]
    problem: str | None = None
    answered: bool = True
    """Whether a note may answer: False if none was found, or surely none of them does."""
    notices: tuple[str, ...] = ()
    """How words of time restricted the answer, and what may be mistyped in the query."""
    rev: AsOf | None = None
    """The revision as of which the notes are; None for now."""

    @property
    def apart(self) -> bool:
        """Whether weak notes are set apart: from others, or since none answers."""
        return not self.answered or any(not note.weak for note in self.notes)
