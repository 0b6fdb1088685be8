"""What a person sees of a link's goal before going there."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from memory_bank.actions.editor.goals import Goal, block_line, section_at
from memory_bank.actions.editor.texts import Texts
from memory_bank.actions.stale_hits import note_marks
from memory_bank.notes.block_positions import BREAK
from memory_bank.notes.note import Link, Note

MAX_LINES = 12
"""Lines of text in a preview."""
_MAX_LINE = 300
_MAX_BYTES = 64_000
"""Bytes that are read of a file."""


@dataclass(frozen=True, slots=True)
class Preview:
    """A note, a part of it, or a file: what it is, and its first lines."""

    title: str
    path: str
    """The note's, or the file's below the project."""
    type: str = ""
    status: str = ""
    tags: tuple[str, ...] = ()
    heading: str = ""
    text: str = ""
    """The first lines, as written; untrusted."""
    language: str = "markdown"
    more: bool = False
    """Whether there are further lines."""
    stale: str = ""
    """Why the note is stale; empty if it is not."""
    touched: tuple[str, ...] = ()
    """Cited files that changed, though not what the note names in them."""


def preview(texts: Texts, goal: Goal, link: Link) -> Preview | None:
    """Return the preview of a link's goal; None if there is nothing to show."""
    if goal.path:
        note = texts.note(goal.path)
        marks = note_marks(texts.bank, goal.path)
        return replace(_of_note(note, link), **marks._asdict()) if note else None
    return _of_file(texts, goal) if goal.file else None


def _of_note(note: Note, link: Link) -> Preview:
    section = section_at(note, link.heading) if link.heading else None
    lines = BREAK.split(note.text)
    if section:
        body = BREAK.split(section.text)[1:]
    elif link.block and (line := block_line(note, link.block)):
        body = lines[line - 1 : line]
    else:
        body = BREAK.split(note.text[note.body_start :])
        if note.body.title and body and section_line(body):
            body = body[section_line(body) :]
    text, more = first_lines(body)
    return Preview(
        title=note.title,
        path=note.path,
        type=note.meta.type,
        status=note.meta.status if note.meta.status != "active" else "",
        tags=note.meta.tags,
        heading=" > ".join(section.headings) if section else "",
        text=text,
        more=more,
    )


def section_line(lines: list[str]) -> int:
    """Return the number of lines up to and with the title, which the preview shows already."""
    for number, line in enumerate(lines, 1):
        if line.strip():
            return number if line.lstrip().startswith("# ") else 0
    return 0


def first_lines(lines: list[str]) -> tuple[str, bool]:
    """Return the first lines that are not blank, and whether there are more."""
    while lines and not lines[0].strip():
        lines = lines[1:]
    while lines and not lines[-1].strip():
        lines = lines[:-1]
    shown = [line[:_MAX_LINE] for line in lines[:MAX_LINES]]
    return "\n".join(shown).rstrip(), len(lines) > MAX_LINES


def _of_file(texts: Texts, goal: Goal) -> Preview | None:
    file = Path(goal.file)
    try:
        with file.open("rb") as opened:
            data = opened.read(_MAX_BYTES)
    except OSError:
        return None
    if b"\0" in data:
        return None
    lines = data.decode("utf-8", errors="replace").splitlines()
    text, more = first_lines(lines[max(0, goal.line - 1) :])
    path = file.relative_to(texts.bank.layout.project).as_posix()
    return Preview(title=path, path=path, text=text, language=file.suffix[1:], more=more)
