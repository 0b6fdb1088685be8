"""The names by which links find notes, and the canonical name of a ghost."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Iterator

from memory_bank.base import NamedTuple
from memory_bank.base.documents import (
    BY_ALIAS,
    BY_ID,
    BY_NAME,
    BY_NUMBER,
    BY_PATH,
    BY_TITLE,
    Link,
    Name,
)
from memory_bank.base.filenames import NOTE_SUFFIXES
from memory_bank.notes.characters import to_nfc
from memory_bank.notes.names import (
    OUTSIDE,
    leads_out,
    lookup_key,
    name_of,
    parse_record,
    record_name,
    reference_path,
)
from memory_bank.notes.note import RELATIVE_KINDS, Note
from memory_bank.notes.okf import INDEX, is_path


class TargetNames(NamedTuple):
    """The names that a link may mean, in order, and the ghost's name if no note has one."""

    names: tuple[str, ...]
    ghost: str


InProject = Callable[[str], bool]
"""Returns whether the project has a file at a path below it."""


def no_project(_: str) -> bool:
    """Return False: there is no project, so it has no files."""
    return False


def yield_names(note: Note, *, included: bool = False) -> Iterator[Name]:
    """Yield every name of a note, with its rank."""
    yield from path_names(note.path, note.meta.aliases)
    if included:
        yield Name(OUTSIDE + lookup_key(name_of(note.path)), BY_PATH)
    yield Name(lookup_key(note.title), BY_TITLE)
    if note.meta.id:
        yield Name(lookup_key(note.meta.id), BY_ID)
    if number := record_name(note.name):
        yield Name(number, BY_NUMBER)


def path_names(path: str, aliases: Iterable[str]) -> Iterator[Name]:
    """Yield the names from a note's path and aliases, with their ranks."""
    whole = lookup_key(name_of(path))
    yield Name(whole, BY_PATH)
    bare = whole.removesuffix(".markdown").removesuffix(".mdc")
    if bare != whole:
        yield Name(bare, BY_PATH)
    parts = bare.split("/")
    for start in range(1, len(parts)):
        yield Name("/".join(parts[start:]), BY_NAME)
    for alias in aliases:
        yield Name(lookup_key(alias), BY_ALIAS)


def resolve_target(
    link: Link,
    path: str,
    project_prefix: str,
    *,
    included: bool = False,
    in_project: InProject = no_project,
    bundle: str | None = None,
) -> TargetNames:
    """Return the names that a link in the note at `path` may mean.

    A Markdown link, and a target that starts with a dot, is relative to the note's folder; others
    to the bank. `project_prefix` is the bank's folder below the project (".memories/"), so that
    `../../src/a.py` in `decisions/b.md` is the same ghost as `[[src/a.py]]`. The path of an
    `included` note is below the project. A file of `file_refs` is below the project; if there is
    none, which `in_project` tells, a path with a note's suffix may be below the bank.

    `/x.md` is below the `bundle` of the note, a folder as in `path`, else below the project.
    """
    written = to_nfc(" ".join(link.target.split()))
    if not written:
        return TargetNames((lookup_key(path),), name_of(path))
    base = "" if included else project_prefix
    if written.startswith("/") and not link.names_file:
        return _resolve_rooted(link, written, base, project_prefix, in_project, bundle)
    if link.kind in RELATIVE_KINDS and bundle is not None and written.endswith("/"):
        written += INDEX
    if link.names_file:
        return _resolve_file(reference_path(written), project_prefix, in_project)
    if link.kind == "reference":
        near = posixpath.join(base, posixpath.dirname(path), written)
        inside = "" if bundle is None else posixpath.join(base, bundle, written)
        file = _find_referenced(written, near, inside, in_project)
        if file or not written.endswith(NOTE_SUFFIXES):
            named = file or reference_path(written)
            names = (_name_at(file, project_prefix),) if file else ()
            return TargetNames((*names, lookup_key(named)), named)
    relative = posixpath.normpath(posixpath.join(posixpath.dirname(path), written))
    rooted = posixpath.normpath(written.lstrip("/"))
    if link.kind in RELATIVE_KINDS or written.startswith(("./", "../")):
        ghost = posixpath.normpath(base + relative.lstrip("/"))
        second = lookup_key(rooted) if not written.startswith(".") else ""
        first = _name_at(ghost, project_prefix)
        return TargetNames((first, second), written if ghost.startswith("..") else ghost)
    if project_prefix and rooted.startswith(project_prefix):
        rooted = rooted.removeprefix(project_prefix)
    second = lookup_key(relative) if "/" in rooted else parse_record(rooted)
    return TargetNames((lookup_key(rooted), second), rooted)


def _resolve_rooted(
    link: Link,
    written: str,
    base: str,
    project_prefix: str,
    in_project: InProject,
    bundle: str | None,
) -> TargetNames:
    """Return the names of `/path`: below the bundle or the bank, else below the project."""
    rooted = posixpath.normpath(written.strip("/"))
    if link.kind in RELATIVE_KINDS and bundle is not None and written.endswith("/"):
        rooted = posixpath.join(rooted, INDEX)
    inside = posixpath.normpath(posixpath.join(base, bundle or "", rooted))
    place = rooted if not in_project(inside) and in_project(rooted) else inside
    return TargetNames((_name_at(place, project_prefix), lookup_key(rooted)), place)


def _find_referenced(written: str, near: str, inside: str, in_project: InProject) -> str:
    """Return the file below the project that a path in front matter is; empty if there is none.

    In a bundle it starts at the note's folder or at the bundle, elsewhere at the project if it can.
    """
    if not is_path(written):
        return ""
    if inside:
        places = [near] if written.startswith(".") else [near, inside]
    else:
        ours = written.endswith(NOTE_SUFFIXES) or "/" not in written or in_project(written)
        places = [] if ours else [near]
    return next(filter(in_project, map(posixpath.normpath, places)), "")


def _resolve_file(path: str, project_prefix: str, in_project: InProject) -> TargetNames:
    """Return the names of the note that one of `file_refs` is; none without a note's suffix."""
    if not path.endswith(NOTE_SUFFIXES):
        return TargetNames(("",), path)
    inside = path.removeprefix(project_prefix)
    if project_prefix and inside == path and not leads_out(path) and in_project(path):
        return TargetNames((OUTSIDE + lookup_key(path),), path)
    return TargetNames((lookup_key(inside),), inside)


def _name_at(place: str, project_prefix: str) -> str:
    """Return the name of a note by its path below the project; empty if it leads out of that."""
    if place.startswith(OUTSIDE):
        return ""
    if place.startswith(project_prefix):
        return lookup_key(place.removeprefix(project_prefix))
    return OUTSIDE + lookup_key(place)
