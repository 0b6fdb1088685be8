"""A request about a file: its bank, the texts in the editor, and places of the protocol."""

from __future__ import annotations

from functools import cached_property

from lsprotocol.types import Location, Position, Range

from memory_bank.bank.bank import Bank
from memory_bank.bank.note_paths import note_path
from memory_bank.frontends.lsp.banks import OpenBank
from memory_bank.frontends.lsp.buffers import Editor, Positions, positions
from memory_bank.frontends.lsp.editor.texts import Texts, file_of


class FileRequest:
    """A request about a file, in a worker thread."""

    def __init__(self, opened: OpenBank, editor: Editor, file: str) -> None:
        """Take the file's bank; it is opened now if it was not."""
        self.opened = opened
        self.editor = editor
        self.file = file
        self.bank: Bank = opened.shared.bank()

    @cached_property
    def texts(self) -> Texts:
        """The notes with their unsaved texts."""
        named = {
            note_path(self.bank, file): buffer.text for file, buffer in self.editor.buffers.items()
        }
        named.pop("", None)
        return Texts(self.bank, named)

    @cached_property
    def path(self) -> str:
        """The note's path; empty if the file is no note."""
        return note_path(self.bank, self.file)

    @cached_property
    def text(self) -> str:
        """The file's text in the editor."""
        note = self.texts.note(self.path) if self.path else None
        if note:
            return note.text
        buffer = self.editor.buffers.get(self.file)
        return buffer.text if buffer else ""

    def lines(self, path: str | None = None) -> Positions:
        """Return the lines of the file, or of the note at a path."""
        text = self.text
        if path is not None and path != self.path:
            note = self.texts.note(path)
            text = note.text if note else ""
        return positions(text, self.editor.encoding)

    def offset(self, position: Position) -> int:
        """Return the offset of a position in the file."""
        return self.lines().offset(position)

    def range(self, start: int, end: int, path: str | None = None) -> Range:
        """Return the range of two offsets in the file, or in the note at a path."""
        return self.lines(path).range(start, end)

    def uri(self, path: str) -> str:
        """Return the URI of a note: the editor's own, if it is open."""
        return self.uri_of(file_of(self.bank, path))

    def uri_of(self, file: str) -> str:
        """Return the URI of a file."""
        return self.editor.uri_of(file)

    def location(self, path: str, start: int, end: int) -> Location:
        """Return the location of two offsets of a note."""
        return Location(self.uri(path), self.range(start, end, path))
