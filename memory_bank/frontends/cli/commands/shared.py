"""`memory-bank shared`: make and look after the index that many repositories share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import click

from memory_bank.base.errors import BadInput
from memory_bank.base.operation import Param, operation, topic
from memory_bank.base.rendering import count, named
from memory_bank.base.screen import FOUND, NOTHING, Call
from memory_bank.frontends.cli.text_input import interactive

if TYPE_CHECKING:
    from memory_bank.shared.administration import AccessChange, MadeIndex, Migrated, SharedStatus


_To = Annotated[str | None, Param("The shared index [env: MEMORY_BANK_SHARED_URL]", metavar="URL")]


@operation(
    "shared init",
    why="""
    Makes the tables in a PostgreSQL database with the extension vector, and fixes the embedder of
    the index: that of this bank, or outside a bank that of your settings. All that publish must
    have the same. The role that runs it is the operator: it owns the tables. If they are there,
    nothing changes.
    """,
    examples=(("memory-bank shared init --to postgresql://operator@db/notes", "once"),),
)
def _init(call: Call, *, to: _To = None) -> int:
    """Make the tables of a shared index."""
    from memory_bank.shared import administration

    def render(made: MadeIndex) -> None:
        verb = ("made", "good") if made.created else ("exists already", "dim")
        call.console.line(f"{made.place}: ", verb, f"; embedder {made.embedder}")

    call.answer(administration.make(call.settings(), to=to or ""), render)
    return FOUND


@operation(
    "shared status",
    why="""
    Lists the banks that your role may read, with the commit that is published of each. The operator
    also sees who may read and publish what.
    """,
    examples=(("memory-bank shared status", "what is published"),),
)
def _status(call: Call, *, to: _To = None) -> int:
    """List what is published, and who may do what."""
    from memory_bank.shared import administration

    found = administration.status(call.settings(), to=to or "")
    call.answer(found, lambda found: _show(call, found))
    return FOUND if found.banks else NOTHING


def _show(call: Call, found: SharedStatus) -> None:
    console = call.console
    console.line((found.place, "bold"), f": embedder {found.embedder}, tables {found.version}")
    if found.banks:
        rows = [
            (
                named(one.repository), named(one.bank), one.commit[:12], one.published_at[:16],
                str(one.notes), str(one.passages), named(", ".join(one.teams)),
            )
            for one in found.banks
        ]  # fmt: skip
        head = ("repository", "bank", "commit", "published", "notes", "passages", "teams")
        console.table(head, rows)
    console.line(f"{count(found.notes, 'note')}, {count(found.passages, 'passage')}")
    if found.access:
        access = [(named(one.role), one.may, named(one.repo or f"team {one.team}"))
                  for one in found.access]  # fmt: skip
        console.table(("role", "may", "what"), access)


@operation(
    "shared migrate",
    why="Brings the tables up to date after an update of this program. The operator runs it.",
    examples=(("memory-bank shared migrate", "after an update"),),
)
def _migrate(call: Call, *, to: _To = None) -> int:
    """Bring the tables up to date."""
    from memory_bank.shared import administration

    def render(done: Migrated) -> None:
        same = done.before == done.after
        said = f"tables {done.after}, as before" if same else f"tables {done.before} → {done.after}"
        call.console.line(f"{done.place}: {said}")

    call.answer(administration.migrate(call.settings(), to=to or ""), render)
    return FOUND


@operation(
    "shared drop",
    why="""
    Removes the tables with all that is published and all grants. The notes stay in their
    repositories, and can be published again.
    """,
    examples=(("memory-bank shared drop", "asks first"),),
)
def _drop(
    call: Call, *, to: _To = None, yes: Annotated[bool, Param("Drop without asking")] = False
) -> int:
    """Remove the tables with all that is published."""
    from memory_bank.shared import administration

    settings = call.settings()
    if not yes:
        found = administration.status(settings, to=to or "")
        what = f"{count(len(found.banks), 'bank')} in {found.place}"
        if call.json or not interactive():
            raise BadInput(
                f"{what} would be removed, but confirmation needs a terminal",
                "add --yes to drop without a question",
            )
        if not click.confirm(f"Remove {what}?", err=True):
            call.remark("nothing was changed")
            return FOUND
    done = administration.drop(settings, to=to or "")
    _changed(call, done, "dropped", "there was no shared index")
    return FOUND if done.changed else NOTHING


def _changed(call: Call, done: AccessChange, verb: str, otherwise: str) -> None:
    call.answer(
        done, lambda done: call.console.line(f"{done.place}: {verb if done.changed else otherwise}")
    )


_Repo = Annotated[str, Param("A repository: host/owner/name", metavar="NAME")]
_Team = Annotated[str, Param("All repositories of a team", metavar="TEAM")]


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
)
def _grant(
    call: Call,
    *,
    role: Annotated[str, Param(argument=True)],
    repo: _Repo = "",
    team: _Team = "",
    to: _To = None,
) -> int:
    """Let a role read a repository or a team's."""
    from memory_bank.shared import administration

    done = administration.grant(call.settings(), role, repo=repo, team=team, to=to or "")
    what = repo or f"the repositories of team {team}"
    _changed(call, done, f"{role} may read {what}", f"{role} could read {what}")
    return FOUND


@operation(
    "shared revoke",
    why="""
    Takes from a role the reading and publishing of a repository, or the reading of a team; without
    either, everything.
    """,
    examples=(("memory-bank shared revoke anna", "everything"),),
)
def _revoke(
    call: Call,
    *,
    role: Annotated[str, Param(argument=True)],
    repo: _Repo = "",
    team: _Team = "",
    to: _To = None,
) -> int:
    """Take permissions from a role."""
    from memory_bank.shared import administration

    done = administration.revoke(call.settings(), role, repo=repo, team=team, to=to or "")
    taken = count(done.permissions, "permission")
    _changed(call, done, f"{role} lost {taken}", f"{role} had no such permission")
    return FOUND if done.changed else NOTHING


@operation(
    "shared publisher",
    why="""
    Lets a role of the database publish a repository, and no other. The role must exist; give it to
    the CI of that repository.
    """,
    examples=(("memory-bank shared publisher ci_shop github.com/acme/shop", "for its CI"),),
)
def _publisher(
    call: Call,
    *,
    role: Annotated[str, Param(argument=True)],
    repo: Annotated[str, Param(argument=True, metavar="REPOSITORY")],
    to: _To = None,
) -> int:
    """Let a role publish a repository."""
    from memory_bank.shared import administration

    done = administration.allow_publishing(call.settings(), role, repo, to=to or "")
    _changed(call, done, f"{role} may publish {repo}", f"{role} could publish {repo}")
    return FOUND


@operation(
    "shared team",
    why="""
    Puts a repository into a team, or out of it with --remove. A repository may be in several teams.
    Only the operator can, not who publishes.
    """,
    examples=(("memory-bank shared team github.com/acme/shop web", "one more of team web"),),
)
def _team(
    call: Call,
    *,
    repo: Annotated[str, Param(argument=True, metavar="REPOSITORY")],
    team: Annotated[str, Param(argument=True)],
    remove: Annotated[bool, Param("Out of the team")] = False,
    to: _To = None,
) -> int:
    """Put a repository into a team."""
    from memory_bank.shared import administration

    done = administration.assign_team(call.settings(), repo, team, remove=remove, to=to or "")
    verb, otherwise = ("is no longer", "was not") if remove else ("is now", "was already")
    _changed(call, done, f"{repo} {verb} in team {team}", f"{repo} {otherwise} in team {team}")
    return FOUND


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
