"""What a link's words may mean: lookup keys for notes, a canonical name for a ghost."""

from __future__ import annotations

import posixpath
import unicodedata
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from memory_bank.filenames import FOLDER
from memory_bank.notes.names import key, name_of

if TYPE_CHECKING:
    from memory_bank.notes.note import Link, Note

PATH, FILE_NAME, ALIAS, TITLE, ID = range(5)
"""Ranks of a name: a link takes the notes of the lowest rank that has any."""


class Target(NamedTuple):
    """Where a link may lead: keys in order, and the ghost's name when no note answers."""

    first: str
    second: str
    ghost: str


def names_of(note: Note) -> Iterator[tuple[str, int]]:
    """Yield every key that a note answers to, with its rank."""
    whole = key(note.name)
    yield whole, PATH
    bare = whole.removesuffix(".markdown")
    if bare != whole:
        yield bare, PATH
    parts = bare.split("/")
    for start in range(1, len(parts)):
        yield "/".join(parts[start:]), FILE_NAME
    for alias in note.meta.aliases:
        yield key(alias), ALIAS
    if note.title:
        yield key(note.title), TITLE
    if note.meta.id:
        yield key(note.meta.id), ID


def target_of(link: Link, path: str, project_prefix: str) -> Target:
    """Say what a link in the note at `path` may mean.

    A Markdown link, and a target that starts with a dot, is relative to the note's folder; else
    to the bank. `project_prefix` is the bank's folder below the project, ".memories/" say, so
    that `../src/a.py` names the same ghost as `[[src/a.py]]`.
    """
    written = unicodedata.normalize("NFC", " ".join(link.target.split()))
    if not written:
        return Target(key(path), "", name_of(path))
    if link.kind == "reference" and not link.target.endswith((".md", ".markdown")):
        return Target(key(written), "", written)
    relative = posixpath.normpath(posixpath.join(posixpath.dirname(path), written))
    rooted = posixpath.normpath(written.lstrip("/"))
    if link.kind == "markdown" or written.startswith(("./", "../")):
        ghost = posixpath.normpath(project_prefix + relative)
        second = key(rooted) if not written.startswith(".") else ""
        return Target(_below(relative), second, written if ghost.startswith("..") else ghost)
    if project_prefix and rooted.startswith(project_prefix):
        rooted = rooted.removeprefix(project_prefix)
    return Target(key(rooted), key(relative) if "/" in rooted else "", rooted)


def _below(path: str) -> str:
    """Return the key of a path below the bank; a path that leaves the bank names no note."""
    if path.startswith(f"../{FOLDER}/"):
        path = path.removeprefix(f"../{FOLDER}/")
    return "" if path.startswith("../") else key(path)
