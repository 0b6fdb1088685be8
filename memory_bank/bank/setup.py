"""Create a bank, and find what a project has that it may include."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from memory_bank.bank import note_files
from memory_bank.bank.config_file import with_setting
from memory_bank.base import paths, settings
from memory_bank.base.errors import BadInput, StorageFailed
from memory_bank.base.filenames import FOLDER, NOTE_SUFFIXES, above, outside
from memory_bank.base.paths import Layout, check_free, linked, named
from memory_bank.git import repository
from memory_bank.notes import files
from memory_bank.notes.identity import etag

_FILES = ("CLAUDE.md", "AGENTS.md", "GEMINI.md", ".github/copilot-instructions.md")
"""Instructions for agents."""

_DECISIONS = ("adr", "adrs", "decisions", "architecture/decisions", "architecture/adr")
"""Folders of decision records, in `docs` or `doc`."""

_FOLDERS = (
    *(f"{above}/{name}" for above in ("docs", "doc") for name in _DECISIONS),
    "adr", "adrs", "memory-bank", ".serena/memories",
)  # fmt: skip

_VAULT = ".obsidian"


@dataclass(frozen=True, slots=True)
class MadeBank:
    """A bank that exists now."""

    bank: str
    created: tuple[str, ...]
    """New files."""
    included: tuple[str, ...] = ()
    """What the bank's settings include of the project."""
    found: tuple[IncludeCandidate, ...] = ()
    """What they could include, too."""


@dataclass(frozen=True, slots=True)
class IncludeCandidate:
    """A folder or a file of a project that its bank could include."""

    path: str
    """Relative to the project."""
    notes: int
    """Markdown files in it."""


def init(
    folder: str | Path | None = None, *, user: str = "", include: Sequence[str] = ()
) -> MadeBank:
    """Create `.memories` in a folder (the working directory), or the user's own bank of a name.

    With the setting `storage_strategy = "user"`, a project's bank is a user bank with the project's
    name. Its settings then have the paths `include`, too. Other existing files are not changed.
    Raises BadName, BadInput for a path that can't be included, NoBank for a `.memories` that is a
    symbolic link, StorageFailed.
    """
    place = Path(folder or Path.cwd()).resolve()
    user = user or _strategy(place, folder)
    if user:
        check_free(user)
    root = named(user) if user else place / FOLDER
    if root.is_symlink() and not user:
        raise linked(root, root)
    if user and include:
        raise BadInput(f"the bank {user!r} is in no project: it includes nothing", _NO_INCLUDE)
    paths = [_below(place, path) for path in include]
    created = _make(root)
    if user:
        return MadeBank(str(root), created)
    if paths:
        _include(root / "config.toml", paths)
    had = settings.load(root).memory.include
    return MadeBank(str(root), created, had, candidates(place))


_NO_INCLUDE = "make one in the project, or leave out what to include"


def enclosing(folder: str | Path | None = None) -> str:
    """Return the bank of the project that a folder is part of, but not the root; else nothing.

    A project ends where its git work tree ends.
    """
    place = Path(folder or Path.cwd()).resolve()
    if (place / FOLDER).exists() or _strategy(place, folder):
        return ""
    found, tree = above(str(place)), repository.worktree(place)
    if found is None or (tree is not None and not Path(found).is_relative_to(tree)):
        return ""
    return found


def candidates(folder: str | Path | None = None) -> tuple[IncludeCandidate, ...]:
    """Return what a project has that its bank could include, and does not."""
    place = Path(folder or Path.cwd()).resolve()
    home = place / FOLDER
    had = settings.load(home if home.is_dir() else None).memory.include
    covered = [posixpath.normpath(path) for path in had]
    wanted = [
        path
        for path in dict.fromkeys((*_vaults(place), *_FILES, *_FOLDERS))
        if os.path.lexists(place / path) and not any(covers(one, path) for one in covered)
    ]
    found = note_files.includable(Layout(home, home), wanted) if wanted else ()
    counts = {path: sum(covers(path, file) for file in found) for path in wanted}
    return tuple(IncludeCandidate(path, count) for path, count in counts.items() if count)


def _strategy(place: Path, folder: str | Path | None) -> str:
    """Return the name of the user's bank that the settings want for a project; empty if none."""
    by_user = folder is None and settings.load().memory.storage_strategy == "user"
    return paths.project_name(place) if by_user else ""


def _make(root: Path) -> tuple[str, ...]:
    wanted = {
        root / ".gitignore": paths.GITIGNORE,
        root / "config.toml": settings.template(),
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
    return tuple(created)


def _below(place: Path, path: str) -> str:
    """Return a path to include as the settings have it; raise BadInput."""
    whole = Path(path).expanduser()
    if whole.is_absolute() and whole.is_relative_to(place):
        path = whole.relative_to(place).as_posix()
    if reason := outside(path):
        raise BadInput(f"{path!r} can't be included: it {reason}", "name a path of the project")
    path = posixpath.normpath(path)
    if not os.path.lexists(place / path):
        raise BadInput(f"there is no {path!r} in {place}", "name a folder or a Markdown file of it")
    if path == FOLDER or path.startswith(f"{FOLDER}/"):
        raise BadInput(f"{path!r} is in the bank already", "leave it out")
    if not (place / path).is_dir() and not path.endswith(NOTE_SUFFIXES):
        raise BadInput(f"{path!r} is no Markdown file", "its name must end in .md or .markdown")
    return path


def _include(file: Path, paths: Sequence[str]) -> None:
    """Add paths to the bank's settings; the rest of the file is unchanged."""
    settings.load(file.parent)  # raises BadSetting
    data = files.read(file) or b""
    text = data.decode("utf-8")
    had = settings.read_file(file)[1].get("memory", {}).get("include", ())
    wanted = list(dict.fromkeys((*had, *paths)))
    if (new := with_setting(text, "memory", "include", wanted)) != text:
        files.replace(file, new.encode(), etag(data))


def _vaults(place: Path) -> Iterator[str]:
    """Yield the vaults of Obsidian: the project itself, or folders in it."""
    if (place / _VAULT).is_dir():
        yield "."
    try:
        below = sorted(one.name for one in place.iterdir() if not one.name.startswith("."))
    except OSError:
        return
    for name in below:
        if (place / name / _VAULT).is_dir():
            yield name


def covers(folder: str, path: str) -> bool:
    """Tell whether an included folder includes another path; hidden folders are not included."""
    if path == folder:
        return True
    rest = path if folder == "." else path.removeprefix(f"{folder}/")
    inside = folder == "." or rest != path
    return inside and not any(part.startswith(".") for part in rest.split("/"))
