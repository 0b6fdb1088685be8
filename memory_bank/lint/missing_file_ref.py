"""Missing files of the project in `file_refs`."""

import posixpath
import re
from collections.abc import Iterator
from typing import NamedTuple

from memory_bank.lint.base import Context, Edit, Place
from memory_bank.manifest import documents
from memory_bank.notes import frontmatter
from memory_bank.notes.block_positions import BREAK
from memory_bank.notes.name_forms import of_file

SUMMARY = "a file in file_refs does not exist"
SEVERITY = "warning"
FIXES = True
_NO_FILE = re.compile(r"[*?\[\0]|://|\A[A-Za-z]:|\A/|\A\.\.?(?:/|\Z)")
"""Patterns, URLs, and paths outside the project, which are not checked."""
_PLAIN = re.compile(r"[\w./-]+")
"""Paths that are written in front matter as they are."""
_INSIDE = re.compile(r"[#:].*", re.DOTALL)
"""A line or a heading after a file's name."""


class _Missing(NamedTuple):
    note: str
    written: str
    file: str
    """Relative to the project."""


def check(bank: Context) -> Iterator[Place]:
    """Yield the references to missing files, with the new name if git moved the file."""
    if not bank.layout.prefix:
        return  # a bank without a project: the location of its files is unknown
    missing = list(_missing(bank))
    moved = bank.moved({one.file for one in missing}, bank.layout.project)
    for one in missing:
        new = moved.get(one.file)
        what = "which git moved" if new else "which does not exist"
        line = _line(bank.text(one.note) or "", one.written)
        place = Place(one.note, line, f"file_refs names {one.written}, {what}", new)
        yield place._replace(edits=_edits(bank, one.note, one.written, new) if new else None)


def _edits(bank: Context, path: str, written: str, new: str) -> tuple[Edit, ...] | None:
    """Return the change of a reference, if it is written once, and needs no quotes."""
    note = bank.note(path)
    if note is None or not _PLAIN.fullmatch(new) or not _PLAIN.fullmatch(written):
        return None
    places = list(re.finditer(rf"(?<![\w./-]){re.escape(written)}(?![\w./-])", note.head))
    if len(places) != 1:
        return None
    return (Edit(len(note.parts.opening) + places[0].start(), written, new),)


def _missing(bank: Context) -> Iterator[_Missing]:
    there: dict[str, bool] = {}
    for path, found in documents.data_of(bank.manifest, "file_refs"):
        for written in found:
            file = posixpath.normpath(of_file(str(written), bank.layout))
            if file not in there:
                outside = any(map(_NO_FILE.search, (str(written), file)))
                there[file] = outside or _exists(bank, file)
            if not there[file]:
                yield _Missing(path, str(written), _INSIDE.sub("", file))


def _exists(bank: Context, file: str) -> bool:
    """Tell whether a file or a note has this name, with or without its line or heading."""
    names = {file, _INSIDE.sub("", file)}
    places = (place for name in names for place in (name, f"{bank.layout.prefix}{name}"))
    return any(map(bank.layout.project_has, places))


def _line(text: str, written: str) -> int:
    """Return the line of a reference in the front matter."""
    parts = frontmatter.split(text)
    lines = BREAK.split(parts.opening + parts.block)
    return next((number for number, line in enumerate(lines, 1) if written in line), 1)
