"""Where a bank keeps things: what is tracked, what is derived, what is private."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from memory_bank import config
from memory_bank.errors import BadName, NoBank, StorageFailed
from memory_bank.filenames import FOLDER, TEMPORARY_PREFIX, above, inside, led_by, reached

MODELS = "models"
"""Folder of the user's data that holds weights of embedders, so no bank may be called that."""

HEADER = "# written by memory-bank: derived and private files"
GITIGNORE = f"""\
{HEADER}
.index/
.trash/
{TEMPORARY_PREFIX}*
# notes of agents' sessions stay on this machine; delete the next line to share them
sessions/
"""


class Layout:
    """The folders of one bank."""

    def __init__(self, root: Path, index: Path) -> None:
        """Take the folder of notes, resolved, and that of derived files, safe to delete."""
        self.root = root
        self.index = index

    @property
    def project(self) -> Path:
        """The folder whose files the notes speak of: the one that holds `.memories`."""
        return self.root.parent if self.root.name == FOLDER else self.root

    @property
    def prefix(self) -> str:
        """The bank's folder below the project with a slash; empty where they are the same."""
        return "" if self.project == self.root else f"{self.root.name}/"

    @property
    def config(self) -> Path:
        """The project's settings."""
        return self.root / "config.toml"

    @property
    def trash(self) -> Path:
        """Deleted notes."""
        return self.root / ".trash"

    @property
    def manifest(self) -> Path:
        """The database of what is indexed."""
        return self.index / "manifest.db"

    def make_index(self) -> None:
        """Make the folder of derived files, but not that of a bank which is gone: raise NoBank."""
        if not self.root.is_dir():
            raise NoBank(f"the bank {self.root} is gone", "bring the folder back")
        without_links(private_folder(self.index))

    def state(self, bank_id: str) -> Path:
        """Return the private folder of the bank on this machine."""
        return user_folder("state") / bank_id


def locate(
    path: str | os.PathLike[str] | None = None, *, settings: Mapping[str, object] | None = None
) -> Layout:
    """Find the bank that is meant by a folder of notes or a project, or by the working directory.

    Without a path, `.memories` is looked for in the working directory and above it; with the
    setting `storage_strategy = "user"`, it is the user's own bank named like the project.
    `settings` are flags, as `config.load` takes them. Raises NoBank, BadSetting.
    """
    if path is not None:
        return at(Path(inside(str(Path(path).expanduser()))))
    if config.load(flags=settings).memory.storage_strategy == "project":
        return find(Path(reached()))
    folder = named(project_name(Path.cwd()))
    if not folder.is_dir():
        raise NoBank(f"there is no {folder} yet", "run `memory-bank init` in your project")
    return at(folder)


def at(root: Path, environ: Mapping[str, str] | None = None) -> Layout:
    """Lay out the bank in `root`.

    Its index is in the user's cache when the bank is read-only, or when `.index` is a symbolic
    link: a repository may bring one that leads out of the bank.
    """
    root = root.resolve()
    if not root.is_dir():
        raise NoBank(f"{root} is not a folder", "make it, or run `memory-bank init`")
    index = root / ".index"
    if index.is_symlink() or not os.access(index if index.is_dir() else root, os.W_OK):
        import hashlib  # start-up: OpenSSL comes with it

        name = hashlib.sha256(str(root).encode()).hexdigest()[:16]
        index = user_folder("cache", environ) / name
    return Layout(root=root, index=index)


def find(start: Path, environ: Mapping[str, str] | None = None) -> Layout:
    """Find the bank of a working directory: `.memories` in it or in a folder above it.

    Raises NoBank where there is none, or where a link leads to it that a repository may bring.
    """
    found = above(str(start.resolve()))
    if found is None:
        raise NoBank(
            f"no {FOLDER} folder in {start} or above it",
            "run `memory-bank init` in your project, or name a bank with --bank DIR",
        )
    if link := led_by(str(start.absolute()), found):
        raise linked(link, found)
    return at(Path(found), environ)


def linked(link: str | Path, bank: str | Path) -> NoBank:
    """Say that a bank is behind a link which nobody but a repository may have chosen."""
    goal = os.path.realpath(bank)
    return NoBank(
        f"{link} is a symbolic link: a repository may lead to the bank {goal} that way",
        f"if you mean that bank, name it: --bank {goal}, or MEMORY_BANK",
    )


def named(name: str, environ: Mapping[str, str] | None = None) -> Path:
    """Return the folder of the user's own bank of that name, whether it is there or not."""
    if (
        not name
        or name == MODELS
        or name.startswith(".")
        or not all(c.isalnum() or c in "-_." for c in name)
    ):
        raise BadName(f"{name!r} can't name a bank", "use letters, digits, '-', '_' and '.'")
    return user_folder("data", environ) / name


def project_name(start: Path) -> str:
    """Return what the user's own bank of a project is called: its git folder's name, or its own."""
    start = start.resolve()
    tree = next((place for place in (start, *start.parents) if (place / ".git").exists()), start)
    kept = "".join(char if char.isalnum() or char in "-_." else "-" for char in tree.name)
    return kept.lstrip(".") or "project"


def user_folder(kind: str, environ: Mapping[str, str] | None = None) -> Path:
    """Return the user's folder for `data`, `state` or `cache` of this program."""
    environ = os.environ if environ is None else environ
    fallback = {"data": ".local/share", "state": ".local/state", "cache": ".cache"}[kind]
    chosen = environ.get(f"XDG_{kind.upper()}_HOME")
    if not chosen and os.name == "nt":
        chosen = environ.get("LOCALAPPDATA")
    return Path(chosen or Path.home() / fallback) / "memory-bank"


def private_folder(path: Path) -> Path:
    """Make a folder that git ignores whatever the project's own rules are.

    Raises StorageFailed when it can't be made, or is a symbolic link that a repository may bring.
    """
    if path.is_symlink():
        raise StorageFailed(f"{path} is a symbolic link", "remove it: a plain folder is made")
    try:
        path.mkdir(parents=True, exist_ok=True)
        ignore = path / ".gitignore"
        if not ignore.is_symlink() and not ignore.exists():
            ignore.write_text("*\n", encoding="utf-8")
    except OSError as error:
        raise StorageFailed(
            f"{path} can't be made: {error.strerror}", "check the disk's space and permissions"
        ) from error
    return path


def without_links(folder: Path) -> Path:
    """Remove the symbolic links in a folder of derived files: one may lead out of the bank."""
    try:
        _unlink_links(str(folder))
    except OSError as error:
        raise StorageFailed(f"{folder} can't be cleaned: {error.strerror}") from error
    return folder


def _unlink_links(folder: str) -> None:
    try:
        found = os.scandir(folder)  # start-up: done before each cold answer
    except OSError:
        return  # who needs what is in it will say so
    with found:
        for entry in found:
            if entry.is_symlink():
                Path(entry.path).unlink(missing_ok=True)
            elif entry.is_dir():
                _unlink_links(entry.path)
