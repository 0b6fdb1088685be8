"""The hits of `recall` for other programs: paths, Markdown, CSV."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import quote

from memory_bank.base.rendering import one_line
from memory_bank.frontends.cli import hit_places
from memory_bank.frontends.cli.hits_view import WEAKER, headed

if TYPE_CHECKING:
    from memory_bank.base.screen import Call
    from memory_bank.memory.hits import Recalled


_MARKUP = re.compile(r"[\\`*_{}\[\]<>#!|~&$]")

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""The first characters of a cell that spreadsheets compute."""

_COLUMNS = (
    "path", "line", "title", "heading", "type", "status", "tags", "created_at",
    "relevance_score", "weak", "snippet", "repository", "url",
)  # fmt: skip


def paths(call: Call, answer: Recalled) -> None:
    """Print the path of each note, as seen from the working directory; of others, their place."""
    for note in answer.notes:
        call.console.line(hit_places.place(call, note))


def md(call: Call, answer: Recalled) -> None:
    """Print a numbered list with links; markup of the notes is escaped."""
    for rank, note in enumerate(answer.notes, 1):
        if answer.apart and note.weak and (rank == 1 or not answer.notes[rank - 2].weak):
            for line in [*([""] if rank > 1 else []), f"{WEAKER}:", ""]:
                call.console.line(line)
        title = _escaped(headed(note.title, note.heading) or note.path)
        link = hit_places.url(note) or quote(hit_places.place(call, note), safe="/")
        about = [note.type, *(f"#{tag}" for tag in note.tags), note.created_at[:10]]
        call.console.line(f"{rank}. [{title}]({link}) ({_escaped(', '.join(filter(None, about)))})")
        call.console.line(f"   {_escaped(note.snippet)}")


def csv(call: Call, answer: Recalled) -> None:
    """Print a table with a header; a text that a spreadsheet would compute gets an apostrophe."""
    from csv import writer

    table = writer(call.console, lineterminator="\n")
    table.writerow(_COLUMNS)
    for note in answer.notes:
        fields = note._asdict() | {"tags": " ".join(note.tags), "url": hit_places.url(note)}
        fields["repository"] = note.origin.repository if note.origin is not None else ""
        table.writerow([_cell(fields[name]) for name in _COLUMNS])


FORMATS = {"paths": paths, "md": md, "csv": csv}


def _escaped(text: str) -> str:
    return _MARKUP.sub(r"\\\g<0>", one_line(text))


def _cell(value: object) -> object:
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str):
        return value
    shown = one_line(value)
    return f"'{shown}" if value.startswith(_FORMULA) else shown
