"""`memory-bank show`: show one note."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

from memory_bank.base.errors import StorageFailed
from memory_bank.base.operation import Note, Param, operation
from memory_bank.base.rendering import count, visible
from memory_bank.base.screen import Call

if TYPE_CHECKING:
    from memory_bank.memory.show import ShownNote, ShownSection


@operation(
    "show",
    why="""
    A note's name is its path without .md, its file name alone if no other note has it, an alias,
    its title or its id.

    On a terminal the Markdown is rendered, below a line of metadata. A pipe gets the source,
    including front matter; characters that are harmful in a terminal (control characters, reversed
    text) are escaped, for example `\\x1b`. With --raw a pipe gets every character unchanged.
    """,
    examples=(
        ("memory-bank show decisions/tantivy", "by its name"),
        ("memory-bank show tantivy --section Consequences", "one section"),
        ("memory-bank show tantivy --raw > copy.md", "the unchanged source"),
        ("memory-bank show tantivy --json | jq -r .etag", "its etag, for --if-match"),
    ),
    group="Find",
)
def command(
    call: Call,
    *,
    name: Note,
    section: Annotated[
        str | None, Param("Show only the text under this heading; A > B", metavar="HEADING")
    ] = None,
    raw: Annotated[bool, Param("Show the source; unchanged into a pipe")] = False,
) -> int:
    """Show one note."""
    from memory_bank.memory import show

    with call.open() as bank:
        if section is not None:
            part = show.show_section(bank, name, section)
            call.answer(part, lambda part: _show_section(call, part, raw=raw))
            return 0
        note = show.show(bank, name)
    call.answer(note, lambda note: _show(call, note, raw=raw))
    for fault in () if call.json else note.faults:
        call.warn(f"{call.place(note.path, fault.line)}: {fault.reason}")
    return 0


def _show(call: Call, note: ShownNote, *, raw: bool) -> None:
    console = call.console
    if raw or not console.terminal:
        _source(call, note.content, raw=raw)
        return
    console.line((call.place(note.path, 1), "place"))
    about = [
        note.type,
        *(f"#{tag}" for tag in note.tags),
        note.created_at[:10],
        "" if note.status == "active" else note.status,
        f"id {note.note_id}" if note.note_id != note.path else "",
        count(note.backlinks_count, "backlink"),
        "included" if note.included else "",
        f"edited by {', '.join(note.edited_by)}" if note.edited_by else "",
    ]
    console.line((" · ".join(filter(None, about)), "tag"))
    if note.stale:
        console.line((f"stale: {note.stale}", "warn"))
    for reason in note.touched:
        console.line((f"cited file changed: {reason}", "dim"))
    console.line()
    console.markdown(note.body)


def _show_section(call: Call, part: ShownSection, *, raw: bool) -> None:
    if raw or not call.console.terminal:
        _source(call, part.content, raw=raw)
        return
    call.console.line((call.place(part.path, part.line), "place"))
    call.console.markdown(part.content)


def _source(call: Call, text: str, *, raw: bool) -> None:
    """Print a note's source: unchanged into a pipe if `raw`, else escaped."""
    if not raw or call.console.terminal:
        lines = visible(text.replace("\r\n", "\n"))
        call.console.write(lines if lines.endswith("\n") else f"{lines}\n")
        return
    call.console.flush()
    buffer = getattr(sys.stdout, "buffer", None)
    if buffer is None:
        call.console.write(text)
        return
    try:
        buffer.write(text.encode("utf-8", "surrogateescape"))
    except BrokenPipeError:
        raise
    except OSError as error:
        raise StorageFailed(f"the answer can't be written: {error.strerror}") from error
