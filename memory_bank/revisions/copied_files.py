"""Keep a copy of a revision's files in a folder, and change it by the differences only."""

from __future__ import annotations

import errno
import json
import os
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from memory_bank.errors import StorageFailed
from memory_bank.repo import git_objects
from memory_bank.revisions.revision_files import Wanted

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

    def update(self, tree: Path, wanted: Wanted, commit: str, max_bytes: int) -> bool:
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
        sizes = git_objects.sizes_of(tree, paths)
        for path, one, reason in _too_large(paths, sizes, max_bytes):
            self._left[path] = [one, max_bytes, reason]
            sizes.pop(one, None)
        taken = None if self._exact else {_folded(path) for path in self.files}
        for one, data in git_objects.sized_blobs(tree, sizes, max_bytes):
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
