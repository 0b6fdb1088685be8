"""Make and look after a shared index, and say who may read and publish what."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from memory_bank.base.dates import iso_of
from memory_bank.base.errors import BadInput
from memory_bank.base.plugins import load
from memory_bank.base.settings import Settings
from memory_bank.shared.addresses import problem_of
from memory_bank.shared.engines.base import IndexInfo, RoleAccess, SharedEngine, open_engine


class BankShown(NamedTuple):
    """What is published of a bank."""

    repository: str
    bank: str
    commit: str
    committed_at: str
    published_at: str
    notes: int
    passages: int
    teams: tuple[str, ...]


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
    banks: tuple[BankShown, ...]
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


def make(settings: Settings, *, to: str = "") -> MadeIndex:
    """Make the tables of a shared index for the embedder of some settings.

    Raises BadInput, SharedUnavailable, EmbedderUnavailable.
    """
    embedder, dimension = _embedder(settings)
    with _opened(settings, to) as engine:
        before = engine.administration.stored()
        found: IndexInfo = engine.administration.make(embedder, dimension)
        return MadeIndex(engine.place, before is None, found.embedder, found.dimension)


def status(settings: Settings, *, to: str = "") -> SharedStatus:
    """Return what the asking role may see of the shared index."""
    with _opened(settings, to) as engine:
        info, heads = engine.info(), engine.heads()
        banks = tuple(
            BankShown(
                one.repo, one.bank, one.commit, iso_of(one.committed), iso_of(one.published),
                one.notes, one.passages, one.teams,
            )
            for one in heads
        )  # fmt: skip
        return SharedStatus(
            engine.place, info.id, info.version, info.embedder, info.dimension,
            sum(one.notes for one in heads), sum(one.passages for one in heads), banks,
            tuple(engine.administration.access()),
        )  # fmt: skip


def migrate(settings: Settings, *, to: str = "") -> Migrated:
    """Bring the tables up to date."""
    with _opened(settings, to) as engine:
        return Migrated(engine.place, *engine.administration.migrate())


def drop(settings: Settings, *, to: str = "") -> AccessChange:
    """Remove the tables and all that is published."""
    with _opened(settings, to) as engine:
        done = engine.administration.drop()
        return AccessChange(engine.place, done, int(done))


def grant(
    settings: Settings, role: str, *, repo: str = "", team: str = "", to: str = ""
) -> AccessChange:
    """Let a role read a repository, or those of a team."""
    _check_one(repo, team)
    with _opened(settings, to) as engine:
        done = engine.administration.grant(role, repo=repo, team=team)
        return AccessChange(engine.place, done, int(done))


def revoke(
    settings: Settings, role: str, *, repo: str = "", team: str = "", to: str = ""
) -> AccessChange:
    """Take from a role what it may do with a repository, or a team; without both, everything."""
    if repo and team:
        _check_one(repo, team)
    with _opened(settings, to) as engine:
        count = engine.administration.revoke(role, repo=repo, team=team)
        return AccessChange(engine.place, count > 0, count)


def allow_publishing(settings: Settings, role: str, repo: str, *, to: str = "") -> AccessChange:
    """Let a role publish a repository."""
    _check_one(repo, "")
    with _opened(settings, to) as engine:
        done = engine.administration.allow_publishing(role, repo)
        return AccessChange(engine.place, done, int(done))


def assign_team(
    settings: Settings, repo: str, team: str, *, remove: bool = False, to: str = ""
) -> AccessChange:
    """Put a repository into a team, or out of it."""
    _check_one(repo, "")
    if not team.strip():
        raise BadInput("the name of the team is empty", "name a team")
    with _opened(settings, to) as engine:
        done = engine.administration.assign(repo, team, remove=remove)
        return AccessChange(engine.place, done, int(done))


@contextmanager
def _opened(settings: Settings, to: str) -> Iterator[SharedEngine]:
    with open_engine(to or settings.shared.url) as engine:
        yield engine


def _embedder(settings: Settings) -> tuple[str, int]:
    from memory_bank.search.embedders.base import identity
    from memory_bank.shared.export import NONE

    module = load("search.embedders", settings.memory.embedder)
    embedder = module.load(settings)
    return (NONE, 0) if embedder is None else (identity(embedder), embedder.dimension)


def _check_one(repo: str, team: str) -> None:
    if bool(repo) == bool(team):
        raise BadInput("give either a repository or a team", "one of them, not both")
    if repo and (problem := problem_of(repo)):
        raise BadInput(f"{repo!r} can't name a repository: it {problem}", "write host/owner/name")
