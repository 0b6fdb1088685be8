"""What changed in the notes of a bank lately, by git and the work tree, and who did it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import NamedTuple

from memory_bank.bank.bank import Bank
from memory_bank.bank.open_index import View
from memory_bank.base.dates import iso_of
from memory_bank.base.filenames import NOTE_SUFFIXES
from memory_bank.git.commits import Change
from memory_bank.notes.names import name_of
from memory_bank.notes.roots import SESSIONS
from memory_bank.search.manifest import document_rows, entries
from memory_bank.search.manifest.document_rows import DocumentRow
from memory_bank.trust import trust
from memory_bank.trust.trust import NoteTrust

_DAY = 86400

_SECONDS = 0.4
"""Most seconds for reading new commits."""

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
    """Of the commit."""


class RecentChanges(NamedTuple):
    """The notes that changed lately, the last change first."""

    since: str
    total: int
    changes: tuple[ChangedLately, ...]
    limits: tuple[str, ...]
    """What git does not know, and why."""


class ChangedKeys(NamedTuple):
    """What the index knows of the notes that changed lately."""

    since: float
    changed: Mapping[str, float]
    """When notes changed, by key."""
    keys: frozenset[str]
    """Of all documents."""


def lately(bank: Bank, days: float = 7, limit: int = 12) -> RecentChanges:
    """Return the notes that were added, changed, archived or removed in the last days.

    Notes of sessions are left out. A note is listed once, with its last change.
    """
    with bank.lock:
        changed = bank.answer(lambda view: changed_keys(view, days))
        limits = trust.refresh(bank, [_OWN], _SECONDS)
        return with_commits(bank, changed, limit, limits)


def changed_keys(view: View, days: float, now: float | None = None) -> ChangedKeys:
    """Return the notes that changed in the last days before a time, as the index knows them."""
    since = (time.time() if now is None else now) - days * _DAY
    keys = document_rows.all_keys(view.manifest)
    changed = entries.changed_notes(view.manifest, since)
    return ChangedKeys(since, changed, frozenset(key for _, key in keys))


def with_commits(
    bank: Bank, found: ChangedKeys, limit: int, limits: tuple[str, ...] = ()
) -> RecentChanges:
    """Add what git knows of changed notes; the caller has called `trust.refresh`."""
    changed, removed = dict(found.changed), dict[str, Change | None]()
    commits = bank.commits(_OWN)
    for change in commits.since(found.since) if commits else ():
        if change.path in found.keys and not change.path.startswith(SESSIONS):
            changed.setdefault(change.path, change.commit.written)
        elif change.status == "D" and _is_note(change.path):
            removed.setdefault(change.path, change)
    for path in (commits.blobs.keys() if commits else set()) - found.keys:
        if _is_note(path):
            removed[path] = None
    newest = sorted(changed, key=lambda key: (-changed[key], key))[:limit]
    rows = bank.read(lambda view: [document_rows.document_at(view.manifest, key) for key in newest])
    shown = [_shown(bank, row, found.since) for row in rows if row is not None]
    shown += [_removed(bank, path, change) for path, change in removed.items()]
    shown.sort(key=lambda one: (one.changed_at, one.path), reverse=True)
    total = len(changed) + len(removed)
    return RecentChanges(iso_of(found.since), total, tuple(shown[:limit]), limits)


def _is_note(path: str) -> bool:
    hidden = any(part.startswith(".") for part in path.split("/"))  # as the scan of files says
    return path.endswith(NOTE_SUFFIXES) and not hidden and not path.startswith(SESSIONS)


def _shown(bank: Bank, row: DocumentRow, since: float) -> ChangedLately:
    note = NoteTrust(bank, row.key)
    first = note.changes[-1] if note.changes else None
    committed = first is not None and note.clean
    origin = note.origin(note.changes[0].commit) if committed else note.uncommitted()
    new = first is None or (first.status == "A" and first.commit.written >= since)
    return ChangedLately(
        path=row.key,
        title=row.title or name_of(row.key),
        change="archived" if row.hidden else "added" if new else "changed",
        changed_at=iso_of(origin.time or max(row.created, row.updated)),
        author=origin.author,
        agent=origin.agent,
        committed=committed,
        subject=origin.subject,
    )


def _removed(bank: Bank, path: str, change: Change | None) -> ChangedLately:
    """Return a removed note; without a commit, HEAD still has it."""
    origin = NoteTrust(bank, path).origin(change.commit) if change else None
    return ChangedLately(
        path=path,
        title=name_of(path),
        change="removed",
        changed_at=iso_of(origin.time if origin else time.time()),
        author=origin.author if origin else "",
        agent=origin.agent if origin else "",
        committed=origin is not None,
        subject=origin.subject if origin else "",
    )
