"""The overview of a bank: how much there is, what is new, and the latest decisions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from memory_bank.actions import lately, trust
from memory_bank.actions.index_rows import Rows, place_of
from memory_bank.actions.lately import ChangedKeys, Lately
from memory_bank.actions.session_compression import compress_now
from memory_bank.actions.session_listing import count_sessions
from memory_bank.actions.session_state import project_of
from memory_bank.actions.stale_hits import stale_hits
from memory_bank.actions.trust import NoteTrust, Origin
from memory_bank.bank import Bank, View
from memory_bank.manifest import documents, entries, neighbourhood, sections
from memory_bank.manifest.documents import DocumentRow
from memory_bank.manifest.entries import NOTES, Wanted, session_id_of
from memory_bank.notes.dates import iso_of
from memory_bank.notes.names import name_of

DECISION = "decision"


class RecentRow(NamedTuple):
    """A new observation, session or note."""

    id: str
    kind: str
    """observation, session or note."""
    type: str
    """Of an observation or a note; else as `kind`."""
    title: str
    project: str
    created_at: str
    path: str
    """Of its note."""
    session_id: str
    """Of an observation or a session; else empty."""


class DecisionRow(NamedTuple):
    """A decision, who made it, and whether it still holds."""

    path: str
    title: str
    created_at: str
    author: str
    """Who committed it first; empty if it is not committed."""
    agent: str
    """The agent that had a part in that, if it is known."""
    trust: str
    """reviewed, human, agent, uncommitted or unknown; empty outside git."""
    stale: str | None
    """Why it is stale; empty if it holds: it was confirmed, or the code that it cites was compared
    and is as it was. None if neither is known."""
    superseded_by: str
    """Path of its successor; empty if it has none."""


class Overview(NamedTuple):
    """How much a bank has, what is new, and the latest decisions."""

    observations: int
    sessions: int
    notes: int
    """Without those of sessions, and without archived ones."""
    read_tokens: int
    """Estimated, to read all observations."""
    work_tokens: int
    """Estimated, of the events that they were made of."""
    saved_tokens: int
    """The work without the reading, as far as that is a saving."""
    recent: tuple[RecentRow, ...]
    decisions: tuple[DecisionRow, ...]
    lately: Lately
    problem: str | None


class _Read(NamedTuple):
    work: sections.Work
    notes: int
    recent: tuple[RecentRow, ...]
    decisions: Sequence[DocumentRow]
    changed: ChangedKeys


def overview(
    bank: Bank,
    recent: int = 12,
    decisions: int = 5,
    days: float = 7,
    changes: int = 10,
    now: float | None = None,
) -> Overview:
    """Return how much a bank has, its newest entries, its latest decisions and changes.

    The changes are those of `lately`, in the last `days` before `now`, by default the present.
    """
    compress_now(bank)
    own = project_of(bank)
    total = count_sessions(bank)

    def read(view: View) -> _Read:
        manifest = view.manifest
        wanted = Wanted(kinds=frozenset([NOTES]), types=(DECISION,))
        latest = [one.document for one in entries.listed(manifest, wanted, decisions)]
        by_number = documents.documents(manifest, latest)
        return _Read(
            sections.work(manifest),
            entries.count(manifest, NOTES),
            tuple(_recent(view, own, entries.listed(manifest, Wanted(), recent))),
            [by_number[number] for number in latest if number in by_number],
            lately.changed_keys(view, days, now),
        )

    with bank.lock:
        found = bank.answer(read)
        paths = ["", *(one.key for one in found.decisions)]
        limits = trust.refresh(bank, paths, trust.BADGE_SECONDS)
        shown = _decisions(bank, found.decisions)
        changed = lately.with_commits(bank, found.changed, changes, limits)
    work = found.work
    return Overview(
        work.observations, total, found.notes, work.read, work.work, max(0, work.work - work.read),
        found.recent, shown, changed, bank.problem or None,
    )  # fmt: skip


def _recent(view: View, own: str, listed: Sequence[entries.Entry]) -> list[RecentRow]:
    """Return rows of entries."""
    places = [place_of(entry) for entry in listed]
    rows = Rows(view, own, places)
    found = []
    for place in places:
        row = rows.row(place)
        if row is None:
            continue
        document = rows.documents[place.document]
        found.append(
            RecentRow(
                id=row.id,
                kind=row.type,
                type=row.obs_type or str(document.data.get("type") or row.type),
                title=row.title,
                project=row.project,
                created_at=row.created_at,
                path=document.key,
                session_id=session_id_of(document),
            )
        )
    return found


def _decisions(bank: Bank, found: Sequence[DocumentRow]) -> tuple[DecisionRow, ...]:
    paths = [one.key for one in found]
    tiers = trust.of_notes(bank, paths, trust.BADGE_SECONDS)
    stale, successors = bank.read(lambda view: _standing(bank, view, found))
    made = []
    for one, tier in zip(found, tiers, strict=True):
        origin = first_origin(NoteTrust(bank, one.key))
        made.append(
            DecisionRow(
                path=one.key,
                title=one.title or name_of(one.key),
                created_at=iso_of(one.created),
                author=origin.author,
                agent=origin.agent or str((one.data.get("source_agent")) or ""),
                trust=tier,
                stale=None if stale is None else stale.get(one.number),
                superseded_by=successors.get(one.number, ""),
            )
        )
    return tuple(made)


def first_origin(note: NoteTrust) -> Origin:
    """Return who wrote a note first: its oldest commit, else what is not committed."""
    return note.origin(note.changes[-1].commit) if note.changes else note.uncommitted()


def _standing(
    bank: Bank, view: View, found: Sequence[DocumentRow]
) -> tuple[dict[int, str] | None, dict[int, str]]:
    """Return why notes are stale, None if not known, and the successors of those that have one."""
    numbers = [one.number for one in found]
    judge = stale_hits(bank, view)
    stale: dict[int, str] | None = None
    if judge is not None:
        rows = documents.passages_of(view.manifest, numbers)
        stale = {number: "" for number, one in judge.notes(numbers).items() if one.holds}
        stale |= {rows[row]: reason for row, reason in judge(rows).items()}
    successors = neighbourhood.superseded(view.manifest, numbers)
    return stale, {number: path for number, (_, path) in successors.items()}
