"""What publishing answers, and how a terminal shows it."""

from __future__ import annotations

from typing import NamedTuple

from memory_bank.base.rendering import count, named
from memory_bank.base.screen import FINDINGS, FOUND, NOTHING, Call
from memory_bank.shared.engines.base import Head
from memory_bank.shared.export import UnpublishedNote

PUBLISHED, UNCHANGED, PLANNED, DROPPED, ABSENT = (
    "published", "unchanged", "planned", "dropped", "absent",
)  # fmt: skip
"""What became of a publication; `planned` by a dry run, `absent` if nothing was there to drop."""


class SharedStatus(NamedTuple):
    """A shared index."""

    place: str
    """Without user and password."""
    id: str
    version: int
    embedder: str
    dimension: int
    notes: int
    passages: int
    banks: tuple[Head, ...]


class MadeIndex(NamedTuple):
    """A shared index that was made, or was there."""

    place: str
    created: bool
    embedder: str
    dimension: int


class DroppedIndex(NamedTuple):
    """What became of the tables."""

    place: str
    changed: bool


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


def published(call: Call, published: Published) -> int:
    """Show what was sent and removed, and what was refused."""
    call.answer(published, lambda published: _published(call, published))
    if published.refused:
        return FINDINGS
    return NOTHING if published.state == ABSENT else FOUND


def _published(call: Call, published: Published) -> None:
    name = f"{published.repository} {published.bank}".rstrip()
    entries = {
        PUBLISHED: ("published", "good"),
        UNCHANGED: ("already published", "dim"),
        PLANNED: ("would change", "bold"),
        DROPPED: ("dropped", "good"),
        ABSENT: ("nothing is published", "dim"),
    }[published.state]
    commit = published.commit or published.replaced
    replaced = (
        f", after {published.replaced[:12]}" if published.replaced not in {"", commit} else ""
    )
    console = call.console
    console.line(entries, f": {name}", f" {commit[:12]}{replaced}" if commit else "")
    if published.commit:
        console.line(
            f"  {count(published.notes, 'note')}, {count(published.passages, 'passage')} in all"
        )
    if published.changed_notes or published.removed_notes:
        changed, removed = len(published.changed_notes), len(published.removed_notes)
        sent = f"{count(changed, 'note')}, {count(published.sent_passages, 'passage')}"
        gone = f"{count(removed, 'note')}, {count(published.removed_passages, 'passage')}"
        console.line(f"  sent {sent}; removed {gone}")
    for note in published.refused:
        console.line((note.file, "place"), ": ", ("not published", "bad"), f": {note.reason}")


def made(call: Call, index: MadeIndex) -> None:
    """Show whether the tables were made."""
    verb = ("made", "good") if index.created else ("exists already", "dim")
    texts = (f"{index.place}: ", verb, f"; embedder {index.embedder}")
    call.answer(index, lambda _: call.console.line(*texts))


def status(call: Call, found_status: SharedStatus) -> int:
    """Show what is published."""
    call.answer(found_status, lambda found_status: _status(call, found_status))
    return FOUND if found_status.banks else NOTHING


def _status(call: Call, found_status: SharedStatus) -> None:
    console = call.console
    console.line(
        (found_status.place, "bold"),
        f": embedder {found_status.embedder}, tables {found_status.version}",
    )
    if found_status.banks:
        rows = [
            (
                named(current_head.repository),
                named(current_head.bank),
                current_head.commit[:12],
                current_head.published_at[:16],
                str(current_head.notes),
                str(current_head.passages),
            )
            for current_head in found_status.banks
        ]
        head = ("repository", "bank", "commit", "published", "notes", "passages")
        console.table(head, rows)
    console.line(f"{count(found_status.notes, 'note')}, {count(found_status.passages, 'passage')}")


def dropped(call: Call, change: DroppedIndex) -> int:
    """Show whether there was a shared index."""
    text = "dropped" if change.changed else "there was no shared index"
    call.answer(change, lambda change: call.console.line(f"{change.place}: {text}"))
    return FOUND if change.changed else NOTHING
