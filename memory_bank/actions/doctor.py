"""Look a bank over: what is not indexed, what could not be read, what answers are missing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace

from memory_bank import notes
from memory_bank.actions.linked_notes import LinkShown
from memory_bank.actions.navigate import broken
from memory_bank.bank import Bank, View
from memory_bank.config import Settings
from memory_bank.errors import MemoryBankError
from memory_bank.index.report import Progress, SyncReport
from memory_bank.inotify import problem
from memory_bank.layout import LEFT_ALONE
from memory_bank.manifest import documents
from memory_bank.notes import names
from memory_bank.repo import git


@dataclass(frozen=True, slots=True)
class Unindexed:
    """A file that is not in the index, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class FaultShown:
    """Something in an indexed file that could not be read as it stands."""

    path: str
    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class Duplicates:
    """Notes that claim the same id."""

    note_id: str
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SecretShown:
    """A place in a note where a secret stands; its value is told nowhere."""

    path: str
    line: int
    kind: str
    hash: str
    """What `secrets.allow` names it by."""


@dataclass(frozen=True, slots=True)
class Health:
    """The state of a bank."""

    healthy: bool = field(init=False)
    """Whether there is nothing to repair."""
    bank: str
    notes: int
    passages: int
    unindexed: tuple[Unindexed, ...]
    faults: tuple[FaultShown, ...]
    broken_links: tuple[LinkShown, ...]
    odd_names: tuple[Unindexed, ...]
    """Notes whose names no new note may have, and why: they are read all the same."""
    same_ids: tuple[Duplicates, ...]
    secrets: tuple[SecretShown, ...]
    """Keys, tokens and passwords that stand in notes."""
    repaired: tuple[str, ...]
    """What a killed process had left half done, or was damaged, and is repaired just now."""
    waiting: int
    """Passages without a vector."""
    problem: str | None
    index: str
    """The folder of the index: in the bank, or in the user's cache."""
    left_alone: str | None
    """Why the index is not in the bank: there is another one, which may have come with it."""
    polling: str | None
    """Why changes can't be heard of, so that all files are looked at again and again."""
    git: str | None
    """Why git tells no dates, where there is a repository."""
    embedder: str
    max_note_bytes: int

    @property
    def healed(self) -> tuple[str, ...]:
        """Return `repaired` by its former name, for this version."""
        return self.repaired

    def __post_init__(self) -> None:
        """Sum up."""
        wrong = (
            self.unindexed,
            self.faults,
            self.broken_links,
            self.same_ids,
            self.secrets,
            self.waiting,
        )
        object.__setattr__(self, "healthy", not any((*wrong, self.problem)))


def doctor(bank: Bank, progress: Progress | None = None) -> Health:
    """Check the indices against the files, repair them, and list what only a person can repair."""
    report = bank.sync(progress)
    health = bank.read(lambda view: _health(view, bank, bank.settings, report))
    return replace(health, secrets=tuple(_secrets(bank)))


def _health(view: View, bank: Bank, settings: Settings, report: SyncReport) -> Health:
    notes, _, _, passages = documents.totals(view.manifest)
    return Health(
        bank=str(bank.layout.root),
        notes=notes,
        passages=passages,
        unindexed=tuple(Unindexed(*row) for row in documents.unindexed(view.manifest)),
        faults=tuple(FaultShown(*row) for row in documents.faults(view.manifest)),
        broken_links=broken(view),
        odd_names=tuple(
            Unindexed(path, reason)
            for path in documents.hashes(view.manifest)
            if (reason := names.oddity(path))
        ),
        same_ids=tuple(Duplicates(*row) for row in documents.same_ids(view.manifest)),
        secrets=(),
        repaired=tuple(report.repaired),
        waiting=report.waiting,
        problem=report.problem or None,
        index=str(bank.layout.index),
        left_alone=LEFT_ALONE if bank.layout.left_alone else None,
        polling=problem(bank.layout.root) or None,
        git=git.problem(bank.layout.root) or None,
        embedder=settings.memory.embedder,
        max_note_bytes=settings.memory.max_note_bytes,
    )


def _secrets(bank: Bank) -> Iterator[SecretShown]:
    """Look for secrets in all files of the bank, those that are not indexed too."""
    for path in sorted(bank.store.scan().files):
        with suppress(MemoryBankError):  # it went meanwhile, or can't be read: listed elsewhere
            text = notes.decoding.decode(bank.store.read_bytes(path)).text
            for secret in notes.secrets.find(text, bank.settings.secrets.allow):
                line = notes.secrets.line(text, secret.start)
                yield SecretShown(path, line, secret.kind, notes.secrets.fingerprint(secret.value))
