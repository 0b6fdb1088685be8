"""The folder of a static site: only what a site has made before is replaced or removed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from memory_bank.actions import output_files
from memory_bank.errors import BadInput, StorageFailed
from memory_bank.filenames import outside
from memory_bank.frontends.rendering import document

LIST = ".memory-bank-site.json"
"""The file that lists what was made, so that the next time can remove it."""
_FORMAT = 1


class SiteFolder:
    """A folder that becomes a static site."""

    def __init__(self, folder: Path) -> None:
        """Take a folder that is empty, or has a static site; raise BadInput for any other.

        Raises BadInput, too, if a symbolic link of a repository leads to it, and StorageFailed.
        """
        self._folder = output_files.folder(folder)
        try:
            self._old = self._listed()
        except OSError as error:
            raise self._failed("", error) from error
        self._new: set[str] = set()

    def write(self, name: str, data: bytes) -> None:
        """Write a file, unless it is as it should be.

        Raises BadInput if a symbolic link is on the way to it, StorageFailed.
        """
        self._new.add(name)
        self._put(name, data)

    @property
    def count(self) -> int:
        """The number of files that were written or stayed."""
        return len(self._new)

    def finish(self, about: Mapping[str, object]) -> tuple[str, ...]:
        """List what was made, remove what was made before only, and return that."""
        gone = sorted(self._old - self._new)
        for name in gone:
            self._remove(name)
        self._new.discard(LIST)
        listed = {"format": _FORMAT, **about, "files": sorted(self._new)}
        self._put(LIST, f"{document(listed, indent=1)}\n".encode())
        return tuple(gone)

    def _listed(self) -> set[str]:
        """Return the files that the list of the site before has; raise BadInput, OSError."""
        names = self._folder.names()
        if not names:
            return set()
        if LIST in names and self._folder.may_be_tracked(LIST):
            raise BadInput(
                f"git tracks {self._folder.shown / LIST}, which says what may be replaced: somebody"
                " else may have written it, so that nothing was written",
                "name another folder; if the list is yours: git rm --cached, and ignore it",
            )
        try:
            found = json.loads(output_files.read(self._folder, LIST))
            files = found["files"] if found["format"] == _FORMAT else None
        except (ValueError, KeyError, TypeError, RecursionError):
            files = None
        if not isinstance(files, list) or not all(isinstance(one, str) for one in files):
            raise BadInput(
                f"{self._folder.shown} is not empty, and has no static site: nothing was written",
                "name an empty or a new folder with --output",
            )
        return {one for one in files if not outside(one)}

    def _put(self, name: str, data: bytes) -> None:
        try:
            with self._folder.file(name, make=True) as file:
                output_files.put(file, data)
        except OSError as error:
            raise self._failed(name, error) from error

    def _remove(self, name: str) -> None:
        """Remove a file, and the folders that it leaves empty; what is behind a link stays."""
        try:
            with suppress(BadInput, FileNotFoundError, NotADirectoryError):
                with self._folder.file(name) as file:
                    file.unlink()
                self._remove_empty(name.rpartition("/")[0])
        except OSError as error:
            raise self._failed(name, error) from error

    def _remove_empty(self, folder: str) -> None:
        while folder:
            with self._folder.file(folder) as place:
                try:
                    place.rmdir()
                except OSError:
                    return  # other files are in it
            folder = folder.rpartition("/")[0]

    def _failed(self, name: str, error: OSError) -> StorageFailed:
        place = self._folder.shown / name
        return StorageFailed(f"{place} can't be written: {error.strerror}", "check the folder")
