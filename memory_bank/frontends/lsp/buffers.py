"""The files that are open in the editor, kept as the editor's changes leave them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from lsprotocol.types import (
    ClientCapabilities,
    DidChangeTextDocumentParams,
    TextDocumentContentChangePartial,
    TextDocumentItem,
)
from pygls.uris import from_fs_path, to_fs_path

from memory_bank.filenames import NOTE_SUFFIXES
from memory_bank.frontends.lsp.positions import UTF16, Positions


class Buffer:
    """An open file as the editor has it."""

    __slots__ = ("text", "uri", "version")

    def __init__(self, uri: str, text: str, version: int | None) -> None:
        self.uri = uri
        self.text = text
        self.version = version


class Editor:
    """What is open in the editor, and what it can do; taken at the time of a request."""

    def __init__(
        self,
        buffers: Mapping[str, Buffer],
        encoding: str,
        capabilities: ClientCapabilities,
        folders: Sequence[str] = (),
    ) -> None:
        """Take the open files by their paths, and the encoding that positions count in.

        `folders` are the paths of the workspace's folders.
        """
        self.buffers = buffers
        self._folders = folders
        self.encoding = encoding
        self.capabilities = capabilities

    def uri_of(self, file: str) -> str:
        """Return the URI of a file by the path that the editor has, which may have links in it."""
        for given in self._folders:
            real = os.path.realpath(given)
            if real != given and file.startswith(f"{real}{os.sep}"):
                file = os.path.join(given, os.path.relpath(file, real))  # noqa: PTH118
                break
        buffer = self.buffers.get(file)
        return buffer.uri if buffer else uri_of(file)


class Buffers:
    """The open files by URI.

    pygls keeps texts, too, but its lines end at every character that Python takes for a line end.
    """

    def __init__(self) -> None:
        """Start without any; the encoding is what the client chose."""
        self.encoding = UTF16
        self._open: dict[str, Buffer] = {}

    def open(self, document: TextDocumentItem) -> None:
        """Add a file that was opened."""
        self._open[document.uri] = Buffer(document.uri, document.text, document.version)

    def change(self, params: DidChangeTextDocumentParams) -> None:
        """Apply changes to a file's text, one after the other."""
        uri = params.text_document.uri
        if uri not in self._open:
            return
        text = self._open[uri].text
        for one in params.content_changes:
            if isinstance(one, TextDocumentContentChangePartial):
                lines = Positions(text, self.encoding)
                start, end = lines.offset(one.range.start), lines.offset(one.range.end)
                text = text[:start] + one.text + text[max(start, end) :]
            else:
                text = one.text
        self._open[uri] = Buffer(uri, text, params.text_document.version)

    def close(self, uri: str) -> None:
        """Remove a file that was closed."""
        self._open.pop(uri, None)

    def uris(self) -> list[str]:
        """Return the URIs of the open files."""
        return list(self._open)

    def version(self, uri: str) -> int | None:
        """Return the version of an open file; None for others."""
        found = self._open.get(uri)
        return found.version if found else None

    def all(self) -> dict[str, Buffer]:
        """Return the open files by their absolute paths."""
        named = ((file_at(uri), one) for uri, one in self._open.items())
        return {os.path.normpath(file): one for file, one in named if file}


def uri_of(file: str) -> str:
    """Return the URI of an absolute path."""
    return str(from_fs_path(file))


def file_at(uri: str) -> str:
    """Return the absolute path of a `file:` URI; empty for other URIs."""
    file = to_fs_path(uri)
    return file if file and Path(file).is_absolute() else ""


def is_note(uri: str) -> bool:
    """Tell whether a file is Markdown, which may be a note, by its name."""
    return file_at(uri).endswith(NOTE_SUFFIXES)
