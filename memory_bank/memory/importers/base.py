"""The contract of an importer, which reads a source outside the bank and yields notes.

An importer is a module of this package. It is named by its file, with `-` for `_`, and has

    SUMMARY: str                                      one line for the help: what it reads
    read(path: Path) -> Iterator[ImportedNote | NotImported]   yields notes, and what it can't read
    detect(path: Path) -> bool                        may be left out: whether it can read that path

It yields values and writes nothing. Names and keys are those of the source, and wikilinks between
its notes have the notes' names: where the notes go to is decided elsewhere. What it reads is data:
no path and no address in it is followed.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from memory_bank.base import NamedTuple
from memory_bank.base.errors import UnreadableNote
from memory_bank.base.filenames import NOTE_SUFFIXES
from memory_bank.memory.records import Draft, NotImported
from memory_bank.notes import characters, front_matter
from memory_bank.notes.characters import to_nfc
from memory_bank.notes.note import Meta
from memory_bank.notes.schema import read_meta

MOST_BYTES = 10_000_000
"""Maximum bytes of a file; a larger one is not imported."""

_NOT_IN_NAMES = str.maketrans('<>:"|?*\\#^[]', "------------")
"""Characters that some systems refuse in names."""


class ImportedNote(NamedTuple):
    """A note of a source."""

    key: str
    """Its stable key in the source, the same at the next import."""
    draft: Draft


class Importer(Protocol):
    """A module of this package; `detect` is optional."""

    SUMMARY: str

    def read(self, path: Path) -> Iterator[ImportedNote | NotImported]:
        """Yield the notes of a source, and its unreadable parts."""
        ...


class MarkdownFile(NamedTuple):
    """A Markdown file of a source."""

    path: str
    """Its path below the source."""
    front_matter: str
    """The front matter with its delimiters."""
    body: str
    meta: Meta
    created: datetime
    """The date in the front matter, else the file's mtime."""

    @property
    def name(self) -> str:
        """Its path without its suffix."""
        return posixpath.splitext(self.path)[0]


def markdown_files(path: Path) -> Iterator[MarkdownFile | NotImported]:
    """Read one Markdown file, or those of a folder except hidden ones."""
    for file in [path] if path.is_file() else _yield_files(path):
        if isinstance(file, NotImported):
            yield file
            continue
        place = file.name if file == path else file.relative_to(path).as_posix()
        yield _read_markdown(file, place)


def parse_draft(file: MarkdownFile, *, kind: str) -> Draft:
    """Return a Markdown file as a note; a changed name becomes an alias."""
    name = to_nfc(file.name).translate(_NOT_IN_NAMES)
    stem = file.name.rpartition("/")[2]
    return Draft(
        file.body,
        Meta(
            type=kind,
            created_at=file.created,
            aliases=() if name == to_nfc(file.name) else (stem,),
        ),
        name,
        file.front_matter,
    )


def _yield_files(folder: Path) -> Iterator[Path | NotImported]:
    failed: list[OSError] = []
    for root, folders, files in os.walk(folder, onerror=failed.append):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in [*folders]:
            if (Path(root) / name).is_symlink():
                folders.remove(name)
                files.append(name)
        for name in sorted(name for name in files if not name.startswith(".")):
            yield Path(root) / name
    for error in failed:
        place = Path(error.filename).relative_to(folder).as_posix()
        yield NotImported(place, f"the folder can't be read: {error.strerror}")


def _read_markdown(file: Path, place: str) -> MarkdownFile | NotImported:
    suffix = next((suffix for suffix in NOTE_SUFFIXES if place.lower().endswith(suffix)), "")
    try:
        if reason := _why_no_note(file, suffix):
            return NotImported(place, reason)
        modified = datetime.fromtimestamp(file.stat().st_mtime, UTC)
        decoded = characters.decode(file.read_bytes())
    except OSError as error:
        return NotImported(place, f"it can't be read: {error.strerror}")
    except UnreadableNote as error:
        return NotImported(place, error.message)
    parts = front_matter.split(decoded.text)
    raw, faults = front_matter.read_metadata(parts)
    faults_fatal = (
        decoded.faults if not decoded.writable else faults if parts.block and not raw else ()
    )
    if faults_fatal:
        return NotImported(place, f"{faults_fatal[0].reason} (line {faults_fatal[0].line})")
    if not parts.body.strip():
        return NotImported(place, "the note is empty")
    meta, _ = read_meta(raw)
    head = parts.opening + parts.block + parts.closing
    return MarkdownFile(place, head, parts.body, meta, meta.created_at or modified)


def _why_no_note(file: Path, suffix: str) -> str:
    """Return why a file is not a note; empty if it may be one."""
    if file.is_symlink():
        return "a symbolic link, which is not followed"
    if not suffix or not file.is_file():
        return "an attachment: no Markdown file"
    if file.stat().st_size > MOST_BYTES:
        return f"larger than {MOST_BYTES:,} bytes"
    return ""
