"""The citations of code in notes: files and symbols that links and references name."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Collection
from pathlib import Path
from typing import Literal

from memory_bank.bank.bank import Bank
from memory_bank.base import NamedTuple, lazy_pattern
from memory_bank.base.documents import Link
from memory_bank.base.filenames import NOTE_SUFFIXES
from memory_bank.code.code_at import CitedPlace
from memory_bank.code.code_names import SYMBOL, linked_symbol
from memory_bank.code.lookup import dotted_name
from memory_bank.code.parse import parsing
from memory_bank.search.manifest import document_rows, link_rows
from memory_bank.search.manifest.manifest import Manifest
from memory_bank.trust.records import verified_commit

_REFERENCE = "reference"

_KIND = lazy_pattern(r"[A-Za-z_]\w+:(?!\d).*", re.DOTALL)
"""A target of another kind, such as a person, ticket or URL; a drive's letter is too short."""

_LINES = lazy_pattern(r":\d+(?:[-:]\d+)?\Z")

_LINE_HEADING = lazy_pattern(r"L\d+(?:C\d+)?(?:-L?\d+(?:C\d+)?)?\Z")
"""A part of a file by its lines, as in links to code on the web."""

# Characters of a target that may be code.
_LONGEST = 1000


class Cited(NamedTuple):
    """A citation of a file or symbol in a note."""

    note: str
    """The key of the note."""
    etag: str
    line: int
    """1-based; 1 for one in the front matter."""
    written: str
    """The target as written."""
    kind: Literal["file", "symbol"]
    place: CitedPlace
    """What it names, below the work tree; without a path for a symbol by its name alone."""
    in_front_matter: bool
    verified: str
    """The commit at which the note was confirmed; empty if it never was."""

    @property
    def by_name(self) -> bool:
        """Tell whether it names a symbol without its file."""
        return not self.place.path


def list_cited(
    manifest: Manifest, bank: Bank, tree: Path, notes: Collection[int] | None = None
) -> list[Cited]:
    """Return the citations in notes, given by number; by default in all that are not archived."""
    rows = link_rows.find_to_ghosts(manifest, None if notes is None else sorted(notes))
    placed = [(row, place) for row in rows if (place := cited_place(bank, tree, row)) is not None]
    sources = document_rows.read_documents(manifest, {row.source for row, _ in placed})
    cited_ones = (
        Cited(
            note=row.source_key,
            etag=sources[row.source].hash,
            line=row.line,
            written=_target_text_of(row),
            kind="symbol" if place.name else "file",
            place=place,
            in_front_matter=row.kind == _REFERENCE,
            verified=verified_commit(sources[row.source].data),
        )
        for row, place in placed
        if row.source in sources
    )
    return list(dict.fromkeys(cited_ones))  # one for a link twice on a line


def cited_place(bank: Bank, tree: Path, row: Link) -> CitedPlace | None:
    """Return the file or symbol that a link to a ghost may name; None if it can't name any."""
    name = linked_symbol(row)
    written = name or (f"{row.ghost}#{row.heading}" if row.heading else row.ghost)
    if len(written) > _LONGEST or "\0" in written:
        return None
    path, sign, inner = written.partition("#")
    if name and not (sign and ("/" in path or "." in path)):
        return CitedPlace("", name.strip().removesuffix("()"))
    if not name and _KIND.fullmatch(path):
        return None
    path = _LINES.sub("", path)
    # a link out of the project is kept as written, from the folder of its note
    from_note = row.kind != _REFERENCE and posixpath.normpath(path).startswith("../")
    start = _folder(bank, row.source_key) if from_note else bank.layout.project
    below = _path_below(tree, start, path)
    if not below or (below.endswith(NOTE_SUFFIXES) and _is_in_bank(bank, tree, below)):
        return None
    is_symbol = parsing.detect_language(below) and not _LINE_HEADING.fullmatch(inner)
    return CitedPlace(below, dotted_name(inner) if is_symbol else "")


def link_to(bank: Bank, tree: Path, cited: Cited, place: CitedPlace) -> str:
    """Return the target to write for a place, in the form of the citation that it replaces."""
    start = SYMBOL if cited.written.lower().startswith(SYMBOL) else ""
    if cited.by_name:
        return f"{start}{place.name}"
    old, sign, inner = cited.written[len(start) :].partition("#")
    written = _LINES.sub("", old)
    folder = bank.layout.project
    if not cited.in_front_matter and _path_below(tree, folder, written) != cited.place.path:
        near = _folder(bank, cited.note)
        folder = near if _path_below(tree, near, written) == cited.place.path else folder
    path = os.path.relpath(tree / place.path, folder).replace(os.sep, "/")
    return f"{start}{path}{sign}{place.name or inner}"


def target_places(text: str, body_start: int, line: int, written: str) -> list[tuple[int, int]]:
    """Return the offsets of a citation's target as written, on its line or in the front matter."""
    if line > text.count("\n", 0, body_start):
        lines = text.splitlines(keepends=True)
        start, end = sum(map(len, lines[: line - 1])), sum(map(len, lines[:line]))
        around = rf"(?<=[\[(<]){re.escape(written)}(?=[\]|)>])"
        matches = re.compile(around).finditer(text, start, end)
    else:
        around = rf"(?<![\w./#-]){re.escape(written)}(?![\w./#-])"
        matches = re.compile(around).finditer(text, 0, body_start)
    return [match.span() for match in matches]


def _target_text_of(row: Link) -> str:
    """Return a target as it is written; `symbol_refs` name symbols without a start."""
    if row.kind == _REFERENCE and linked_symbol(row) and row.target.lower().startswith(SYMBOL):
        return linked_symbol(row)
    return f"{row.target}#{row.heading}" if row.heading else row.target


def _folder(bank: Bank, note: str) -> Path:
    """Return the folder in which a note is; that of the project for a private one."""
    project = bank.layout.project
    if bank.roots.is_private(note):
        return project
    return Path(os.path.normpath(project / bank.roots.place(note))).parent


def _is_in_bank(bank: Bank, tree: Path, path: str) -> bool:
    """Tell whether a path below the work tree leads into the bank, where documents are notes."""
    return Path(os.path.normpath(tree / path)).is_relative_to(bank.layout.root)


def _path_below(tree: Path, folder: Path, name: str) -> str:
    """Return the path below the work tree that a folder's name means; empty if it leads out."""
    path = posixpath.normpath(name.strip()) if name.strip() else ""
    if not path or path.startswith("/"):
        return ""
    path = os.path.relpath(os.path.normpath(folder / path), tree).replace(os.sep, "/")
    return "" if path in {".", ".."} or path.startswith("../") else path
