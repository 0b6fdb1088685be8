"""The folder of a static site: only what a site has made before is replaced or removed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from memory_bank.errors import BadInput, StorageFailed
from memory_bank.frontends.rendering import document

LIST = ".memory-bank-site.json"
"""The file that lists what was made, so that the next time can remove it."""
_FORMAT = 1


class SiteFolder:
    """A folder that becomes a static site."""

    def __init__(self, folder: Path) -> None:
        """Take a folder that is empty, or has a static site; raise BadInput for any other."""
        self.folder = folder
        self._old = self._listed()
        self._new: set[str] = set()

    def write(self, name: str, data: bytes) -> None:
        """Write a file, unless it is as it should be; raise StorageFailed."""
        file = self.folder / name
        self._new.add(name)
        try:
            if file.is_symlink():
                file.unlink()
            elif file.is_file() and file.read_bytes() == data:
                return
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
        except OSError as error:
            raise _failed(file, error) from error

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
        text = document(listed, indent=1)
        try:
            (self.folder / LIST).write_text(f"{text}\n", encoding="utf-8")
        except OSError as error:
            raise _failed(self.folder / LIST, error) from error
        return tuple(gone)

    def _listed(self) -> set[str]:
        try:
            if not self.folder.exists() or not any(self.folder.iterdir()):
                return set()
            found = json.loads((self.folder / LIST).read_text(encoding="utf-8"))
            files = found["files"] if found["format"] == _FORMAT else None
        except (OSError, ValueError, KeyError, TypeError):
            files = None
        if not isinstance(files, list) or not all(isinstance(one, str) for one in files):
            raise BadInput(
                f"{self.folder} is not empty, and has no static site: nothing was written",
                "name an empty or a new folder with --output",
            )
        return {one for one in files if _is_inside(one)}

    def _remove(self, name: str) -> None:
        file = self.folder / name
        if any(place.is_symlink() for place in file.parents if place != self.folder.parent):
            return
        try:
            file.unlink(missing_ok=True)
            for place in file.parents:
                if place == self.folder or any(place.iterdir()):
                    break
                place.rmdir()
        except OSError as error:
            raise _failed(file, error) from error


def _is_inside(name: str) -> bool:
    return (
        bool(name) and not name.startswith("/") and "\\" not in name and ".." not in name.split("/")
    )


def _failed(file: Path, error: OSError) -> StorageFailed:
    return StorageFailed(f"{file} can't be written: {error.strerror}", "check the folder")
