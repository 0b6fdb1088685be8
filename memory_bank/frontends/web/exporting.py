"""A bank as strangers may see it: the notes of a commit without sessions and without secrets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from memory_bank.bank.bank import Bank
from memory_bank.bank.open_index import NoteRow, note_of
from memory_bank.bank.revisions import checked_out, revision_of
from memory_bank.base.errors import BadInput
from memory_bank.git.objects import Revision
from memory_bank.memory.overview import RecentChanges
from memory_bank.notes import front_matter
from memory_bank.notes.characters import decode
from memory_bank.notes.names import name_of
from memory_bank.notes.secrets import secrets
from memory_bank.search.index import View
from memory_bank.search.manifest import document_graph, document_rows, entries
from memory_bank.search.manifest.document_rows import DocumentRow
from memory_bank.trust import trust

_OWN = ""
"""Stands for any note in the bank's own folder, whose commits are those of all."""

_SECONDS = 600.0


class NotExported(NamedTuple):
    """Something that is not exported."""

    what: str
    """The path of a note."""
    reason: str


class Export(NamedTuple):
    """A bank for an export, open while the export goes on."""

    bank: Bank
    revision: Revision
    notes: int
    left_out: tuple[NotExported, ...]
    sessions: int
    """Number of notes of sessions, which are left out."""


class Words(NamedTuple):
    """The texts and fields by which a search finds a note."""

    note: NoteRow
    status: str
    """active, archived, or superseded if another note replaces it."""
    headings: tuple[str, ...]
    text: str
    """Its body, as Markdown."""


@contextmanager
def exported(bank: Bank, rev: str = "HEAD") -> Iterator[Export]:
    """Open the notes of a commit as strangers may see them.

    Only what git has is there. Notes of sessions are left out, and so are notes with a secret,
    which are listed. Raises BadInput if git has no note at that commit.
    """
    bank.settings.check_enabled()
    revision = revision_of(bank, rev)
    with checked_out(bank, revision.commit) as copy:
        rows = copy.answer(lambda view: document_rows.all_documents(view.manifest))
        sessions = [row for row in rows if entries.of_session(row)]
        refused = [
            NotExported(row.key, reason)
            for row in rows
            if not entries.of_session(row) and (reason := _secret(copy, row))
        ]
        for key in (*(row.key for row in sessions), *(one.what for one in refused)):
            copy.roots.file(key).unlink()
        left = len(rows) - len(sessions) - len(refused)
        if not left:
            raise BadInput(
                f"{bank.layout.origin.root}: no note at {revision.commit[:12]} can be shown",
                "commit notes that have no secrets",
            )
        copy.catch_up()
        trust.refresh(copy, [_OWN], _SECONDS)  # else answers would depend on the time it takes
        yield Export(copy, revision, left, tuple(refused), len(sessions))


def committed(found: RecentChanges) -> RecentChanges:
    """Return the committed changes; those of notes that were left out have no commit."""
    kept = tuple(one for one in found.changes if one.committed)
    return found._replace(changes=kept, total=found.total - len(found.changes) + len(kept))


def words(bank: Bank) -> list[Words]:
    """Return the searchable texts of each note, sorted by path."""

    def read(view: View) -> list[Words]:
        rows = document_rows.all_documents(view.manifest)
        replaced = document_graph.superseded(view.manifest, [row.number for row in rows])
        headings: dict[str, list[str]] = {}
        for key, _, path in entries.headings(view.manifest):
            headings.setdefault(key, []).append(path[-1])
        return [
            _words(bank, row, headings.get(row.key, ()), replaced=row.number in replaced)
            for row in rows
        ]

    return sorted(bank.answer(read), key=lambda one: one.note.path)


def secret_in(bank: Bank, text: str) -> str:
    """Return the kind and the hash of a secret in a text; empty if it has none."""
    found = secrets.find(text, bank.settings.secrets.allow)
    return f"{found[0].kind} ({secrets.fingerprint(found[0].value)})" if found else ""


def _words(bank: Bank, row: DocumentRow, headings: Sequence[str], *, replaced: bool) -> Words:
    text = decode(bank.store.read_bytes(row.key)).text
    note = note_of(row._replace(title=row.title or name_of(row.key)))
    return Words(
        note,
        "archived" if row.hidden else "superseded" if replaced else "active",
        tuple(dict.fromkeys(one for one in headings if one != note.title)),
        front_matter.split(text).body,
    )


def _secret(bank: Bank, row: DocumentRow) -> str:
    text = decode(bank.store.read_bytes(row.key)).text
    return secrets.why_private(row.key, text, bank.settings.secrets.allow)
