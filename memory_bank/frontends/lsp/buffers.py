"""The files that are open in the editor, with their banks and code, and requests about them."""

from __future__ import annotations

import logging
import os
import threading
import time
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, lru_cache, partial
from pathlib import Path

from lsprotocol.types import (
    ClientCapabilities,
    DidChangeTextDocumentParams,
    Location,
    Position,
    Range,
    TextDocumentContentChangePartial,
    TextDocumentItem,
)
from pygls.uris import from_fs_path, to_fs_path

from memory_bank.bank.bank import Bank, note_path
from memory_bank.bank.records import Finding
from memory_bank.base import NamedTuple, lazy_pattern, paths
from memory_bank.base.errors import BadName, BadSetting, MemoryBankError, NoBank, NoRepository
from memory_bank.base.filenames import NOTE_SUFFIXES
from memory_bank.code.index.codebase import Codebase
from memory_bank.frontends.lsp.open_texts import Texts, note_file
from memory_bank.frontends.serving.serving_background import Background
from memory_bank.frontends.serving.shared_bank import SharedBank, SharedCode
from memory_bank.memory.maintenance import ChangedPaths


class Clock:
    """Decides for each symbol whether a hover counts as an access: once in a while."""

    def __init__(self, seconds: float = 60.0, now: Callable[[], float] = time.monotonic) -> None:
        """Let at most one access of a symbol count in so many seconds; kept in memory only."""
        self._seconds = seconds
        self._now = now
        self._counted: dict[str, float] = {}

    def due(self, symbol: str) -> bool:
        """Return whether an access counts now; if so, the next ones wait."""
        now = self._now()
        if now - self._counted.get(symbol, float("-inf")) < self._seconds:
            return False
        recent = {
            text: counted_at
            for text, counted_at in self._counted.items()
            if now - counted_at < self._seconds
        }
        self._counted = {**recent, symbol: now}
        return True


_BREAK = lazy_pattern(r"\r\n|\n|\r")

UTF8, UTF16, UTF32 = "utf-8", "utf-16", "utf-32"


class Positions:
    """The lines of a text: they end with LF, CRLF or CR only, as the protocol says."""

    def __init__(self, text: str, encoding: str = UTF16) -> None:
        """Take a text, and the encoding whose code units the client counts."""
        self._text = text
        self._encoding = encoding
        self._starts = [0, *(match.end() for match in _BREAK.finditer(text))]
        self._ends = [*(match.start() for match in _BREAK.finditer(text)), len(text)]

    def position(self, offset: int) -> Position:
        """Return the position of an offset; one beyond the text is its end."""
        offset = min(max(offset, 0), len(self._text))
        line = bisect_right(self._starts, offset) - 1
        start = self._starts[line]
        return Position(line, self._units(self._text[start : min(offset, self._ends[line])]))

    def range(self, start: int, end: int) -> Range:
        """Return the range between two offsets."""
        return Range(self.position(start), self.position(end))

    def offset(self, position: Position) -> int:
        """Return the offset of a position; one behind its line's end is that end."""
        if position.line >= len(self._starts):
            return len(self._text)
        start, end = self._starts[position.line], self._ends[position.line]
        line = self._text[start:end]
        if line.isascii() or self._encoding == UTF32:
            return start + min(position.character, len(line))
        units = 0
        for at, char in enumerate(line):
            if units >= position.character:
                return start + at
            units += self._units(char)
        return end

    def _units(self, text: str) -> int:
        if text.isascii() or self._encoding == UTF32:
            return len(text)
        if self._encoding == UTF8:
            return len(text.encode(errors="surrogatepass"))
        return len(text) + sum(char > "\uffff" for char in text)


@lru_cache(8)
def read_positions(text: str, encoding: str) -> Positions:
    """Return the lines of a text; those of the last texts are kept."""
    return Positions(text, encoding)


class Buffer(NamedTuple):
    """An open file as the editor has it."""

    uri: str
    text: str
    version: int | None


class Editor(NamedTuple):
    """What is open in the editor, and what it can do; taken at the time of a request."""

    buffers: Mapping[str, Buffer]
    """The open files by their paths."""
    encoding: str
    """The encoding in which positions count."""
    capabilities: ClientCapabilities
    folders: Sequence[str]
    """The paths of the workspace's folders."""

    def uri_of(self, file: str) -> str:
        """Return the URI of a file by the path that the editor has, which may have links in it."""
        for folder in self.folders:
            real = os.path.realpath(folder)
            if real != folder and file.startswith(f"{real}{os.sep}"):
                file = os.path.join(folder, os.path.relpath(file, real))  # noqa: PTH118
                break
        buffer = self.buffers.get(file)
        return buffer.uri if buffer else str(from_fs_path(file))


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
        for change in params.content_changes:
            if isinstance(change, TextDocumentContentChangePartial):
                lines = Positions(text, self.encoding)
                start, end = (
                    lines.offset(change.range.start),
                    lines.offset(change.range.end),
                )
                text = text[:start] + change.text + text[max(start, end) :]
            else:
                text = change.text
        self._open[uri] = Buffer(uri, text, params.text_document.version)

    def close(self, uri: str) -> None:
        """Remove a file that was closed."""
        self._open.pop(uri, None)

    def uris(self) -> list[str]:
        """Return the URIs of the open files."""
        return list(self._open)

    def version(self, uri: str) -> int | None:
        """Return the version of an open file; None for others."""
        buffer = self._open.get(uri)
        return buffer.version if buffer else None

    def all(self) -> dict[str, Buffer]:
        """Return the open files by their absolute paths."""
        files = ((path_at(uri), buffer) for uri, buffer in self._open.items())
        return {file: buffer for file, buffer in files if file}


def file_at(uri: str) -> str:
    """Return the absolute path of a `file:` URI; empty for other URIs."""
    file = to_fs_path(uri)
    return file if file and Path(file).is_absolute() else ""


def path_at(uri: str) -> str:
    """Return the absolute path of a `file:` URI without `..`; empty for other URIs."""
    file = file_at(uri)
    return os.path.normpath(file) if file else ""


def is_note(uri: str) -> bool:
    """Return whether a file is Markdown, which may be a note, by its name."""
    return file_at(uri).endswith(NOTE_SUFFIXES)


_BANK_AGAIN = 2.0
"""Seconds after which a folder without a bank is searched again."""

_log = logging.getLogger(__name__)


class OpenBank:
    """A bank, the work in its background, and the last findings of its rules."""

    def __init__(self, root: Path, changed: Callable[[OpenBank, ChangedPaths], None]) -> None:
        """Open nothing yet; `changed` is called with each batch of changed notes."""
        self.root = root
        self.shared = SharedBank(str(root))
        self.background = Background(self.shared)
        self.background.listen(partial(changed, self))
        self.findings: Mapping[str, Sequence[Finding]] = {}
        """Findings in the saved files, by path; replaced as a whole."""

    def start(self) -> None:
        """Make the folder of the index if it is missing, then start the background work.

        Two banks that make it at the same time would each find an index of unknown origin.
        """
        try:
            self.shared.bank().read(lambda view: view)
        finally:
            self.background.start()

    def close(self) -> None:
        """Stop the background work, and close the bank."""
        self.background.close()
        self.shared.close()


class Banks:
    """The banks in which an editor's files are. Its methods may be called from any thread."""

    def __init__(
        self, bank_path: str | None, changed: Callable[[OpenBank, ChangedPaths], None]
    ) -> None:
        """Use the bank at `bank_path` for all files, or the bank of each file's folder."""
        self._named = bank_path
        self._changed = changed
        self._lock = threading.Lock()
        self._open: dict[Path, OpenBank] = {}
        self._found: dict[Path, tuple[float, Path | None]] = {}
        """The bank's root by folder, and when it was searched."""

    def of(self, file: Path) -> OpenBank | None:
        """Return the bank of a file or folder; None if there is none."""
        with self._lock:
            if private := self._find_private(file):
                return private
            root = self._find_root(file if file.is_dir() else file.parent)
            if root is None:
                return None
            if root not in self._open:
                self._open[root] = OpenBank(root, self._changed)
                self._open[root].start()
            return self._open[root]

    def list_open(self) -> list[OpenBank]:
        """Return the banks that are open."""
        with self._lock:
            return list(self._open.values())

    def close(self) -> None:
        """Close all banks."""
        for bank in self.list_open():
            bank.close()

    def _find_private(self, file: Path) -> OpenBank | None:
        """Return the open bank to which a note of a session belongs, which is elsewhere."""
        state = paths.user_folder("state")
        if not file.is_relative_to(state):
            return None
        return next(
            (bank for bank in self._open.values() if bank.shared.bank().roots.key_of(str(file))),
            None,
        )

    def _find_root(self, folder: Path) -> Path | None:
        """Return the root of the bank of a folder; None if there is none."""
        searched_at, root = self._found.get(folder, (float("-inf"), None))
        if time.monotonic() - searched_at < _BANK_AGAIN or (root is not None and root.is_dir()):
            return root
        try:
            root = paths.locate(self._named, start=folder).root
        except (NoBank, BadName, BadSetting, OSError) as error:
            root = None
            if not isinstance(error, NoBank) and folder not in self._found:
                _log.warning("%s: %s", folder, error)
        self._found[folder] = (time.monotonic(), root)
        return root


_CODE_AGAIN = 5.0
"""Seconds after which a folder outside of work trees is searched again."""


class Codebases:
    """The code of the work trees in which an editor's files are; for any thread."""

    def __init__(self) -> None:
        """Open nothing yet."""
        self._lock = threading.Lock()
        self._open: dict[Path, SharedCode] = {}
        self._found: dict[Path, tuple[float, Path | None]] = {}
        """The root of the work tree by folder, and when it was searched."""

    def of(self, file: Path) -> SharedCode | None:
        """Return the code of a file's work tree; None outside of work trees."""
        folder = file.parent
        with self._lock:
            searched_at, root = self._found.get(folder, (float("-inf"), None))
            if root is None and time.monotonic() - searched_at >= _CODE_AGAIN:
                root = self._open_work_tree(folder)
                self._found[folder] = (time.monotonic(), root)
            return self._open[root] if root else None

    def close(self) -> None:
        """Close all code."""
        with self._lock:
            for code in self._open.values():
                code.close()

    def _open_work_tree(self, folder: Path) -> Path | None:
        """Open the work tree of a folder, unless it is open, and return its root."""
        code = SharedCode(partial(_open, folder), searched=False)
        try:
            root = code.code.root
        except NoRepository:
            return None
        except (MemoryBankError, OSError) as error:
            _log.warning("%s: %s", folder, error)
            return None
        if root in self._open:
            code.close()
        else:
            code.start()
            self._open[root] = code
        return root


def _open(folder: Path, embeds: Callable[[], bool]) -> Codebase:
    from memory_bank.code.index.codebase import (
        open_codebase,  # start-up: the first answer needs none
    )

    return open_codebase(folder, embeds=embeds)


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
        texts = {
            note_path(self.bank, file): buffer.text for file, buffer in self.editor.buffers.items()
        }
        texts.pop("", None)
        return Texts(self.bank, texts)

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
        return read_positions(text, self.editor.encoding)

    def offset(self, position: Position) -> int:
        """Return the offset of a position in the file."""
        return self.lines().offset(position)

    def range(self, start: int, end: int, path: str | None = None) -> Range:
        """Return the range of two offsets in the file, or in the note at a path."""
        return self.lines(path).range(start, end)

    def uri(self, path: str) -> str:
        """Return the URI of a note: the editor's own, if it is open."""
        return self.uri_of(note_file(self.bank, path))

    def uri_of(self, file: str) -> str:
        """Return the URI of a file."""
        return self.editor.uri_of(file)

    def location(self, path: str, start: int, end: int) -> Location:
        """Return the location of two offsets of a note."""
        return Location(self.uri(path), self.range(start, end, path))
