"""What publishing and the care of a shared index answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memory_bank.base import NamedTuple
from memory_bank.base.rendering import count, quote_path
from memory_bank.base.screen import FINDINGS, FOUND, NOTHING, Piece
from memory_bank.base.view import Block, Part, Table, View
from memory_bank.shared.engines.base import IndexInfo
from memory_bank.shared.export import UnpublishedNote

PUBLISHED, UNCHANGED, PLANNED, DROPPED, ABSENT = (
    "published", "unchanged", "planned", "dropped", "absent",
)  # fmt: skip
"""What became of a publication; `planned` by a dry run, `absent` if nothing was there to drop."""

_STATES: Mapping[str, Piece] = {
    PUBLISHED: ("published", "good"),
    UNCHANGED: ("already published", "dim"),
    PLANNED: ("would change", "bold"),
    DROPPED: ("dropped", "good"),
    ABSENT: ("nothing is published", "dim"),
}


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
    commit: str = ""
    replaced: str = ""
    """The commit that was published before; empty if none was."""
    notes: int = 0
    passages: int = 0
    changed_notes: tuple[str, ...] = ()
    removed_notes: tuple[str, ...] = ()
    sent_passages: int = 0
    removed_passages: int = 0
    refused: tuple[UnpublishedNote, ...] = ()
    """Notes that have a secret: they are not in the shared index."""
    left_out_sessions: int = 0
    seconds: float = 0.0


def view_published(published: Published) -> View:
    """Tell what was sent and removed, and what was refused."""
    name = f"{published.repository} {published.bank}".rstrip()
    commit = published.commit or published.replaced
    replaced = (
        f", after {published.replaced[:12]}" if published.replaced not in {"", commit} else ""
    )
    lines: list[Sequence[Piece]] = [
        [_STATES[published.state], f": {name}", f" {commit[:12]}{replaced}" if commit else ""]
    ]
    if published.commit:
        notes, passages = count(published.notes, "note"), count(published.passages, "passage")
        lines.append([f"  {notes}, {passages} in all"])
    if published.changed_notes or published.removed_notes:
        changed, removed = len(published.changed_notes), len(published.removed_notes)
        sent = f"{count(changed, 'note')}, {count(published.sent_passages, 'passage')}"
        gone = f"{count(removed, 'note')}, {count(published.removed_passages, 'passage')}"
        lines.append([f"  sent {sent}; removed {gone}"])
    lines += [
        [(note.file, "place"), ": ", ("not published", "bad"), f": {note.reason}"]
        for note in published.refused
    ]
    code = NOTHING if published.state == ABSENT else FOUND
    return View("", [Block(lines)], code=FINDINGS if published.refused else code)


def view_made(index: IndexInfo) -> View:
    """Tell whether the tables were made."""
    verb = ("made", "good") if index.created else ("exists already", "dim")
    return View("", [Block([[f"{index.place}: ", verb, f"; embedder {index.embedder}"]])])


def view_status(status: IndexInfo) -> View:
    """Describe what is published, a bank in a row."""
    rows = [
        (
            quote_path(head.repository), quote_path(head.bank), head.commit[:12],
            head.published_at[:16], str(head.notes), str(head.passages),
        )
        for head in status.banks or ()
    ]  # fmt: skip
    headings = ("repository", "bank", "commit", "published", "notes", "passages")
    about = f": embedder {status.embedder}, tables {status.version}"
    totals = f"{count(status.notes or 0, 'note')}, {count(status.passages or 0, 'passage')}"
    table = [Table(headings, rows)] if rows else []
    parts: list[Part] = [Block([[(status.place, "bold"), about]]), *table, Block([[totals]])]
    return View("", parts, code=FOUND if rows else NOTHING)


def view_dropped(change: DroppedIndex) -> View:
    """Tell whether there was a shared index."""
    text = "dropped" if change.changed else "there was no shared index"
    block = Block([[f"{change.place}: {text}"]])
    return View("", [block], code=FOUND if change.changed else NOTHING)
