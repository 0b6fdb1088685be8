"""The index that the search of a static site reads: a script, so that it also works from disk."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from memory_bank.actions.exporting import Words
from memory_bank.frontends.rendering import document, visible
from memory_bank.frontends.web.templating import quoted

FILE = "search-index.js"
_WORD = re.compile(r"[^\W_]+")
_LINK = re.compile(r"!?\[\[([^\]|]*\|)?([^\]]*)\]\]|\[([^\]]*)\]\([^)]*\)")
_MARKS = re.compile(r"^[#>*+\s-]+|[`*_]{1,3}", re.MULTILINE)
_START = 200
"""Characters of the start of a text that is shown with a hit."""


def script(notes: Sequence[Words], files: Callable[[str], str]) -> str:
    """Return the script with the index of some notes; `files` returns the file of an address."""
    rows = [row for one in notes if (row := _row(one, files))]
    lines = ",\n".join(document(row, indent=None, ascii_only=True) for row in rows)
    return f'"use strict";\nglobalThis.memoryBankIndex = [\n{lines}\n];\n'


def _row(note: Words, files: Callable[[str], str]) -> dict[str, object] | None:
    file = files(f"/notes/{quoted(note.path.removesuffix('.md'))}") or files(
        f"/notes/{quoted(note.path)}"
    )
    if not file:
        return None
    plain = _MARKS.sub("", _LINK.sub(lambda found: found[2] or found[3] or "", note.text))
    words = sorted({word.lower() for word in _WORD.findall(plain)})
    start = " ".join(plain.removeprefix(note.title).split())
    start = start.removeprefix(note.title).strip()
    found = {
        "file": file,
        "title": visible(note.title),
        "type": visible(note.type),
        "status": note.status,
        "date": note.created_at[:10],
        "tags": [visible(one) for one in note.tags],
        "headings": [visible(one) for one in note.headings],
        "start": visible(start[:_START] + ("…" if len(start) > _START else "")),
        "words": " ".join(words),
    }
    return {key: value for key, value in found.items() if value}
