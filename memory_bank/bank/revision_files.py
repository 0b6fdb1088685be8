"""List the files of a bank and of its included folders as of a revision, from git."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from memory_bank.base.errors import BadInput
from memory_bank.base.filenames import (
    NOTE_SUFFIXES,
    QUERIES,
    SETTINGS,
    TEXT_SUFFIXES,
    as_utf8,
    is_utf8,
)
from memory_bank.base.paths import Layout
from memory_bank.git import objects, repository
from memory_bank.git.objects import Blob, Revision
from memory_bank.git.process import read

_OTHERS = frozenset({SETTINGS, QUERIES})

_MOST_PATH = 1000
"""Maximum length of a path in bytes."""

_MOST_FILES = 200_000
"""Maximum number of notes of one revision."""

_LINK = "symbolic link: not followed"

_SUBMODULE = "a submodule: its notes are in another repository"

_NO_NOTE = "its name ends in none of .md, .markdown and .mdc: mind the case"


class WantedFiles(NamedTuple):
    """The files of a revision, by their paths below the project."""

    blobs: Mapping[str, str]
    refused: Mapping[str, str]
    """Files that can't be notes, with the reason."""


def work_tree_of(place: Layout) -> Path:
    """Return the work tree with a bank; raise BadInput outside git."""
    tree = repository.worktree(place.root)
    if tree is None:
        raise BadInput(
            f"{place.root} is in no git repository: it has no other revisions",
            "put the bank under git: `git init` in the project",
        )
    if problem := repository.problem(tree):
        raise BadInput(problem, "a revision can't be read without git")
    return tree


def bank_files(tree: Path, place: Layout, revision: Revision) -> WantedFiles:
    """Return the files of a bank."""
    folder = _below(tree, place.project)
    bank = posixpath.join(folder, place.prefix.rstrip("/"))
    return _kept(_listed(tree, revision, bank), folder, place.prefix, notes_only=False)


def included_files(
    tree: Path, place: Layout, revision: Revision, paths: Iterable[str]
) -> WantedFiles:
    """Return the Markdown files at or below some paths of the project, except those of the bank."""
    if not place.prefix or not place.project.is_relative_to(tree):
        return WantedFiles({}, {})
    folder = _below(tree, place.project)
    blobs: dict[str, str] = {}
    refused: dict[str, str] = {}
    for path in dict.fromkeys(map(posixpath.normpath, paths)):
        below = folder if path == "." else posixpath.join(folder, path)
        inside = "" if path == "." else f"{path}/"
        found = _kept(_listed(tree, revision, below), folder, inside, notes_only=True)
        blobs |= found.blobs
        refused |= found.refused
    ours = place.prefix
    return WantedFiles(
        {path: one for path, one in blobs.items() if not path.startswith(ours)},
        {path: one for path, one in refused.items() if not path.startswith(ours)},
    )


def project_names(tree: Path, place: Layout, revision: Revision) -> list[str]:
    """Return the paths of all files of the project, below it."""
    folder = _below(tree, place.project) if place.project.is_relative_to(tree) else ""
    start = f"{folder}/" if folder else ""
    return [path.removeprefix(start) for path in _listed(tree, revision, folder)]


def first_commit(tree: Path, place: Layout) -> str:
    """Return the first commit that HEAD has of a bank, with its date; empty if there is none."""
    below = _below(tree, place.root) or "."
    words = ("log", "--reverse", "--format=%h of %as", "--no-mailmap", "--no-show-signature")
    found = read(tree, *words, "--", below, most=10_000_000) or b""
    return found.decode("ascii", "replace").partition("\n")[0]


def _listed(tree: Path, revision: Revision, below: str) -> dict[str, Blob]:
    if revision.staged:
        return objects.staged_entries(tree, below)
    return objects.entries_at(tree, revision.commit, below)


def _kept(
    entries: Mapping[str, Blob], folder: str, prefix: str, *, notes_only: bool
) -> WantedFiles:
    """Return the notes of a list, and the settings of a bank, by their paths below the project."""
    start = f"{folder}/" if folder else ""
    blobs: dict[str, str] = {}
    refused: dict[str, str] = {}
    for full, one in sorted(entries.items()):
        path = full.removeprefix(start)
        name = path.removeprefix(prefix)
        if notes_only and prefix and name == path:  # the file itself is included
            name = posixpath.basename(path).lstrip(".")
        reason = _refused(name, one, len(blobs))
        if reason is None or (notes_only and not name.endswith(NOTE_SUFFIXES)):
            continue
        if reason:
            refused[as_utf8(path)] = reason
        else:
            blobs[path] = one.id
    return WantedFiles(blobs, refused)


def _refused(name: str, one: Blob, count: int) -> str | None:
    """Return why a file can't be a note; empty if it can, None if it is not meant as one."""
    lower = name.lower()
    special = one.mode in {objects.LINK, objects.SUBMODULE}
    if name in _OTHERS and not special:
        return ""
    if name.startswith(".") or "/." in name:
        return None
    if one.mode == objects.SUBMODULE:
        return _SUBMODULE
    if special or not lower.endswith((*NOTE_SUFFIXES, *TEXT_SUFFIXES)):
        return _LINK if special and name.endswith(NOTE_SUFFIXES) else None
    return next(_reasons(name, count), "")


def _reasons(name: str, count: int) -> Iterator[str]:
    if name.lower().endswith(NOTE_SUFFIXES) and not name.endswith(NOTE_SUFFIXES):
        yield _NO_NOTE
    if not is_utf8(name):
        yield "its name is not UTF-8"
    elif len(name) > _MOST_PATH // 4 and len(name.encode()) > _MOST_PATH:
        yield f"its path is longer than {_MOST_PATH:,} bytes"
    if count >= _MOST_FILES:
        yield f"the revision has more than {_MOST_FILES:,} notes"


def _below(tree: Path, folder: Path) -> str:
    """Return a folder's path below the work tree; empty for the work tree itself."""
    if not folder.is_relative_to(tree):
        return ""
    below = folder.relative_to(tree).as_posix()
    return "" if below == "." else below
