"""Open a note in the user's editor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memory_bank.base.errors import Conflict, UnreadableNote
from memory_bank.base.screen import Call
from memory_bank.frontends.cli import text_input

if TYPE_CHECKING:
    from memory_bank.bank.bank import Bank
    from memory_bank.memory.edit import WrittenNote


def in_editor(
    call: Call, bank: Bank, name: str, if_match: str | None = None, agent: str | None = None
) -> WrittenNote:
    """Let the user edit the whole file; it is replaced only if it did not change meanwhile."""
    from memory_bank.memory import edit, show

    bank.settings.check_enabled()
    note = show.show(bank, edit.check_writable(bank, name))
    etag = if_match or note.etag
    if not note.writable:
        raise UnreadableNote(f"{note.path}: {note.faults[0].reason}", "convert the file to UTF-8")
    with text_input.editing(note.path.rpartition("/")[2], note.content) as written:
        try:
            return edit.write(
                bank, note.path, lambda _: written, if_match=etag, agent=agent, given=written
            )
        except Conflict as error:
            if if_match:
                raise
            raise Conflict(
                f"{call.place(note.path)} changed while it was open in your editor: nothing was"
                " overwritten",
                "compare it with the note, then edit the note again",
            ) from error
