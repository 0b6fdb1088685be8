"""The folders of notes of a copy: what is in them is known from git, and nobody may change it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import NamedTuple

from memory_bank.errors import NoteReadOnly
from memory_bank.notes.included import IncludedRoot
from memory_bank.notes.note import Meta
from memory_bank.notes.roots import History, Root, Roots
from memory_bank.source import Dates, Scan
from memory_bank.stat_signature import StatSignature


class Listing(NamedTuple):
    """The notes of a folder as of a revision."""

    blobs: Mapping[str, str]
    """The object ids of notes by their keys."""
    refused: Mapping[str, str]
    """Files that can't be notes, with the reason."""
    when: float
    """Time of the revision in seconds since the epoch."""


class _ListedRoot(Root):
    """A folder whose notes a listing has."""

    listing: Listing

    def scan(self) -> Scan:
        """Return the signatures of all notes, without a look at the files."""
        blobs = self.listing.blobs
        return Scan({key: self._of(key, blobs[key]) for key in blobs}, dict(self.listing.refused))

    def look(self, keys: Collection[str]) -> Scan | None:
        """Return the signatures of some notes."""
        blobs = self.listing.blobs
        return Scan({key: self._of(key, blobs[key]) for key in keys if key in blobs})

    def changes(self) -> frozenset[str] | None:
        """Return no changes after the first call."""
        first, self._called = not self._called, True
        return None if first else frozenset()

    def signature(self, key: str, found: StatSignature) -> str:
        """Return the signature of a note: its object id and its dates."""
        del found
        return self._of(key, self.listing.blobs.get(key, ""))

    def dates(self, meta: Meta, key: str, found: StatSignature, data: bytes) -> Dates:
        """Return when a note was created and updated; the revision's time is that of all files."""
        size, _, changed, number = found
        return super().dates(meta, key, (size, int(self.listing.when * 1e9), changed, number), data)

    def _of(self, key: str, blob: str) -> str:
        committed = self.commits_of(key)
        return f"{blob}.{committed.first}.{committed.last}" if committed else blob


class CopiedRoot(_ListedRoot):
    """A copy of the folder of a bank."""

    def __init__(self, folder: Path, listing: Listing, history: History) -> None:
        """Use the notes in `folder` that a listing has."""
        super().__init__(folder, history=history)
        self.listing = listing


class CopiedIncludes(_ListedRoot, IncludedRoot):
    """Copies of included files."""

    def __init__(
        self, folder: Path, paths: Collection[str], listing: Listing, history: History, bank: str
    ) -> None:
        """Use the files in `folder`, a copy of the project, that a listing has."""
        IncludedRoot.__init__(
            self, folder, paths, bank=bank, origin="the settings of that revision", history=history
        )
        self.listing = listing


class CopiedRoots(Roots):
    """The folders of notes of a copy."""

    def writable(self, key: str) -> bool:
        """Tell that no note may be changed."""
        del key
        return False

    def check_writable(self, key: str, *, moving: bool = False) -> None:
        """Raise NoteReadOnly."""
        del moving
        raise NoteReadOnly(
            f"{key} is as of another revision: it can't be changed", "change the note itself"
        )
