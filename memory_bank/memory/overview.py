"""The overview of a bank: counts, what is new, and notes by folder, type and tag."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection

from memory_bank.bank import open_index
from memory_bank.bank.bank import Bank
from memory_bank.bank.open_index import NoteRow
from memory_bank.base import NamedTuple
from memory_bank.base.dates import seconds_to_iso
from memory_bank.base.documents import Document
from memory_bank.base.filenames import NOTE_SUFFIXES
from memory_bank.base.operation import Tool, operation
from memory_bank.git.commits import Change
from memory_bank.memory import views
from memory_bank.memory.links import count_problems
from memory_bank.memory.records import Stats
from memory_bank.notes.names import name_of
from memory_bank.notes.roots import SESSIONS
from memory_bank.search.index import IndexView
from memory_bank.search.manifest import document_rows, entries, filters
from memory_bank.search.manifest.entries import NOTES, EntryConditions
from memory_bank.search.manifest.filters import Condition
from memory_bank.search.query import list_conditions
from memory_bank.sessions.answers import IndexRow
from memory_bank.sessions.compress import compress_now
from memory_bank.sessions.listing import count_sessions
from memory_bank.sessions.observation_rows import entry_place, read_places
from memory_bank.sessions.state import bank_project
from memory_bank.trust import trust
from memory_bank.trust.trust import NoteTrust

_DAY = 86400

_OWN = ""
"""Stands for any note in the bank's own folder, whose commits are those of all."""


class ChangedLately(NamedTuple):
    """The last change of a note."""

    path: str
    title: str
    change: str
    """added, changed, archived or removed."""
    changed_at: str
    author: str
    """Who committed it; empty if it is not committed."""
    agent: str
    """The agent that had a part in it, if it is known."""
    committed: bool
    subject: str
    """The subject of the commit."""


class RecentChanges(NamedTuple):
    """The notes that changed lately, the last change first."""

    since: str
    total: int
    changes: tuple[ChangedLately, ...]
    limits: tuple[str, ...]
    """What git does not know, and why."""


def _list_recent(
    bank: Bank,
    since: float,
    changed: dict[str, float],
    keys: Collection[str],
    limit: int,
) -> RecentChanges:
    """Return the notes that changed, after git's changes are added to `changed`, times by path.

    `keys` are the paths of all notes.
    """
    limits = trust.refresh_commits(bank, [_OWN], trust.BADGE_SECONDS)
    removed = dict[str, Change | None]()
    commits = bank.commits(_OWN)
    for change in commits.changes_since(since) if commits else ():
        if change.path in keys and not change.path.startswith(SESSIONS):
            changed.setdefault(change.path, change.commit.written)
        elif change.status == "D" and _is_note(change.path):
            removed.setdefault(change.path, change)
    for path in set(commits.blobs if commits else ()).difference(keys):
        if _is_note(path):
            removed[path] = None
    newest = sorted(changed, key=lambda key: (-changed[key], key))[:limit]
    rows = bank.read(lambda view: [document_rows.document_at(view.manifest, key) for key in newest])
    changes = [_change_of(bank, row, since) for row in rows if row is not None]
    changes += [_removal_of(bank, path, change) for path, change in removed.items()]
    changes.sort(key=lambda change: (change.changed_at, change.path), reverse=True)
    total = len(changed) + len(removed)
    return RecentChanges(seconds_to_iso(since), total, tuple(changes[:limit]), limits)


def _is_note(path: str) -> bool:
    hidden = any(part.startswith(".") for part in path.split("/"))  # as the scan of files says
    return path.endswith(NOTE_SUFFIXES) and not hidden and not path.startswith(SESSIONS)


def _change_of(bank: Bank, row: Document, since: float) -> ChangedLately:
    note = NoteTrust(bank, row.key)
    first = note.changes[-1] if note.changes else None
    committed = first is not None and note.clean
    origin = note.origin(note.changes[0].commit) if committed else note.uncommitted_origin()
    new = first is None or (first.status == "A" and first.commit.written >= since)
    return ChangedLately(
        path=row.key,
        title=row.title or name_of(row.key),
        change="archived" if row.hidden else "added" if new else "changed",
        changed_at=seconds_to_iso(origin.time or max(row.created, row.updated)),
        author=origin.author,
        agent=origin.agent,
        committed=committed,
        subject=origin.subject,
    )


def _removal_of(bank: Bank, path: str, change: Change | None) -> ChangedLately:
    """Return the removal of a note by a change; without one, HEAD still has the note."""
    origin = NoteTrust(bank, path).origin(change.commit) if change else None
    return ChangedLately(
        path=path,
        title=name_of(path),
        change="removed",
        changed_at=seconds_to_iso(origin.time if origin else time.time()),
        author=origin.author if origin else "",
        agent=origin.agent if origin else "",
        committed=origin is not None,
        subject=origin.subject if origin else "",
    )


class Overview(NamedTuple):
    """How much a bank has of sessions and notes, and what is new in it."""

    observations: int
    sessions: int
    notes: int
    """Without those of sessions, and without archived ones."""
    read_tokens: int
    """Estimated tokens of all observations."""
    work_tokens: int
    """Estimated tokens of the events that they were made of."""
    saved_tokens: int
    """The work without the reading; 0 if reading takes more."""
    recent: tuple[IndexRow, ...]


def read_overview(bank: Bank, recent: int = 12) -> Overview:
    """Return how much a bank has, and its newest observations, sessions and notes."""
    compress_now(bank)
    own = bank_project(bank)
    total = count_sessions(bank)

    def read(view: IndexView) -> Overview:
        observations, read_tokens, work_tokens = entries.count_observations(view.manifest)
        newest = entries.list_entries(view.manifest, EntryConditions(), recent)
        return Overview(
            observations=observations,
            sessions=total,
            notes=entries.count(view.manifest, NOTES),
            read_tokens=read_tokens,
            work_tokens=work_tokens,
            saved_tokens=max(0, work_tokens - read_tokens),
            recent=tuple(read_places(view, own, [entry_place(entry) for entry in newest])),
        )

    return bank.answer(read)


class Home(NamedTuple):
    """How many notes a bank has, by tag and type, and which changed lately."""

    notes: int
    """Without those of sessions, and without archived ones."""
    tags: dict[str, int]
    """The most used first."""
    types: dict[str, int]
    """The most used first."""
    lately: RecentChanges
    problem: str | None


def read_home(bank: Bank, days: float = 7, changes: int = 100) -> Home:
    """Return the notes by tag and type, and those that changed in the last `days`."""
    since = time.time() - days * _DAY

    def read(
        view: IndexView,
    ) -> tuple[int, dict[str, int], dict[str, int], dict[str, float], frozenset[str]]:
        return (
            entries.count(view.manifest, NOTES),
            document_rows.count_values(view.manifest, "tag"),
            document_rows.count_values(view.manifest, "type"),
            dict(entries.changed_notes(view.manifest, since)),
            frozenset(key for _, key in document_rows.all_keys(view.manifest)),
        )

    with bank.lock:
        notes, tags, types, changed, keys = bank.answer(read)
        lately = _list_recent(bank, since, changed, keys, changes)
    return Home(notes, tags, types, lately, bank.problem or None)


PAGE = 50
"""Number of notes of a page."""

_MOST_TAGS = 40
"""Tags that the first page lists."""


class Browsed(NamedTuple):
    """A page of notes, and the folders, types and tags to choose from."""

    notes: tuple[NoteRow, ...]
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
    conditions = list(list_conditions(tags=[tag] if tag else (), types=type or None))
    conditions += [Condition("in", folder)] if folder else []
    conditions += [Condition("links", cites)] if cites else []
    bank.catch_up()
    with bank.lock:
        updates = bank.state.updates()
    start = max(offset, 0)

    def ask(view: IndexView) -> Browsed:
        scope = filters.find_scope(view.manifest, conditions, hidden=archived, written=updates)
        live = document_rows.list_numbers(view.manifest)
        rows = open_index.newest_notes(view.manifest, scope, start + max(limit, 1), updates)
        return Browsed(
            notes=tuple(rows[start:]),
            total=sum(1 for number in live if number in scope),
            offset=start,
            folders=_count_folders(view, folder),
            types=document_rows.count_values(view.manifest, "type"),
            tags=dict(list(document_rows.count_values(view.manifest, "tag").items())[:_MOST_TAGS]),
        )

    return bank.read(ask)


def read_rows(bank: Bank, paths: Collection[str]) -> tuple[NoteRow, ...]:
    """Return the notes at some paths, as `browse` does; those that are not indexed are left out."""

    def ask(view: IndexView) -> tuple[NoteRow, ...]:
        numbers = document_rows.find_numbers(view.manifest, paths)
        rows = document_rows.read_documents(view.manifest, numbers).values()
        return tuple(map(open_index.note_of, rows))

    return bank.read(ask)


def _count_folders(view: IndexView, folder: str) -> dict[str, int]:
    start = f"{folder.strip('/')}/" if folder.strip("/") else ""
    paths = [
        key[len(start) :]
        for _, key in document_rows.all_keys(view.manifest)
        if key.startswith(start)
    ]
    counts = Counter(path.partition("/")[0] for path in paths if "/" in path)
    return {f"{start}{name}": count for name, count in sorted(counts.items())}


_UNIT = 1000

_FEW = 10
"""Amount below which a size has a decimal."""


@operation(
    "",
    view=views.view_stats,
    tool=Tool(
        "Count notes, tags, types and links. What they say: `recall`.",
        "bank",
        name="get_memory_stats",
        reads=True,
    ),
)
def stats(bank: Bank) -> Stats:
    """Count notes, tags, types and links.

    Files that could not be indexed are counted, too.
    """
    bank.catch_up()
    return bank.read(_count_all)


def _count_all(view: IndexView) -> Stats:
    count, size, archived, passages = document_rows.count_totals(view.manifest)
    links = count_problems(view)
    return Stats(
        count=count,
        total_bytes=size,
        total_size=format_bytes(size),
        archived=archived,
        passages=passages,
        tags=document_rows.count_values(view.manifest, "tag"),
        types={
            name or "untyped": number
            for name, number in document_rows.data_counts(view.manifest, "type").items()
        },
        ghosts=links["ghosts"],
        broken_links=links["broken_links"],
        orphans=links["orphans"],
        unindexed=len(document_rows.list_unindexed(view.manifest)),
    )


def format_bytes(size: int) -> str:
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
