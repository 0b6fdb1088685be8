"""`memory-bank publish`: publish the notes of a commit to the shared index."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from memory_bank.base.operation import Param, operation
from memory_bank.base.rendering import count
from memory_bank.base.screen import FINDINGS, FOUND, NOTHING, Call

if TYPE_CHECKING:
    from memory_bank.shared.publish import Published


@operation(
    "publish",
    why="""
    Makes the notes of a commit those that the shared index has of this bank: only what changed is
    sent, and readers see the old commit or the new one, never half. The commit must follow the one
    that is published, or --force be given. Notes of sessions and notes that git ignores stay on
    this machine. A note with a secret is not published: it is listed, and the exit code is 1. Run
    it in CI on the main branch. See docs/shared.md.
    """,
    examples=(
        ("memory-bank publish", "the notes of HEAD"),
        ("memory-bank publish --dry-run", "what would be sent"),
        ("memory-bank publish --rev v2.0 --force", "back to an earlier commit"),
        ("memory-bank publish --drop", "remove this bank from the shared index"),
    ),
    group="Share",
)
def command(
    call: Call,
    *,
    to: Annotated[
        str | None, Param("The shared index [env: MEMORY_BANK_SHARED_URL]", metavar="URL")
    ] = None,
    rev: Annotated[str, Param("The commit, by default HEAD", metavar="REV")] = "HEAD",
    repo: Annotated[
        str | None, Param("The repository's name there: host/owner/name", metavar="NAME")
    ] = None,
    force: Annotated[bool, Param("Replace a commit that it does not follow")] = False,
    dry_run: Annotated[bool, Param("Show what would be sent; send nothing")] = False,
    drop: Annotated[bool, Param("Remove all that is published of this bank")] = False,
) -> int:
    """Publish the notes of a commit to the shared index."""
    from memory_bank.shared import publish

    with call.open() as bank:
        if drop:
            done = publish.unpublish(bank, to=to or "", repo=repo or "", dry_run=dry_run)
        else:
            done = publish.publish(
                bank, rev, to=to or "", repo=repo or "", force=force, dry_run=dry_run,
                progress=call.progress,
            )  # fmt: skip
    call.answer(done, lambda done: _show(call, done))
    if done.refused:
        return FINDINGS
    return NOTHING if done.state == publish.ABSENT else FOUND


def _show(call: Call, done: Published) -> None:
    from memory_bank.shared import publish

    name = f"{done.repository} {done.bank}".rstrip()
    said = {
        publish.PUBLISHED: ("published", "good"),
        publish.UNCHANGED: ("already published", "dim"),
        publish.PLANNED: ("would change", "bold"),
        publish.DROPPED: ("dropped", "good"),
        publish.ABSENT: ("nothing is published", "dim"),
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
