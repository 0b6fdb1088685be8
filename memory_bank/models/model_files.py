"""Files of weights: their folder, verification, and atomic installation."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from memory_bank.errors import EmbedderUnavailable, StorageFailed
from memory_bank.layout import MODELS, user_folder


def models_folder() -> Path:
    """Return the folder of installed models, which may not exist."""
    return user_folder("data") / MODELS


@dataclass(frozen=True, slots=True)
class Pinned:
    """A file that must have exactly these bytes; `name` is its path below its folder."""

    name: str
    size: int
    sha256: str

    def check_size(self, folder: Path, hint: str) -> Path:
        """Return the file's path; raise EmbedderUnavailable when it is missing or of wrong size."""
        path = folder / self.name
        try:
            size = path.stat().st_size
        except OSError as error:
            raise EmbedderUnavailable(f"{path}: {error.strerror}", hint) from error
        if size != self.size:
            raise EmbedderUnavailable(f"{path}: has {size} bytes, not {self.size}", hint)
        return path

    def check_hash(self, folder: Path, hint: str) -> Path:
        """Return the file's path; raise EmbedderUnavailable if its hash differs."""
        path = self.check_size(folder, hint)
        try:
            with path.open("rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise EmbedderUnavailable(f"{path}: {error.strerror}", hint) from error
        if found != self.sha256:
            raise EmbedderUnavailable(
                f"{path}: SHA-256 is {found}, not the pinned {self.sha256}", hint
            )
        return path


def move_into_place(made: Path, target: Path) -> None:
    """Rename a finished file atomically and durably; raise StorageFailed."""
    try:
        with made.open("rb+") as file:
            os.fsync(file.fileno())
        made.replace(target)
        if os.name == "posix":
            folder = os.open(target.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
    except OSError as error:
        raise storage_failed(target, error) from error


def storage_failed(path: Path, error: OSError) -> StorageFailed:
    """Return the error for a file that can't be written."""
    return StorageFailed(
        f"{path}: can't be written: {error.strerror or error}",
        "make room or repair the permissions, or set XDG_DATA_HOME to another folder",
    )
