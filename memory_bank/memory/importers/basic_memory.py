"""The Markdown of basic-memory: observations are kept as written, relations become typed links.

Its format is that of `src/basic_memory/markdown/` in basicmachines-co/basic-memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from memory_bank.base import lazy_pattern
from memory_bank.memory.importers.base import ImportedNote, markdown_files, parse_draft
from memory_bank.memory.records import NotImported
from memory_bank.notes.relations import normalise_type

SUMMARY = "a folder of basic-memory: its observations and relations"

_RELATION = lazy_pattern(
    r"""(?P<mark>[ \t]*[*+-][ \t]+)(?:(?P<quote>["'])(?P<words>[^"'\[\]]+)(?P=quote)"""
    r"""|(?P<word>[^\s\[\]"'`:]+))[ \t]+\[\[(?P<target>[^\[\]\n]+)\]\]"""
    r"""(?P<context>[ \t]*\([^()]*\))?[ \t]*"""
)
"""The type of a relation: a word, or words in quotes, before the only link of a list item."""

_ADDRESS = "memory://"


def detect(path: Path) -> bool:
    """Return whether a path is a folder."""
    return path.is_dir()


def read(path: Path) -> Iterator[ImportedNote | NotImported]:
    """Yield a note for each file, with its permalink as an alias."""
    for file in markdown_files(path):
        if isinstance(file, NotImported):
            yield file
            continue
        draft = parse_draft(file, kind="note")
        permalink = str(file.meta.extra.get("permalink", ""))
        aliases = (*draft.meta.aliases, permalink) if permalink else draft.meta.aliases
        meta = draft.meta._replace(aliases=aliases)
        draft = draft._replace(content=_link_relations(file.body), meta=meta)
        yield ImportedNote(file.path, draft)


def _link_relations(body: str) -> str:
    """Return a body with its relations as `relation:: [[target]]`; code is unchanged."""
    lines, fence = [], ""
    for line in body.splitlines(keepends=True):
        bare = line.strip()
        if bare.startswith(("```", "~~~")):
            fence = "" if fence and bare.startswith(fence) else fence or bare[:3]
        text = line.rstrip("\r\n")
        match = None if fence else _RELATION.fullmatch(text)
        lines.append(_link_relation(match) + line[len(text) :] if match else line)
    return "".join(lines)


def _link_relation(match: re.Match[str]) -> str:
    kind = normalise_type(match["word"] or match["words"])
    target = match["target"].strip().removeprefix(_ADDRESS)
    return f"{match['mark']}{kind}:: [[{target}]]{match['context'] or ''}"
