"""Folders of notes: their files, signatures, changes and dates."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from memory_bank.errors import NoBank
from memory_bank.inotify import InotifyQueue
from memory_bank.notes import files, folders
from memory_bank.notes.file_scan import UNKNOWN, StatSignature, look, scan, trusted
from memory_bank.notes.folders import Entry
from memory_bank.notes.note import Meta
from memory_bank.source import Committed, Dates, Scan, Signature

_WRITING_SECONDS = 2.0
"""Seconds after the creation date of a new file in which its mtime is not an update."""


class History(Protocol):
    """The history of files in the repository."""

    def of(self, path: str) -> Committed | None:
        """Return the commits of a file, as of the last refresh; None if there are none."""

    @property
    def known(self) -> bool:
        """Whether there is a history that could be read."""

    def same(self, data: bytes, blob: bytes) -> bool:
        """Tell whether bytes are the content of a blob."""

    def refresh(self, *, again: bool = False) -> bool:
        """Read new commits; tell whether anything changed."""

    def close(self) -> None:
        """Close all files."""


class Root:
    """A folder of notes. Its keys are the paths of the notes below it, after its prefix."""

    def __init__(
        self,
        folder: Path,
        prefix: str = "",
        *,
        writable: bool = True,
        history: History | None = None,
    ) -> None:
        """Read the notes in `folder`, which is resolved; `history` has the dates of undated notes.

        `prefix` is empty, or ends in a slash: "docs/adr/".
        """
        self.folder = folder
        self.prefix = prefix
        self.writable = writable
        self.leftover: list[str] = []
        """Temporary files that the last scan found."""
        self._history = history
        self._queue: InotifyQueue | None = None
        self._called = self._unavailable = False

    def scan(self) -> Scan:
        """Return the signatures of all notes.

        Raises StorageFailed for a folder that can't be read (its notes are not gone), NoBank if the
        bank's own folder is missing. Another folder that is missing is refused.
        """
        try:
            found = scan(self.folder)
        except NoBank:
            if not self.prefix:
                raise
            return Scan(refused={self.prefix: "there is no such folder"})
        self.leftover = found.leftover
        refused = {self.prefix + path: reason for path, reason in found.refused.items()}
        return Scan(self._signatures(found.files), refused)

    def look(self, keys: Collection[str]) -> Scan | None:
        """Return the signatures of some notes; None if a file exists but can't be a note."""
        found = look(self.folder, [self._path(key) for key in keys])
        return None if found is None else Scan(self._signatures(found.files))

    def changes(self) -> frozenset[str] | None:
        """Return the notes that inotify reports as changed since the last call.

        Watching starts at the second call, since a process with one query needs none.
        """
        reported = self._queue.read() if self._queue else None
        if reported is None:
            self._watch()
            return None
        return frozenset(self.prefix + path for path in reported) if self.prefix else reported

    def refresh(self, *, again: bool = False) -> bool:
        """Read the dates of undated notes from git; tell whether any changed."""
        return self._history is not None and self._history.refresh(again=again)

    def held(self, key: str) -> AbstractContextManager[Entry]:
        """Open the folder of a note, as `folders.held` does."""
        return folders.held(self.folder, self._path(key))

    def read(self, key: str) -> bytes | None:
        """Return the bytes of a note; None if it is gone. Raises BadName."""
        return files.read_in(self.folder, self._path(key))

    def close(self) -> None:
        """Stop watching, and close all files."""
        if self._queue is not None:
            self._queue.close()
            self._queue = None
        if self._history is not None:
            self._history.close()
        self._called = self._unavailable = False

    def signature(self, key: str, found: StatSignature) -> Signature:
        """Return the signature of a file and of its commits, if it may be recorded."""
        return self._signature(self._path(key), found) if trusted(found) else UNKNOWN

    def dates(self, meta: Meta, key: str, found: StatSignature, data: bytes) -> Dates:
        """Return when a note was created and updated.

        Created: the date in the front matter, else of the first commit, else the file's mtime.
        Updated: the latest of the date in the front matter (else the creation), of the last commit,
        and, if the file differs from HEAD, of its mtime, which a checkout or a copy also sets.
        """
        committed = self._history.of(self._path(key)) if self._history else None
        mtime = found[1] / 1e9
        if meta.created_at is not None:
            created = meta.created_at.timestamp()
        else:
            created = committed.first if committed else mtime
        moments = [meta.updated_at.timestamp() if meta.updated_at else created]
        if committed and committed.last > committed.first:
            moments.append(committed.last)
        if self._edited(committed, data, meta, created, mtime):
            moments.append(mtime)
        return Dates(created, max(moments))

    def _edited(
        self, committed: Committed | None, data: bytes, meta: Meta, created: float, mtime: float
    ) -> bool:
        """Tell whether a file's mtime is that of an edit."""
        if self._history is None:
            return False
        if committed and committed.blob:
            return not self._history.same(data, committed.blob)
        return (
            meta.updated_at is None and mtime > created + _WRITING_SECONDS and self._history.known
        )

    def _watch(self) -> None:
        if self._queue is not None:
            self._queue.close()
            self._queue = None
        if self._called and not self._unavailable:
            self._queue = InotifyQueue.at(self.folder)
            self._unavailable = self._queue is None
        self._called = True

    def _path(self, key: str) -> str:
        return key.removeprefix(self.prefix)

    def _signatures(self, found: Mapping[str, StatSignature]) -> dict[str, Signature]:
        return {self.prefix + path: self._signature(path, stat) for path, stat in found.items()}

    def _signature(self, path: str, found: StatSignature) -> Signature:
        committed = self._history.of(path) if self._history else None
        more = (committed.first, committed.last, committed.blob.hex()) if committed else ()
        return ".".join(map(str, (*found, *more)))
