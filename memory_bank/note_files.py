"""The files of a bank's notes: those in its folder, and those that settings include."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from pathlib import Path

from memory_bank import config, session_notes, setting_sections
from memory_bank.activity.bank_identity import bank_id
from memory_bank.config import Settings
from memory_bank.layout import NOTES, Layout
from memory_bank.notes.included import IncludedRoot
from memory_bank.notes.private import PrivateRoot
from memory_bank.notes.roots import Root, Roots
from memory_bank.notes.unicode_form import nfc
from memory_bank.repo import git
from memory_bank.repo.commit_history import CommitHistory
from memory_bank.repo.file_commits import FileCommits

_INCLUDE = "memory.include"
_IN_BANK = "project"
"""The value of `sessions.keep` for notes of sessions in the bank."""


def roots_of(current: Callable[[], Layout], settings: Settings) -> Roots:
    """Return the roots of a bank's notes; `current` returns its layout, whose index may move."""
    place = current()
    history = CommitHistory(place.root, lambda: current().index / "commits.db")
    bank = Root(place.root, history=history)
    others = included(place, settings, lambda: current().index)
    return Roots(bank, place.prefix, others, _private(current, settings))


def _private(current: Callable[[], Layout], settings: Settings) -> PrivateRoot:
    """Return the notes of sessions in the private state."""
    kept = settings.sessions.keep == _IN_BANK
    return PrivateRoot(
        lambda: private_notes(current()),
        current().root,
        lambda: kept or session_notes.rule_removed(current()),
    )


def file_commits(
    current: Callable[[], Layout], settings: Settings, commit: str = ""
) -> tuple[FileCommits, ...]:
    """Return the commits of the notes in a bank, and of the files that settings include.

    They end at `commit`, by default at HEAD.
    """
    place = current().origin
    branch = settings.memory.default_branch
    found = [
        FileCommits(
            place.root, lambda: current().index / "file-commits.db", branch=branch, commit=commit
        )
    ]
    paths = [posixpath.normpath(path) for path in settings.memory.include]
    if paths and place.prefix:
        found.append(
            FileCommits(
                place.project,
                lambda: current().index / "file-commits-included.db",
                paths,
                branch,
                commit,
            )
        )
    return tuple(found)


def private_notes(place: Layout) -> Path:
    """Return the folder of sessions' notes in the private state of a bank; it may not exist."""
    return place.state(bank_id(place)) / NOTES


def included(place: Layout, settings: Settings, index: Callable[[], Path]) -> IncludedRoot | None:
    """Return the files that settings include; None if there are none.

    A bank that is not in a project includes nothing: all files below it are its notes.
    """
    paths = [posixpath.normpath(path) for path in settings.memory.include]
    if not (paths and place.prefix):
        return None
    project = place.project
    origin = settings.origins.get(_INCLUDE, "the settings")
    tree = git.worktree(project)
    return IncludedRoot(
        project,
        paths,
        bank=place.prefix.rstrip("/"),
        origin=f"the setting {_INCLUDE} ({_shown(origin, project)})",
        known=partial(_known, tree, project) if tree else partial(_outside_git, project),
        history=CommitHistory(project, lambda: index() / "commits-included.db", paths),
        writable=[Path(path).expanduser().resolve() for path in settings.memory.writable_includes],
        optional=not origin.startswith(str(place.config)),
    )


def includable(place: Layout, paths: Sequence[str]) -> Collection[str]:
    """Return the Markdown files at or below some paths that a bank could include."""
    memory = setting_sections.Memory(include=tuple(paths))
    root = included(place, Settings(memory=memory), lambda: place.index)
    return () if root is None else root.scan().signatures


def settings_files(place: Layout) -> tuple[str, ...]:
    """Return the paths of the files with a bank's settings, which may not exist."""
    return str(place.config), str(config.user_file(os.environ))


def signature(files: Sequence[str]) -> tuple[object, ...]:
    """Return what changes whenever one of these files changes."""
    return tuple(map(_signature, files))


def _known(tree: Path, project: Path, paths: Sequence[str]) -> Collection[str] | None:
    found = git.not_ignored(tree, project, paths)
    return None if found is None else set(map(_text, found))


def _outside_git(project: Path, paths: Sequence[str]) -> Collection[str] | None:
    """Return the files of a project outside git; of a repository inside it, as git says."""
    found: set[str] = set()
    for path in paths:
        place = project / path
        tree = git.worktree(place)
        if tree is None:
            found.update(_all_files(project, place))
            continue
        listed = _known(tree, tree, [place.relative_to(tree).as_posix()])
        if listed is None:
            return None
        found.update((tree.relative_to(project) / name).as_posix() for name in listed)
    return found


def _all_files(project: Path, place: Path) -> Iterator[str]:
    """Yield the files at or below a path, except in repositories and hidden folders."""
    if not place.is_dir():
        yield _name(place, project)
    for folder, below, files in os.walk(place):
        below[:] = [name for name in below if name[0] != "."]
        for inner in [Path(folder, name) for name in below]:
            if not inner.is_symlink() and os.path.lexists(inner / ".git"):
                below.remove(inner.name)
        yield from (_name(Path(folder, name), project) for name in (*files, *below))


def _name(file: Path, project: Path) -> str:
    return _text(file.relative_to(project).as_posix())


def _text(path: str) -> str:
    """Return a path as `included.Known` has it."""
    return nfc(path).encode("utf-8", "replace").decode()


def _shown(origin: str, project: Path) -> str:
    """Return the origin of a setting; a file of the project by its path below it."""
    return re.sub(rf"\A{re.escape(str(project))}/", "", origin)


def _signature(file: str) -> object:
    try:
        found = os.stat(file)  # noqa: PTH116  (before each answer)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
