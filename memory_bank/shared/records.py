"""What the verbs of the shared index answer."""

from __future__ import annotations

from typing import NamedTuple

from memory_bank.shared.engines.base import Head, RoleAccess
from memory_bank.shared.export import UnpublishedNote

PUBLISHED, UNCHANGED, PLANNED, DROPPED, ABSENT = (
    "published", "unchanged", "planned", "dropped", "absent",
)  # fmt: skip
"""What became of a publication; `planned` by a dry run, `absent` if nothing was there to drop."""


class SharedStatus(NamedTuple):
    """A shared index, as far as the asking role may see it."""

    place: str
    """Without user and password."""
    id: str
    version: int
    embedder: str
    dimension: int
    notes: int
    passages: int
    banks: tuple[Head, ...]
    access: tuple[RoleAccess, ...]
    """Who may do what; for its operator only."""


class MadeIndex(NamedTuple):
    """A shared index that was made, or was there."""

    place: str
    created: bool
    embedder: str
    dimension: int


class Migrated(NamedTuple):
    """The versions of the tables."""

    place: str
    before: int
    after: int


class AccessChange(NamedTuple):
    """A change of who may do what."""

    place: str
    changed: bool
    permissions: int
    """Number of permissions or assignments that changed."""


class Published(NamedTuple):
    """What was published of a bank."""

    state: str
    repository: str
    bank: str
    """Its folder in the repository."""
    commit: str
    replaced: str
    """The commit that was published before; empty if none was."""
    notes: int
    passages: int
    changed_notes: tuple[str, ...]
    removed_notes: tuple[str, ...]
    sent_passages: int
    removed_passages: int
    refused: tuple[UnpublishedNote, ...]
    """Notes that have a secret: they are not in the shared index."""
    left_out_sessions: int
    seconds: float
