"""Import a folder of Markdown: an Obsidian vault, decision records (Nygard, MADR), basic-memory.

The format of basic-memory is that of `src/basic_memory/markdown/` in basicmachines-co/basic-memory:
observations are kept as written, relations become typed links.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

from memory_bank.base.filenames import NOTE_SUFFIXES
from memory_bank.memory.importers.base import ImportedNote, MarkdownFile, item_of, markdown_files
from memory_bank.memory.records import NotImported
from memory_bank.notes import decision_records
from memory_bank.notes.relations import as_type

SUMMARY = "a folder of Markdown: an Obsidian vault, decision records (ADRs)"

_RELATION = re.compile(
    r"""(?P<mark>[ \t]*[*+-][ \t]+)(?:(?P<quote>["'])(?P<words>[^"'\[\]]+)(?P=quote)"""
    r"""|(?P<word>[^\s\[\]"'`:]+))[ \t]+\[\[(?P<target>[^\[\]\n]+)\]\]"""
    r"""(?P<context>[ \t]*\([^()]*\))?[ \t]*"""
)
"""The type of a relation: a word, or words in quotes, before the only link of a list item."""

_ADDRESS = "memory://"


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


def _read_basic_memory(path: Path) -> Iterator[ImportedNote | NotImported]:
    """Yield a note for each file, with its permalink as an alias."""
    for file in markdown_files(path):
        if isinstance(file, NotImported):
            yield file
            continue
        item = item_of(file, kind="note")
        permalink = str(file.meta.extra.get("permalink", ""))
        aliases = [*item.aliases, permalink] if permalink else item.aliases
        yield ImportedNote(file.path, replace(item, content=_linked(file.body), aliases=aliases))


def _linked(body: str) -> str:
    """Return a body with its relations as `relation:: [[target]]`; code is unchanged."""
    lines, fence = [], ""
    for line in body.splitlines(keepends=True):
        bare = line.strip()
        if bare.startswith(("```", "~~~")):
            fence = "" if fence and bare.startswith(fence) else fence or bare[:3]
        text = line.rstrip("\r\n")
        found = None if fence else _RELATION.fullmatch(text)
        lines.append(_typed(found) + line[len(text) :] if found else line)
    return "".join(lines)


def _typed(found: re.Match[str]) -> str:
    kind = as_type(found["word"] or found["words"])
    target = found["target"].strip().removeprefix(_ADDRESS)
    return f"{found['mark']}{kind}:: [[{target}]]{found['context'] or ''}"


basic_memory = SimpleNamespace(
    SUMMARY="a folder of basic-memory: its observations and relations",
    detect=Path.is_dir,
    read=_read_basic_memory,
)
