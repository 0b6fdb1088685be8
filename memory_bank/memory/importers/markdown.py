"""Import a folder of Markdown: an Obsidian vault, or decision records (Nygard, MADR)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from memory_bank.base.filenames import NOTE_SUFFIXES
from memory_bank.memory.importers.base import (
    ImportedNote,
    MarkdownFile,
    markdown_files,
    parse_draft,
)
from memory_bank.memory.records import NotImported
from memory_bank.notes import parsing

SUMMARY = "a folder of Markdown: an Obsidian vault, decision records (ADRs)"


def detect(path: Path) -> bool:
    """Return whether a path is a folder, or a Markdown file."""
    return path.is_dir() or path.name.endswith(NOTE_SUFFIXES)


def read(path: Path) -> Iterator[ImportedNote | NotImported]:
    """Yield a note for each Markdown file; folders, front matter and links are kept.

    A decision record becomes a note of the type `decision`, with its status and date.
    """
    for file in markdown_files(path):
        yield file if isinstance(file, NotImported) else _entry(file)


def _entry(file: MarkdownFile) -> ImportedNote:
    meta = parsing.parse(f"{file.name}.md", parsing.encode_text(file.front_matter + file.body)).meta
    if meta.type != "decision":
        return ImportedNote(file.path, parse_draft(file, kind="note"))
    dated = file.meta.created_at or meta.created_at or file.created
    extra = {} if meta.status == "active" else {"status": meta.status}
    draft = parse_draft(file, kind="decision")
    draft = draft._replace(meta=draft.meta._replace(created_at=dated, extra=extra))
    return ImportedNote(file.path, draft)
