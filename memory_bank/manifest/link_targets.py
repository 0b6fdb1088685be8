"""What a link's words may mean: lookup keys for notes, a canonical name for a ghost."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from memory_bank.filenames import FOLDER
from memory_bank.notes.identity import number_of
from memory_bank.notes.names import key, name_of
from memory_bank.notes.normal import nfc
from memory_bank.notes.spelling import in_reference

if TYPE_CHECKING:
    from memory_bank.notes.note import Link, Note

PATH, FILE_NAME, ALIAS, TITLE, ID = range(5)
"""Ranks of a name: a link takes the notes of the lowest rank that has any."""


NO_NAME = 0
"""Stands for the name that is not there."""


class Target(NamedTuple):
    """Where a link may lead: names in order, and the ghost's name when no note answers."""

    first: int
    second: int
    ghost: str


def known_as(name: str) -> int:
    """Return what a name is known by in the manifest: the number of its key, or NO_NAME.

    Names take a third of the room that their letters would, and are looked up whole only.
    """
    looked_up = key(name)
    return number_of(looked_up) if looked_up else NO_NAME


def names_of(note: Note) -> Iterator[tuple[int, int]]:
    """Yield every name that a note answers to, with its rank."""
    further = (key(note.title), TITLE), (key(note.meta.id), ID)
    for name, rank in (*spoken(note.path, note.meta.aliases), *further):
        if name:
            yield number_of(name), rank


def spoken(path: str, aliases: Iterable[str]) -> Iterator[tuple[str, int]]:
    """Yield the keys by which a person would call the note at a path, with their ranks."""
    whole = key(name_of(path))
    yield whole, PATH
    bare = whole.removesuffix(".markdown")
    if bare != whole:
        yield bare, PATH
    parts = bare.split("/")
    for start in range(1, len(parts)):
        yield "/".join(parts[start:]), FILE_NAME
    for alias in aliases:
        yield key(alias), ALIAS


def target_of(link: Link, path: str, project_prefix: str) -> Target:
    """Say what a link in the note at `path` may mean.

    A Markdown link, and a target that starts with a dot, is relative to the note's folder; else
    to the bank. `project_prefix` is the bank's folder below the project, ".memories/" say, so
    that `../src/a.py` names the same ghost as `[[src/a.py]]`.
    """
    written = nfc(" ".join(link.target.split()))
    if not written:
        return Target(known_as(path), NO_NAME, name_of(path))
    if link.kind == "reference" and not link.target.endswith((".md", ".markdown")):
        named = in_reference(written)
        return Target(known_as(named), NO_NAME, named)
    relative = posixpath.normpath(posixpath.join(posixpath.dirname(path), written))
    rooted = posixpath.normpath(written.lstrip("/"))
    if link.kind == "markdown" or written.startswith(("./", "../")):
        ghost = posixpath.normpath(project_prefix + relative)
        second = known_as(rooted) if not written.startswith(".") else NO_NAME
        return Target(_below(relative), second, written if ghost.startswith("..") else ghost)
    if project_prefix and rooted.startswith(project_prefix):
        rooted = rooted.removeprefix(project_prefix)
    return Target(known_as(rooted), known_as(relative) if "/" in rooted else NO_NAME, rooted)


def _below(path: str) -> int:
    """Return the name of a path below the bank; a path that leaves the bank names no note."""
    if path.startswith(f"../{FOLDER}/"):
        path = path.removeprefix(f"../{FOLDER}/")
    return NO_NAME if path.startswith("../") else known_as(path)
