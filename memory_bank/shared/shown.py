"""What publishing answers, and how a terminal shows it."""

from __future__ import annotations

from typing import NamedTuple

from memory_bank.base.rendering import count, named
from memory_bank.base.screen import FINDINGS, FOUND, NOTHING, Call
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


def published(call: Call, done: Published) -> int:
    """Show what was sent and removed, and what was refused."""
    call.answer(done, lambda done: _published(call, done))
    if done.refused:
        return FINDINGS
    return NOTHING if done.state == ABSENT else FOUND


def _published(call: Call, done: Published) -> None:
    name = f"{done.repository} {done.bank}".rstrip()
    said = {
        PUBLISHED: ("published", "good"),
        UNCHANGED: ("already published", "dim"),
        PLANNED: ("would change", "bold"),
        DROPPED: ("dropped", "good"),
        ABSENT: ("nothing is published", "dim"),
    }[done.state]
    commit = done.commit or done.replaced
    replaced = f", after {done.replaced[:12]}" if done.replaced not in {"", commit} else ""
    console = call.console
    console.line(said, f": {name}", f" {commit[:12]}{replaced}" if commit else "")
    if done.commit:
        console.line(f"  {count(done.notes, 'note')}, {count(done.passages, 'passage')} in all")
    if done.changed_notes or done.removed_notes:
        sent = f"{count(len(done.changed_notes), 'note')}, {count(done.sent_passages, 'passage')}"
        gone = (
            f"{count(len(done.removed_notes), 'note')}, {count(done.removed_passages, 'passage')}"
        )
        console.line(f"  sent {sent}; removed {gone}")
    for one in done.refused:
        console.line((one.file, "place"), ": ", ("not published", "bad"), f": {one.reason}")


def made(call: Call, made: MadeIndex) -> None:
    """Show whether the tables were made."""
    verb = ("made", "good") if made.created else ("exists already", "dim")
    said = (f"{made.place}: ", verb, f"; embedder {made.embedder}")
    call.answer(made, lambda _: call.console.line(*said))


def status(call: Call, found: SharedStatus) -> int:
    """Show what is published, and who may do what."""
    call.answer(found, lambda found: _status(call, found))
    return FOUND if found.banks else NOTHING


def _status(call: Call, found: SharedStatus) -> None:
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


def migrated(call: Call, done: Migrated) -> None:
    """Show the versions of the tables."""
    same = done.before == done.after
    said = f"tables {done.after}, as before" if same else f"tables {done.before} → {done.after}"
    call.answer(done, lambda done: call.console.line(f"{done.place}: {said}"))


def dropped(call: Call, done: AccessChange) -> int:
    """Show whether there was a shared index."""
    _changed(call, done, "dropped", "there was no shared index")
    return FOUND if done.changed else NOTHING


def granted(call: Call, done: AccessChange, role: str, repo: str = "", team: str = "") -> None:
    """Show what a role may read."""
    what = repo or f"the repositories of team {team}"
    _changed(call, done, f"{role} may read {what}", f"{role} could read {what}")


def revoked(call: Call, done: AccessChange, role: str) -> int:
    """Show what a role lost."""
    taken = count(done.permissions, "permission")
    _changed(call, done, f"{role} lost {taken}", f"{role} had no such permission")
    return FOUND if done.changed else NOTHING


def allowed(call: Call, done: AccessChange, role: str, repo: str) -> None:
    """Show what a role may records."""
    _changed(call, done, f"{role} may publish {repo}", f"{role} could publish {repo}")


def assigned(call: Call, done: AccessChange, repo: str, team: str, *, remove: bool = False) -> None:
    """Show whether a repository is in a team."""
    verb, otherwise = ("is no longer", "was not") if remove else ("is now", "was already")
    _changed(call, done, f"{repo} {verb} in team {team}", f"{repo} {otherwise} in team {team}")


def _changed(call: Call, done: AccessChange, verb: str, otherwise: str) -> None:
    call.answer(
        done, lambda done: call.console.line(f"{done.place}: {verb if done.changed else otherwise}")
    )
