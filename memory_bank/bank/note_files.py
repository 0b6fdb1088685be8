"""The files of a bank's notes: its own, included and private ones, and the path of each."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from pathlib import Path

from memory_bank.bank.bank_id import bank_id
from memory_bank.base import setting_sections, settings
from memory_bank.base.errors import MemoryBankError
from memory_bank.base.filenames import as_utf8
from memory_bank.base.paths import HEADER, NOTES, Layout, private_folder
from memory_bank.base.settings import Settings
from memory_bank.git import repository
from memory_bank.git.file_commits import FileCommits
from memory_bank.git.history import History
from memory_bank.notes import okf
from memory_bank.notes.characters import to_nfc
from memory_bank.notes.roots import IncludedRoot, NoteRoot, PrivateRoot, Roots
from memory_bank.notes.storage import files

SESSION = "session"
"""The source of a note that is for the work of one session only."""

_FOLDER = "sessions"

_LINES = frozenset(
    {"sessions", "sessions/", "/sessions", "/sessions/", "sessions/*", "sessions/**"}
)


def keep_out(place: Layout, path: str) -> None:
    """Put rules for git beside the first note in `sessions/`; call it before that is written.

    They hold whatever becomes of the bank's own `.gitignore`. Raises StorageFailed.
    """
    folder = place.root / _FOLDER
    ruled = not path.startswith(f"{_FOLDER}/") or (folder / ".gitignore").exists()
    if not ruled and not shares_sessions(place):
        private_folder(folder)


def shares_sessions(place: Layout) -> bool:
    """Tell whether the project shares its notes of sessions.

    It does if it tracks one, or if the line was taken out of the `.gitignore` that `init` wrote. A
    file that is gone, or another one, was not made to share anything.
    """
    if rule_removed(place):
        return True
    tree = repository.find_worktree(place.root)
    return tree is not None and repository.tracks_below(tree, place.root / _FOLDER)


def rule_removed(place: Layout) -> bool:
    """Tell whether the line was taken out of the `.gitignore` that `init` wrote."""
    try:
        lines = (files.read_in(place.root, ".gitignore") or b"").decode().splitlines()
    except (MemoryBankError, ValueError):
        return False
    return HEADER in lines and not _LINES.intersection(line.strip() for line in lines)


def warn_of_place(place: Layout, path: str, source_type: str = "") -> str | None:
    """Return what to say of a note that is there now, if git would track what it should not."""
    if not (path.startswith(f"{_FOLDER}/") or source_type == SESSION):
        return None
    if not (place.root / path).exists() or shares_sessions(place):
        return None  # not there: it is in the private state
    tree = repository.find_worktree(place.root)
    if tree is None or not repository.list_trackable(tree, [place.root / path]):
        return None
    return (
        "git would track this note of a session: no rule of a .gitignore keeps it out;"
        f" it belongs in {_FOLDER}/, with a {_FOLDER}/.gitignore that says `*`"
    )


_INCLUDE = "memory.include"

_IN_BANK = "project"
"""The value of `sessions.keep` for notes of sessions in the bank."""


def build_roots(current: Callable[[], Layout], settings: Settings) -> Roots:
    """Return the roots of a bank's notes; `current` returns its layout, whose index may move."""
    place = current()
    commits = FileCommits(place.root, open_history)
    bank = NoteRoot(place.root, history=commits)
    included_root = list_included(place, settings)
    private = _private(current, settings)
    return Roots(bank, place.prefix, included_root, private, is_bundle=is_bundle(settings))


def is_bundle(settings: Settings) -> bool:
    """Return whether the settings say that the bank is an Open Knowledge Format bundle."""
    return settings.memory.format == okf.FORMAT


def _private(current: Callable[[], Layout], settings: Settings) -> PrivateRoot:
    """Return the notes of sessions in the private state."""
    in_bank = settings.sessions.keep == _IN_BANK
    return PrivateRoot(lambda: private_notes(current()), in_bank=in_bank)


def open_history(tree: Path) -> History:
    """Return the history of the repository of a work tree; nothing is opened yet.

    Secrets in the texts of commits are replaced when they are read.
    """
    return History(tree, _redact_secrets)


def _redact_secrets(texts: Sequence[str]) -> Sequence[str]:
    """Return texts with `[redacted]` in place of secrets."""
    from memory_bank.notes.secrets import secrets  # start-up: most commits are known

    if not secrets.find("\n\n".join(texts)):  # most have none: all at once is quicker
        return texts
    entries = []
    for text in texts:
        for secret in reversed(secrets.find(text)):
            text = f"{text[: secret.start]}[redacted]{text[secret.end :]}"  # noqa: PLW2901
        entries.append(text)
    return entries


def private_notes(place: Layout) -> Path:
    """Return the folder of sessions' notes in the private state of a bank; it may not exist."""
    return place.state(bank_id(place)) / NOTES


def list_included(place: Layout, settings: Settings) -> IncludedRoot | None:
    """Return the files that settings include; None if there are none.

    A bank that is not in a project includes nothing: all files below it are its notes.
    """
    paths = [posixpath.normpath(path) for path in settings.memory.include]
    if not (paths and place.prefix):
        return None
    project = place.project
    origin = settings.origins.get(_INCLUDE, "the settings")
    tree = repository.find_worktree(project)
    return IncludedRoot(
        project,
        paths,
        bank=place.prefix.rstrip("/"),
        origin=f"the setting {_INCLUDE} ({_show_origin(origin, project)})",
        known_to_git=partial(_list_known, tree, project)
        if tree
        else partial(_outside_git, project),
        history=FileCommits(project, open_history, paths),
        optional=not origin.startswith(str(place.config)),
    )


def list_includable(place: Layout, paths: Sequence[str]) -> Collection[str]:
    """Return the Markdown files at or below some paths that a bank could include."""
    memory = setting_sections.Memory(include=tuple(paths))
    root = list_included(place, Settings(memory=memory))
    return () if root is None else root.scan().signatures


def settings_files(place: Layout) -> tuple[str, ...]:
    """Return the paths of the files with a bank's settings, which may not exist."""
    return str(place.config), str(settings.user_file(os.environ))


def bank_signature(files: Sequence[str]) -> tuple[object, ...]:
    """Return what changes whenever one of these files changes."""
    return tuple(map(_signature, files))


def _list_known(tree: Path, project: Path, paths: Sequence[str]) -> Collection[str] | None:
    not_ignored = repository.list_not_ignored(tree, project, paths)
    return None if not_ignored is None else set(map(_text, not_ignored))


def _outside_git(project: Path, paths: Sequence[str]) -> Collection[str] | None:
    """Return the files of a project outside git; of a repository inside it, as git says."""
    entries: set[str] = set()
    for path in paths:
        place = project / path
        tree = repository.find_worktree(place)
        if tree is None:
            entries.update(_all_files(project, place))
            continue
        listed = _list_known(tree, tree, [place.relative_to(tree).as_posix()])
        if listed is None:
            return None
        entries.update((tree.relative_to(project) / name).as_posix() for name in listed)
    return entries


def _all_files(project: Path, place: Path) -> Iterator[str]:
    """Yield the files at or below a path, except in repositories and hidden folders."""
    if not place.is_dir():
        yield _name(place, project)
    for folder, below, names in os.walk(place):
        below[:] = [name for name in below if name[0] != "."]
        for inner in [Path(folder, name) for name in below]:
            if not inner.is_symlink() and os.path.lexists(inner / ".git"):
                below.remove(inner.name)
        yield from (_name(Path(folder, name), project) for name in (*names, *below))


def _name(file: Path, project: Path) -> str:
    return _text(file.relative_to(project).as_posix())


def _text(path: str) -> str:
    """Return a path as `included.Known` has it."""
    return as_utf8(to_nfc(path))


def _show_origin(origin: str, project: Path) -> str:
    """Return the origin of a setting; a file of the project by its path below it."""
    return re.sub(rf"\A{re.escape(str(project))}/", "", origin)


def _signature(file: str) -> object:
    try:
        stat = os.stat(file)  # noqa: PTH116  (before each answer)
    except OSError:
        return None
    return stat.st_mtime_ns, stat.st_size, stat.st_ino
