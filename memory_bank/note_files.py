"""The files of a bank's notes: those in its folder, and those that settings include."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Sequence
from functools import partial
from pathlib import Path

from memory_bank import config
from memory_bank.config import Settings
from memory_bank.layout import Layout
from memory_bank.notes.included import IncludedRoot
from memory_bank.notes.roots import Root, Roots
from memory_bank.notes.unicode_form import nfc
from memory_bank.repo import git
from memory_bank.repo.commit_history import CommitHistory

_INCLUDE = "memory.include"


def roots_of(place: Layout, settings: Settings, index: Callable[[], Path]) -> Roots:
    """Return the roots of a bank's notes; `index` returns the folder of derived files."""
    history = CommitHistory(place.root, lambda: index() / "commits.db")
    bank = Root(place.root, history=history)
    return Roots(bank, place.prefix, included(place, settings, index))


def included(place: Layout, settings: Settings, index: Callable[[], Path]) -> IncludedRoot | None:
    """Return the files that settings include; None if there are none.

    A bank that is not in a project includes nothing: all files below it are its notes.
    """
    paths = settings.memory.include
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
        known=partial(_known, tree, project) if tree else None,
        history=CommitHistory(project, lambda: index() / "commits-included.db", paths),
        writable=[Path(path).expanduser().resolve() for path in settings.memory.writable_includes],
        optional=not origin.startswith(str(place.config)),
    )


def includable(place: Layout, paths: Sequence[str]) -> Collection[str]:
    """Return the Markdown files at or below some paths that a bank could include."""
    memory = config.Memory(include=tuple(paths))
    root = included(place, Settings(memory=memory), lambda: place.index)
    return () if root is None else root.scan().signatures


def signature(place: Layout) -> tuple[object, ...]:
    """Return what changes whenever the settings files of a bank change."""
    return tuple(map(_signature, (place.config, config.user_file(os.environ))))


def _known(tree: Path, project: Path, paths: Sequence[str]) -> Collection[str] | None:
    found = git.not_ignored(tree, project, paths)
    if found is None:
        return None
    return {nfc(path).encode("utf-8", "replace").decode() for path in found}


def _shown(origin: str, project: Path) -> str:
    """Return the origin of a setting; a file of the project by its path below it."""
    return re.sub(rf"\A{re.escape(str(project))}/", "", origin)


def _signature(file: Path) -> object:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
