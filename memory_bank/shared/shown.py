"""Show what is published to a shared index, on a terminal."""

from __future__ import annotations

from memory_bank.base.rendering import count, named
from memory_bank.base.screen import FINDINGS, FOUND, NOTHING, Call
from memory_bank.shared import records
from memory_bank.shared.records import AccessChange, MadeIndex, Migrated, Published, SharedStatus


def published(call: Call, done: Published) -> int:
    """Show what was sent and removed, and what was refused."""
    call.answer(done, lambda done: _published(call, done))
    if done.refused:
        return FINDINGS
    return NOTHING if done.state == records.ABSENT else FOUND


def _published(call: Call, done: Published) -> None:
    name = f"{done.repository} {done.bank}".rstrip()
    said = {
        records.PUBLISHED: ("published", "good"),
        records.UNCHANGED: ("already published", "dim"),
        records.PLANNED: ("would change", "bold"),
        records.DROPPED: ("dropped", "good"),
        records.ABSENT: ("nothing is published", "dim"),
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
