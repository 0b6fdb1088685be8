"""The pictures that notes show."""

from __future__ import annotations

from stat import S_ISREG

from memory_bank.bank.bank import Bank
from memory_bank.base.errors import FileNotFound, Hint
from memory_bank.code.lookup import path_below
from memory_bank.git import repository
from memory_bank.notes.storage import files
from memory_bank.notes.storage.folders import read_stat

_PICTURES = {
    "avif": "avif", "bmp": "bmp", "gif": "gif", "jpeg": "jpeg", "jpg": "jpeg", "png": "png",
    "svg": "svg+xml", "webp": "webp",
}  # fmt: skip
"""The suffixes of pictures, with what their media types have after `image/`."""

_LARGEST_PICTURE = 20_000_000
"""Bytes of a picture that is read."""


def picture_type(path: str) -> str:
    """Return the media type of a picture, by the name of its file; empty for another file."""
    name = _PICTURES.get(path.rpartition(".")[2].lower())
    return f"image/{name}" if name else ""


def read_picture(bank: Bank, path: str) -> bytes:
    """Return a picture of the work tree, or of the project outside git.

    It must be a file that git tracks, or would track, or one of the bank's folder. Raises BadInput
    for a path that leads out, FileNotFound for any other file.
    """
    tree = repository.find_worktree(bank.layout.project)
    base = tree or bank.layout.project
    path = path_below(base, path)
    file = base / path
    is_own = file.is_relative_to(bank.layout.root) and not any(
        part.startswith(".") for part in file.relative_to(bank.layout.root).parts
    )
    if picture_type(path) and (is_own or (tree and repository.list_trackable(tree, [file]))):
        stat = read_stat(base, path)
        if stat is not None and S_ISREG(stat.st_mode) and stat.st_size <= _LARGEST_PICTURE:
            data = files.read_in(base, path)
            if data is not None:
                return data
    raise FileNotFound(f"there is no picture {path}", Hint.CHECK_BANK)
