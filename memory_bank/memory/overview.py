"""The overview of a bank: counts, what is new, decisions, and notes by folder, type and tag."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from memory_bank.bank import open_index
from memory_bank.bank.bank import Bank
from memory_bank.bank.open_index import View
from memory_bank.base.dates import iso_of
from memory_bank.memory import recent_changes
from memory_bank.memory.links import count_problems
from memory_bank.memory.recent_changes import ChangedKeys, Lately
from memory_bank.memory.show import ListedNote, listed
from memory_bank.notes.decision_records import ENDED
from memory_bank.notes.names import name_of
from memory_bank.search.manifest import document_rows, entries, filters, graph
from memory_bank.search.manifest.document_rows import DocumentRow
from memory_bank.search.manifest.entries import NOTES, EntryConditions, session_id_of
from memory_bank.search.manifest.filters import Condition
from memory_bank.search.query import conditions
from memory_bank.sessions.compress import compress_now
from memory_bank.sessions.listing import count_sessions
from memory_bank.sessions.observation_rows import Rows, place_of
from memory_bank.sessions.state import project_of
from memory_bank.trust import trust
from memory_bank.trust.stale_cache import stale_hits
from memory_bank.trust.trust import LineOrigin, NoteTrust

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
    work: entries.Work
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
        wanted = EntryConditions(kinds=frozenset([NOTES]), types=(DECISION,))
        latest = [one.document for one in entries.listed(manifest, wanted, decisions)]
        by_number = document_rows.documents(manifest, latest)
        return _Read(
            entries.work(manifest),
            entries.count(manifest, NOTES),
            tuple(_recent(view, own, entries.listed(manifest, EntryConditions(), recent))),
            [by_number[number] for number in latest if number in by_number],
            recent_changes.changed_keys(view, days, now),
        )

    with bank.lock:
        found = bank.answer(read)
        paths = ["", *(one.key for one in found.decisions)]
        limits = trust.refresh(bank, paths, trust.BADGE_SECONDS)
        shown = _decisions(bank, found.decisions)
        changed = recent_changes.with_commits(bank, found.changed, changes, limits)
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
                stale=_ended(one) or (None if stale is None else stale.get(one.number)),
                superseded_by=successors.get(one.number, ""),
            )
        )
    return tuple(made)


def _ended(row: DocumentRow) -> str:
    """Return why a decision does not hold by its own status; empty if that is not said."""
    status = str(row.data.get("status", ""))
    return f"its status is {status}" if status in ENDED else ""


def first_origin(note: NoteTrust) -> LineOrigin:
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
        rows = document_rows.passages_of(view.manifest, numbers)
        stale = {number: "" for number, one in judge.notes(numbers).items() if one.holds}
        stale |= {rows[row]: reason for row, reason in judge(rows).items()}
    successors = graph.superseded(view.manifest, numbers)
    return stale, {number: path for number, (_, path) in successors.items()}


PAGE = 50
"""Number of notes of a page."""

_MOST_TAGS = 40


class Browsed(NamedTuple):
    """A page of notes, and the folders, types and tags to choose from."""

    notes: tuple[ListedNote, ...]
    total: int
    """Number of notes on all pages."""
    offset: int
    folders: dict[str, int]
    """The folders in the chosen one, with the numbers of their notes."""
    types: dict[str, int]
    tags: dict[str, int]
    """The most used."""


def browse(
    bank: Bank,
    *,
    folder: str = "",
    type: str = "",  # noqa: A002  (the field's word)
    tag: str = "",
    cites: str = "",
    archived: bool = False,
    offset: int = 0,
    limit: int = PAGE,
) -> Browsed:
    """Return the notes in a folder, of a type, with a tag, and that link to `cites`.

    `cites` is a note, a file or the name of a ghost. Archived notes are left out unless
    `archived` is true. The folders, types and tags are those of the whole bank.
    """
    wanted = list(conditions(tags=[tag] if tag else (), types=type or None))
    wanted += [Condition("in", folder)] if folder else []
    wanted += [Condition("links", cites)] if cites else []
    bank.catch_up()
    with bank.lock:
        written = bank.logs.updates.all()
    start = max(offset, 0)

    def ask(view: View) -> Browsed:
        within = filters.scope(view.manifest, wanted, hidden=archived, written=written)
        live = document_rows.numbers(view.manifest)
        rows = open_index.newest(view.manifest, within, start + max(limit, 1), written)
        return Browsed(
            notes=tuple(listed(row) for row in rows[start:]),
            total=sum(1 for number in live if number in within),
            offset=start,
            folders=_folders(view, folder),
            types=document_rows.counts(view.manifest, "type"),
            tags=dict(list(document_rows.counts(view.manifest, "tag").items())[:_MOST_TAGS]),
        )

    return bank.read(ask)


def _folders(view: View, inside: str) -> dict[str, int]:
    start = f"{inside.strip('/')}/" if inside.strip("/") else ""
    paths = [
        key[len(start) :]
        for _, key in document_rows.all_keys(view.manifest)
        if key.startswith(start)
    ]
    counts = Counter(path.partition("/")[0] for path in paths if "/" in path)
    return {f"{start}{name}": count for name, count in sorted(counts.items())}


_UNIT = 1000

_FEW = 10


@dataclass(frozen=True, slots=True)
class Stats:
    """Counts over the notes of a bank."""

    count: int
    total_bytes: int
    """Bytes of the notes' files."""
    total_size: str
    """The same for people: `45KB`."""
    archived: int
    passages: int
    tags: dict[str, int]
    types: dict[str, int]
    ghosts: int
    broken_links: int
    orphans: int
    """Notes without links in either direction."""
    unindexed: int


def stats(bank: Bank) -> Stats:
    """Return counts of notes, tags, types, links and files that could not be indexed."""
    bank.catch_up()
    return bank.read(_stats)


def _stats(view: View) -> Stats:
    count, size, archived, passages = document_rows.totals(view.manifest)
    links = count_problems(view)
    return Stats(
        count=count,
        total_bytes=size,
        total_size=readable(size),
        archived=archived,
        passages=passages,
        tags=document_rows.counts(view.manifest, "tag"),
        types={
            name or "untyped": number
            for name, number in document_rows.data_counts(view.manifest, "type").items()
        },
        ghosts=links["ghosts"],
        broken_links=links["broken_links"],
        orphans=links["orphans"],
        unindexed=len(document_rows.unindexed(view.manifest)),
    )


def readable(size: int) -> str:
    """Return a number of bytes in the largest fitting unit: `45KB`; 1 KB is 1,000 bytes.

    Amounts below ten have one decimal.
    """
    amount, unit = float(size), "B"
    for larger in ("KB", "MB", "GB", "TB"):
        if round(amount) < _UNIT:
            break
        amount, unit = amount / _UNIT, larger
    whole = unit == "B" or round(amount, 1) >= _FEW
    return f"{amount:.0f}{unit}" if whole else f"{amount:.1f}{unit}"
