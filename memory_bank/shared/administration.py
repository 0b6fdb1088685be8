"""Make and look after a shared index, and say who may read and publish what."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from memory_bank.base.errors import BadInput
from memory_bank.base.operation import Param, operation, topic
from memory_bank.base.plugins import load
from memory_bank.base.rendering import count
from memory_bank.base.screen import FOUND, Call
from memory_bank.base.settings import Settings
from memory_bank.shared import shown
from memory_bank.shared.addresses import problem_of
from memory_bank.shared.engines.base import Administration, IndexInfo, SharedEngine, open_engine
from memory_bank.shared.shown import AccessChange, MadeIndex, Migrated, SharedStatus

_To = Annotated[str, Param("The shared index [env: MEMORY_BANK_SHARED_URL]", metavar="URL")]


_Repo = Annotated[str, Param("A repository: host/owner/name", metavar="NAME")]


_Team = Annotated[str, Param("All repositories of a team", metavar="TEAM")]


@operation(
    "shared init",
    why="""
    Makes the tables in a PostgreSQL database with the extension vector, and fixes the embedder of
    the index: that of this bank, or outside a bank that of your settings. All that publish must
    have the same. The role that runs it is the operator: it owns the tables. If they are there,
    nothing changes.
    """,
    examples=(("memory-bank shared init --to postgresql://operator@db/notes", "once"),),
    show=shown.made,
)
def make(settings: Settings, *, to: _To = "") -> MadeIndex:
    """Make the tables of a shared index.

    Raises BadInput, SharedUnavailable, EmbedderUnavailable.
    """
    embedder, dimension = _embedder(settings)
    with _opened(settings, to) as engine:
        before = engine.administration.stored()
        index_info: IndexInfo = engine.administration.make(embedder, dimension)
        return MadeIndex(engine.place, before is None, index_info.embedder, index_info.dimension)


@operation(
    "shared status",
    why="""
    Lists the banks that your role may read, with the commit that is published of each. The operator
    also sees who may read and publish what.
    """,
    examples=(("memory-bank shared status", "what is published"),),
    show=shown.status,
)
def status(settings: Settings, *, to: _To = "") -> SharedStatus:
    """List what is published, and who may do what."""
    with _opened(settings, to) as engine:
        info, heads = engine.info(), engine.heads()
        return SharedStatus(
            engine.place, info.id, info.version, info.embedder, info.dimension,
            sum(head.notes for head in heads), sum(head.passages for head in heads), tuple(heads),
            tuple(engine.administration.access()),
        )  # fmt: skip


@operation(
    "shared migrate",
    why="Brings the tables up to date after an update of this program. The operator runs it.",
    examples=(("memory-bank shared migrate", "after an update"),),
    show=shown.migrated,
)
def migrate(settings: Settings, *, to: _To = "") -> Migrated:
    """Bring the tables up to date."""
    with _opened(settings, to) as engine:
        return Migrated(engine.place, *engine.administration.migrate())


def _agreed(
    call: Call,
    settings: Settings,
    *,
    to: str = "",
    yes: Annotated[bool, Param("Drop without asking")] = False,
) -> AccessChange | int:
    """Ask before the tables are removed."""
    if not yes:
        found_status = status(settings, to=to)
        text = f"{count(len(found_status.banks), 'bank')} in {found_status.place}"
        if call.json or not call.interactive:
            raise BadInput(
                f"{text} would be removed, but confirmation needs a terminal",
                "add --yes to drop without a question",
            )
        if not call.agreed(f"Remove {text}?"):
            call.remark("nothing was changed")
            return FOUND
    return drop(settings, to=to)


@operation(
    "shared drop",
    why="""
    Removes the tables with all that is published and all grants. The notes stay in their
    repositories, and can be published again.
    """,
    examples=(("memory-bank shared drop", "asks first"),),
    through=_agreed,
    show=shown.dropped,
)
def drop(settings: Settings, *, to: _To = "") -> AccessChange:
    """Remove the tables with all that is published."""
    return _changed(settings, to, lambda operator: operator.drop())


@operation(
    "shared grant",
    why="""
    Lets a role of the database read a repository, or all repositories of a team, now and later. The
    role must exist. Others find nothing of it, in answers, counts or errors.
    """,
    examples=(
        ("memory-bank shared grant web_agents --team web", "a team's repositories"),
        ("memory-bank shared grant anna --repo github.com/acme/shop", "one repository"),
    ),
    show=shown.granted,
)
def grant(
    settings: Settings,
    role: Annotated[str, Param(argument=True)],
    *,
    repo: _Repo = "",
    team: _Team = "",
    to: _To = "",
) -> AccessChange:
    """Let a role read a repository or a team's."""
    _check_one(repo, team)
    return _changed(settings, to, lambda operator: operator.grant(role, repo=repo, team=team))


@operation(
    "shared revoke",
    why="""
    Takes from a role the reading and publishing of a repository, or the reading of a team; without
    either, everything.
    """,
    examples=(("memory-bank shared revoke anna", "everything"),),
    show=shown.revoked,
)
def revoke(
    settings: Settings,
    role: Annotated[str, Param(argument=True)],
    *,
    repo: _Repo = "",
    team: _Team = "",
    to: _To = "",
) -> AccessChange:
    """Take permissions from a role."""
    if repo and team:
        _check_one(repo, team)
    return _changed(settings, to, lambda operator: operator.revoke(role, repo=repo, team=team))


@operation(
    "shared publisher",
    why="""
    Lets a role of the database publish a repository, and no other. The role must exist; give it to
    the CI of that repository.
    """,
    examples=(("memory-bank shared publisher ci_shop github.com/acme/shop", "for its CI"),),
    show=shown.allowed,
)
def allow_publishing(
    settings: Settings,
    role: Annotated[str, Param(argument=True)],
    repo: Annotated[str, Param(argument=True, metavar="REPOSITORY")],
    *,
    to: _To = "",
) -> AccessChange:
    """Let a role publish a repository."""
    _check_one(repo, "")
    return _changed(settings, to, lambda operator: operator.allow_publishing(role, repo))


@operation(
    "shared team",
    why="""
    Puts a repository into a team, or out of it with --remove. A repository may be in several teams.
    Only the operator can, not who publishes.
    """,
    examples=(("memory-bank shared team github.com/acme/shop web", "one more of team web"),),
    show=shown.assigned,
)
def assign_team(
    settings: Settings,
    repo: Annotated[str, Param(argument=True, metavar="REPOSITORY")],
    team: Annotated[str, Param(argument=True)],
    *,
    remove: Annotated[bool, Param("Out of the team")] = False,
    to: _To = "",
) -> AccessChange:
    """Put a repository into a team."""
    _check_one(repo, "")
    if not team.strip():
        raise BadInput("the name of the team is empty", "name a team")
    return _changed(settings, to, lambda operator: operator.assign(repo, team, remove=remove))


def _opened(settings: Settings, to: str) -> SharedEngine:
    return open_engine(to or settings.shared.url)


def _changed(settings: Settings, to: str, change: Callable[[Administration], int]) -> AccessChange:
    """Change something of an index, and count what changed."""
    with _opened(settings, to) as engine:
        count = int(change(engine.administration))
        return AccessChange(engine.place, count > 0, count)


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


topic(
    "shared",
    "Look after the index that many repositories share.",
    group="Share",
    why="""
    A shared index has the reviewed notes of many repositories, in PostgreSQL with pgvector, so that
    one question finds what was learned in any of them. Its operator makes it and says who may read
    and publish what. See docs/shared.md.
    """,
    examples=(
        ("memory-bank shared init --to postgresql://operator@db/notes", "make it"),
        ("memory-bank shared publisher ci_shop github.com/acme/shop", "let CI publish"),
        ("memory-bank shared team github.com/acme/shop web", "put it into a team"),
        ("memory-bank shared grant web_agents --team web", "let agents ask"),
        ("memory-bank shared status", "what is published"),
    ),
)
