"""The contract of a store of sessions."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from memory_bank.sessions.model import (
    Event,
    Observation,
    ObservationQuery,
    Prompt,
    Session,
    Summary,
)


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
