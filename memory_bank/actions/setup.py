"""Create a bank."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from memory_bank import config, layout
from memory_bank.errors import StorageFailed
from memory_bank.filenames import FOLDER
from memory_bank.notes import files


@dataclass(frozen=True, slots=True)
class Made:
    """A bank that exists now."""

    bank: str
    created: tuple[str, ...]
    """New files."""


def init(folder: str | Path | None = None, *, user: str = "") -> Made:
    """Create `.memories` in a folder (the working directory), or the user's own bank of a name.

    With the setting `storage_strategy = "user"`, a project's bank is a user bank with the project's
    name. Existing files are not changed. Raises BadName, NoBank for a `.memories` that is a
    symbolic link, StorageFailed.
    """
    place = Path(folder or Path.cwd()).resolve()
    if not user and folder is None and config.load().memory.storage_strategy == "user":
        user = layout.project_name(place)
    root = layout.named(user) if user else place / FOLDER
    if root.is_symlink() and not user:
        raise layout.linked(root, root)
    wanted = {
        root / ".gitignore": layout.GITIGNORE,
        root / "config.toml": config.template(),
    }
    created = []
    try:
        files.make_folder(root)
    except OSError as error:
        raise StorageFailed(f"{root} can't be created: {error.strerror}") from error
    for file, text in wanted.items():
        if not file.exists():
            files.replace(file, text.encode(), files.ABSENT)
            created.append(str(file))
    return Made(str(root), tuple(created))
