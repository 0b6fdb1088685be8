"""Folders of notes: their files, signatures, changes and dates; which of them has a note."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from memory_bank.base.dates import in_name
from memory_bank.base.documents import Committed, Dates, Scan, Signature
from memory_bank.base.errors import BadName, Hint, NoteExists, NoteReadOnly
from memory_bank.base.filenames import StatSignature, trusted
from memory_bank.base.inotify import InotifyQueue
from memory_bank.notes import files, folders
from memory_bank.notes.files import UNKNOWN, look, scan
from memory_bank.notes.folders import FolderEntry
from memory_bank.notes.note import Meta

if TYPE_CHECKING:
    from memory_bank.notes.other_roots import IncludedRoot, PrivateRoot


_WRITING_SECONDS = 2.0
"""Seconds after the creation date of a new file in which its mtime is not an update."""

SESSIONS = "sessions/"
"""Start of the keys of sessions' notes, which may be in the private root."""


class FileHistory(Protocol):
    """The history of files in the repository."""

    def of(self, path: str) -> Committed | None:
        """Return the commits of a file, as of the last refresh; None if there are none."""

    @property
    def paths(self) -> Collection[str]:
        """The paths of all files that were ever committed, as of the last refresh."""

    @property
    def known(self) -> bool:
        """Whether there is a history that could be read."""

    def same(self, data: bytes, blob: bytes) -> bool:
        """Tell whether bytes are the content of a blob."""

    def refresh(self, *, again: bool = False) -> bool:
        """Read new commits; tell whether anything changed."""

    def close(self) -> None:
        """Close all files."""


class Watched(NamedTuple):
    """A folder to watch for changes of notes."""

    folder: Path
    recursive: bool = True


class NoteRoot:
    """The folder of a bank. The keys of its notes are their paths below it."""

    def __init__(self, folder: Path, *, history: FileHistory | None = None) -> None:
        """Read the notes in `folder`, which is resolved; `history` has dates of undated notes."""
        self._folder = folder
        self.leftover: list[str] = []
        """Temporary files that the last scan found."""
        self._history = history
        self._queue: InotifyQueue | None = None
        self._called = self._unavailable = False

    @property
    def folder(self) -> Path:
        """The folder, resolved."""
        return self._folder

    def scan(self) -> Scan:
        """Return the signatures of all notes.

        Raises StorageFailed for a folder that can't be read (its notes are not gone), NoBank if the
        folder is missing.
        """
        found = scan(self.folder)
        self.leftover = found.leftover
        return Scan(self._signatures(found.files), found.refused)

    def look(self, keys: Collection[str]) -> Scan | None:
        """Return the signatures of some notes; None if a file exists but can't be a note."""
        found = look(self.folder, keys)
        return None if found is None else Scan(self._signatures(found.files))

    def changes(self) -> frozenset[str] | None:
        """Return the notes that inotify reports as changed since the last call.

        Watching starts at the second call, since a process with one query needs none.
        """
        reported = self._queue.read() if self._queue else None
        if reported is None:
            self._watch()
        return reported

    def watched(self) -> list[Watched]:
        """Return the folders whose changes may change notes."""
        return [Watched(self.folder)]

    def has(self, key: str) -> bool:
        """Tell whether there may be a file with the path of a note, or something else."""
        try:
            return folders.stat_of(self.folder, key) is not None
        except OSError:
            return True  # reading it says why it can't be read

    def refresh(self, *, again: bool = False) -> bool:
        """Read the dates of undated notes from git; tell whether any changed."""
        return self._history is not None and self._history.refresh(again=again)

    def committed(self) -> Collection[str]:
        """Return the paths of all files that were ever committed, as of the last refresh."""
        return () if self._history is None else self._history.paths

    def commits_of(self, key: str) -> Committed | None:
        """Return the commits of a note's file, as of the last refresh; None if there are none."""
        return self._history.of(key) if self._history else None

    def held(self, key: str) -> AbstractContextManager[FolderEntry]:
        """Open the folder of a note, as `folders.held` does."""
        return folders.held(self.folder, key)

    def read(self, key: str) -> bytes | None:
        """Return the bytes of a note; None if it is gone. Raises BadName."""
        return files.read_in(self.folder, key)

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
        return self._signature(key, found) if trusted(found) else UNKNOWN

    def dates(self, meta: Meta, key: str, found: StatSignature, data: bytes) -> Dates:
        """Return when a note was created and updated.

        Created: the date in the front matter, else in the name, else of the first commit, else the
        file's mtime.
        Updated: the latest of the date in the front matter (else the creation), of the last commit,
        and, if the file differs from HEAD, of its mtime, which a checkout or a copy also sets.
        """
        committed = self._history.of(key) if self._history else None
        mtime = found[1] / 1e9
        stated = meta.created_at or in_name(key)
        if stated is not None:
            created = stated.timestamp()
        else:
            created = committed.first if committed else mtime
        moments = [meta.updated_at.timestamp() if meta.updated_at else created]
        if committed and committed.last > committed.first:
            moments.append(committed.last)
        if self._edited(committed, data, meta, created, mtime):
            moments.append(mtime)
        return Dates(created, max(moments), stated is not None)

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

    def _signatures(self, found: Mapping[str, StatSignature]) -> dict[str, Signature]:
        return {path: self._signature(path, stat) for path, stat in found.items()}

    def _signature(self, path: str, found: StatSignature) -> Signature:
        committed = self._history.of(path) if self._history else None
        more = (committed.first, committed.last, committed.blob.hex()) if committed else ()
        return ".".join(map(str, (*found, *more)))


class Roots:
    """The folder of a bank, the private folder of sessions, and included files of the project.

    If several have a file of one path, the key is that of the bank's note, else the private one's.
    """

    def __init__(
        self,
        bank: NoteRoot,
        prefix: str = "",
        included: IncludedRoot | None = None,
        private: PrivateRoot | None = None,
    ) -> None:
        """Take the roots, and the bank's folder below the project: ".memories/", or empty."""
        self.bank = bank
        self.prefix = prefix
        self.included = included
        self.private = private

    def all(self) -> list[NoteRoot]:
        """Return the roots, the bank's first."""
        return [root for root in (self.bank, self.private, self.included) if root is not None]

    def written(self) -> list[NoteRoot]:
        """Return the roots in which notes are made and removed: the bank's and the private one."""
        return [root for root in (self.bank, self.private) if root is not None]

    def of(self, key: str) -> NoteRoot:
        """Return the root of a note; that of a new note for one that does not exist."""
        return self.included if self.included and self.is_included(key) else self.home(key)

    def home(self, key: str) -> NoteRoot:
        """Return the root of a note that is not included, or of a new one."""
        return self.private if self.private and self.is_private(key) else self.bank

    def is_private(self, key: str) -> bool:
        """Tell whether a note is in this machine's private state, or would be if it were new."""
        root = self.private
        if root is None or not key.startswith(SESSIONS) or self.bank.has(key):
            return False
        taken = self.included is not None and self.included.owns(key) and self.included.has(key)
        return root.has(key) or (not taken and root.takes_new())

    def is_included(self, key: str) -> bool:
        """Tell whether a note is an included file, or would be if the file existed."""
        owner = self.included
        if owner is None or not owner.owns(key) or self.bank.has(key):
            return False
        return self.private is None or not (key.startswith(SESSIONS) and self.private.has(key))

    def place(self, key: str) -> str:
        """Return the path of a note's file below the project; private ones are as in the bank."""
        return key if self.is_included(key) else self.prefix + key

    def file(self, key: str) -> Path:
        """Return a note's file."""
        return self.of(key).folder / key

    def key_of(self, file: str) -> str:
        """Return the key of a private note by its file's absolute path; empty for other paths."""
        if self.private is None or not Path(file).is_absolute():
            return ""
        folder = f"{self.private.folder}{os.sep}"
        forms = (os.path.normpath(file), os.path.realpath(file))
        found = next((form for form in forms if form.startswith(folder + SESSIONS[:-1])), "")
        return found.removeprefix(folder).replace(os.sep, "/")

    def writable(self, key: str) -> bool:
        """Tell whether tools may change a note's text."""
        return not self.is_included(key) or bool(self.included and self.included.writable(key))

    def check_writable(self, key: str, *, moving: bool = False) -> None:
        """Raise NoteReadOnly if a note's text may not be changed, or its file not moved."""
        owner = self.included
        if owner is None or not self.is_included(key):
            return
        if not owner.writable(key):
            raise NoteReadOnly(
                f"{key} is read-only: it is a file of the project, included by {owner.origin}",
                Hint.CHANGE_INCLUDED,
                file=str(owner.folder / key),
            )
        if moving:
            raise NoteReadOnly(
                f"{key} is a file of the project, included by {owner.origin}:"
                " memory-bank changes its text, but does not move or remove it",
                Hint.MOVE_INCLUDED,
            )

    def check_move(self, old: str, new: str, *, root: NoteRoot | None = None) -> None:
        """Raise BadName for a move out of this machine's private state, or into it.

        `root` is that of the old note, if it is in the trash.
        """
        if (root or self.home(old)) is self.private:
            if not new.startswith(SESSIONS):
                raise BadName(
                    f"{old} can't become {new}: it is in this machine's private state, not in the"
                    " bank",
                    Hint.PROMOTE,
                )
        elif not old.startswith(SESSIONS) and self.is_private(new):
            raise BadName(
                f"{old} can't become {new}: new notes in {SESSIONS} are in this machine's private"
                " state, not in the bank",
                Hint.KEEP_IN_BANK,
            )

    def check_merge(self, paths: Sequence[str], target: str) -> None:
        """Raise BadName unless all notes that become one are in the bank, or all are private."""
        for path in paths:
            self.check_move(path, target)
        homes = {self.home(path): path for path in paths}
        if len(homes) > 1:
            raise BadName(
                f"{' and '.join(homes.values())} can't become one note: one of them is in this"
                " machine's private state, not in the bank",
                Hint.PROMOTE,
            )

    def taken(self, key: str) -> NoteExists | None:
        """Return the error for a name that an included file has; None if there is none."""
        if self.included is None or not (self.is_included(key) and self.included.has(key)):
            return None
        return NoteExists(
            f"{key} is taken: it is a file of the project, included by {self.included.origin}",
            Hint.CHOOSE_FREE_NAME,
        )

    def close(self) -> None:
        """Stop watching, and close all files."""
        for root in self.all():
            root.close()
