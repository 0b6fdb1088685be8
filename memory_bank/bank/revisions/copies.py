"""Keep a copy of a revision's files in a folder, and change it by the differences only."""

from __future__ import annotations

import errno
import json
import os
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from memory_bank.bank.revisions.revision_files import WantedFiles
from memory_bank.base.documents import Dates, Scan
from memory_bank.base.errors import NoteReadOnly, StorageFailed
from memory_bank.base.filenames import StatSignature
from memory_bank.base.paths import Layout, private_folder, without_links
from memory_bank.git import objects
from memory_bank.notes.note import Meta
from memory_bank.notes.roots import FileHistory, IncludedRoot, NoteRoot, Roots

_FILE = "files.json"

_VERSION = 1

_CHANGING = ""
"""The object id of a file that is being written or removed; a killed process leaves it so."""

_MOST_BYTES = 500_000_000
"""Maximum bytes of all files of one revision that are written anew."""

_NAMES = frozenset({errno.ENAMETOOLONG, errno.EINVAL, errno.EILSEQ, errno.ENOTDIR, errno.EISDIR,
                    errno.EEXIST, errno.ELOOP, errno.ENOENT})  # fmt: skip
"""Errors of a file system that refuses a name."""


class CopiedFiles:
    """The files of a revision in a folder, and a record of which they are."""

    def __init__(self, slot: Path, project: Path) -> None:
        """Keep the files below `project`, and the record in `slot`."""
        self._file = slot / _FILE
        self._project = project
        self.files: dict[str, str] = {}
        """Object ids by path below the project."""
        self.refused: dict[str, str] = {}
        """Files that could not be copied, with the reason."""
        self._left: dict[str, list[object]] = {}
        """Object id, limit and reason of files that were not copied."""
        self.commit = ""
        """The commit whose files they are; empty if that is not known."""
        self._load()

    def differences(self, blobs: Mapping[str, str]) -> int:
        """Count the files that differ from those of a revision."""
        same = sum(self.files.get(path) == one for path, one in blobs.items())
        return len(blobs) + len(self.files) - 2 * same

    def update(self, tree: Path, wanted: WantedFiles, commit: str, max_bytes: int) -> bool:
        """Make the files those of a revision; tell whether any changed.

        Files with more than `max_bytes` are not read. Raises StorageFailed, and BadInput if git
        can't read them.
        """
        left = {
            path: row
            for path, row in self._left.items()
            if wanted.blobs.get(path) == row[0] and row[1] == max_bytes
        }
        gone = [path for path in self.files if path not in wanted.blobs]
        changed = {
            path: one
            for path, one in wanted.blobs.items()
            if self.files.get(path) != one and path not in left
        }
        if gone or changed or left != self._left:
            self.commit, self._left = "", left
            self._mark([*gone, *changed])
            self._remove([*gone, *(path for path in changed if path in self.files)])
            self._write(tree, changed, max_bytes)
        refused = dict(wanted.refused) | {path: str(row[2]) for path, row in self._left.items()}
        if gone or changed or commit != self.commit or refused != self.refused:
            self.commit, self.refused = commit, refused
            self._save()
        return bool(gone or changed)

    def _mark(self, paths: Collection[str]) -> None:
        """Record which files will change, before they do."""
        self.files |= dict.fromkeys(paths, _CHANGING)
        self._save()

    def _remove(self, paths: Collection[str]) -> None:
        folders = set()
        for path in paths:
            file = self._project / path
            try:
                file.unlink()
            except (FileNotFoundError, NotADirectoryError):
                pass
            except OSError as error:
                if error.errno not in _NAMES:
                    raise _failed(file, error) from error
            folders.add(path.rpartition("/")[0])
            self.files.pop(path, None)
        for folder in sorted(folders, key=len, reverse=True):
            self._prune(folder)

    def _prune(self, folder: str) -> None:
        """Remove a folder and those above it, as far as they are empty."""
        while folder:
            try:
                (self._project / folder).rmdir()
            except FileNotFoundError:
                pass
            except OSError:
                return
            folder = folder.rpartition("/")[0]

    def _write(self, tree: Path, blobs: Mapping[str, str], max_bytes: int) -> None:
        paths = defaultdict(list)
        for path, one in blobs.items():
            paths[one].append(path)
            self.files.pop(path, None)
        sizes = objects.sizes_of(tree, paths)
        for path, one, reason in _too_large(paths, sizes, max_bytes):
            self._left[path] = [one, max_bytes, reason]
            sizes.pop(one, None)
        taken = None if self._exact else {_folded(path) for path in self.files}
        for one, data in objects.sized_blobs(tree, sizes, max_bytes):
            for path in paths[one]:
                if taken is not None and _folded(path) in taken:
                    reason = "another note's name differs only in case or in Unicode form"
                else:
                    reason = self._write_file(path, data)
                if reason:
                    self._left[path] = [one, max_bytes, reason]
                else:
                    self.files[path] = one
                    if taken is not None:
                        taken.add(_folded(path))

    def _write_file(self, path: str, data: bytes) -> str:
        """Write a file; return why the file system refuses its name, if it does."""
        file = self._project / path
        try:
            try:
                file.write_bytes(data)
            except FileNotFoundError:
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(data)
        except (OSError, ValueError) as error:
            if isinstance(error, OSError) and error.errno not in _NAMES:
                raise _failed(file, error) from error
            reason = error.strerror if isinstance(error, OSError) else str(error)
            return f"this file system refuses its name: {reason}"
        return ""

    @property
    def _exact(self) -> bool:
        """Whether the file system takes names that differ only in case for different ones."""
        return not self._file.with_name(_FILE.upper()).exists()

    def _load(self) -> None:
        try:
            found: dict[str, Any] = json.loads(self._file.read_bytes())
            if found["version"] != _VERSION:
                raise ValueError
            files, refused, left = (dict(found[key]) for key in ("files", "refused", "left"))
            self.files, self.refused, self._left = files, refused, left
            self.commit = str(found["commit"])
        except (OSError, ValueError, TypeError, KeyError):
            self.files = _there(self._project)

    def _save(self) -> None:
        record = {
            "version": _VERSION, "commit": self.commit, "files": self.files,
            "refused": self.refused, "left": self._left,
        }  # fmt: skip
        temporary = self._file.with_suffix(".new")
        try:
            temporary.write_text(json.dumps(record), encoding="utf-8")
            temporary.replace(self._file)
        except OSError as error:
            raise _failed(self._file, error) from error


def _there(folder: Path) -> dict[str, str]:
    """Return the files in a folder without a record: all of them must be written again."""
    found = {}
    for above, _, names in os.walk(folder):
        for name in names:
            found[Path(above, name).relative_to(folder).as_posix()] = _CHANGING
    return found


def _too_large(
    paths: Mapping[str, Collection[str]], sizes: Mapping[str, int], max_bytes: int
) -> Iterator[tuple[str, str, str]]:
    """Yield the files that are not read: path, object id and reason."""
    total = 0
    for one, some in paths.items():
        size = sizes.get(one)
        if size is None:
            reason = "git doesn't have its content"
        elif size > max_bytes:
            reason = f"{size} bytes, more than the setting max_note_bytes = {max_bytes}"
        elif total + size * len(some) > _MOST_BYTES:
            reason = f"the revision has more than {_MOST_BYTES:,} bytes of notes"
        else:
            total += size * len(some)
            continue
        for path in some:
            yield path, one, reason


def _folded(path: str) -> str:
    return unicodedata.normalize("NFC", path).casefold()


def _failed(file: Path, error: OSError) -> StorageFailed:
    return StorageFailed(
        f"{file} can't be written: {error.strerror}", "check the disk's space and permissions"
    )


class RevisionListing(NamedTuple):
    """The notes of a folder as of a revision."""

    blobs: Mapping[str, str]
    """The object ids of notes by their keys."""
    refused: Mapping[str, str]
    """Files that can't be notes, with the reason."""
    when: float
    """Time of the revision in seconds since the epoch."""


class _ListedRoot(NoteRoot):
    """A folder whose notes a listing has."""

    listing: RevisionListing

    def scan(self) -> Scan:
        """Return the signatures of all notes, without a look at the files."""
        blobs = self.listing.blobs
        return Scan({key: self._of(key, blobs[key]) for key in blobs}, dict(self.listing.refused))

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

    def __init__(self, folder: Path, listing: RevisionListing, history: FileHistory) -> None:
        """Use the notes in `folder` that a listing has."""
        super().__init__(folder, history=history)
        self.listing = listing


class CopiedIncludes(_ListedRoot, IncludedRoot):
    """Copies of included files."""

    def __init__(
        self,
        folder: Path,
        paths: Collection[str],
        listing: RevisionListing,
        history: FileHistory,
        bank: str,
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


_PROJECT, _INDEX, _STATE = "project", "index", "state"


class CopyLayout(Layout):
    """The folders of a copy of a bank as of another revision, all of them in one folder."""

    def __init__(
        self,
        slot: Path,
        origin: Layout,
        names: Callable[[], Collection[str]] = frozenset,
        commit: str = "",
    ) -> None:
        """Keep the copy of the bank at `origin` in the folder `slot`.

        `names` returns the paths of all files that the project had, below the project. `commit` is
        that of the revision; empty for what is staged.
        """
        super().__init__((project_in(slot) / origin.prefix).resolve(), index_in(slot))
        self.slot = slot
        self._origin = origin
        self._names = names
        self._commit = commit

    @property
    def origin(self) -> Layout:
        """The layout of the bank itself."""
        return self._origin

    @property
    def commit(self) -> str:
        """The commit whose files these are; empty for staged ones."""
        return self._commit

    def listed(self) -> Collection[str]:
        """Return the files that the project had, and the folders above them."""
        return self._paths

    def renewed(self) -> Layout:
        """Return the same layout: it is never elsewhere."""
        return self

    def make_index(self) -> None:
        """Make the folder of derived files; nobody else can have made it."""
        without_links(private_folder(self.index))

    def state(self, bank_id: str) -> Path:
        """Return a folder of the copy in place of the bank's private state, so that this stays."""
        del bank_id
        return self.slot / _STATE

    def unused_indices(self) -> list[Path]:
        """Return no folders: the copy has one index."""
        return []

    def project_has(self, path: str) -> bool:
        """Tell whether the project had a file or folder at a path below it."""
        return path in self._paths

    @cached_property
    def _paths(self) -> frozenset[str]:
        """The files, and the folders above them."""
        found: set[str] = set()
        for name in self._names():
            while name and name not in found:
                found.add(name)
                name = name.rpartition("/")[0]  # noqa: PLW2901  (the folder above it)
        return frozenset(found)


def index_in(slot: Path) -> Path:
    """Return the folder of a copy's derived files."""
    return slot / _INDEX


def project_in(slot: Path) -> Path:
    """Return the folder of a copy's project."""
    return slot / _PROJECT
