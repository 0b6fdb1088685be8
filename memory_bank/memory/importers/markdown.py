"""Import a folder of Markdown: an Obsidian vault, or decision records (Nygard, MADR)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from memory_bank.base.filenames import NOTE_SUFFIXES
from memory_bank.memory.importers.base import ImportedNote, MarkdownFile, item_of, markdown_files
from memory_bank.memory.records import NotImported
from memory_bank.notes import decision_records

SUMMARY = "a folder of Markdown: an Obsidian vault, decision records (ADRs)"


def detect(path: Path) -> bool:
    """Tell whether a path is a folder, or a Markdown file."""
    return path.is_dir() or path.name.endswith(NOTE_SUFFIXES)


def read(path: Path) -> Iterator[ImportedNote | NotImported]:
    """Yield a note for each Markdown file; folders, front matter and links are kept.

    A decision record becomes a note of the type `decision`; its status, its date and the records
    that it names in its status are read.
    """
    found = list(markdown_files(path))
    names = [file.name for file in found if isinstance(file, MarkdownFile)]
    for file in found:
        yield file if isinstance(file, NotImported) else _entry(file, names)


def _entry(file: MarkdownFile, names: list[str]) -> ImportedNote:
    status = str(file.meta.extra.get("status", ""))
    record = decision_records.read(file.body, status, file.name, names)
    if record is None:
        return ImportedNote(file.path, item_of(file, kind="note"))
    dated = file.meta.created_at or record.date or file.created
    item = replace(item_of(file, kind="decision"), content=record.body, created_at=dated)
    extra = {"status": record.status} if record.status else {}
    return ImportedNote(file.path, replace(item, extra=extra))
