"""Parse a file's bytes to a note, and encode its text."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Mapping
from functools import cached_property
from operator import itemgetter

from memory_bank.base.documents import Fault
from memory_bank.base.errors import BadInput
from memory_bank.notes import characters, decision_records, identity, links, okf, schema, sections
from memory_bank.notes.characters import BREAK, to_nfc
from memory_bank.notes.front_matter import Split, read_metadata, rewrite_error, split
from memory_bank.notes.identity import hash_bytes
from memory_bank.notes.inline import code_spans
from memory_bank.notes.merging.conflicts import UNRESOLVED, find
from memory_bank.notes.names import name_of
from memory_bank.notes.note import Meta, Note


def parse(path: str, data: bytes) -> Note:
    """Parse a file, with faults for parts that can't be read; raise UnreadableNote for a binary."""
    decoded = characters.decode(data)
    parts = split(decoded.text)
    raw, faults = read_metadata(parts)
    head = parts.opening + parts.block + parts.closing
    body = sections.read_body(parts.body, 1 + count_lines(head), len(head))
    meta, meta_faults = schema.read_meta(raw, body.tags)
    references = links.locate_in_front_matter(links.reference_links(meta), head)
    conflicts = (Fault(UNRESOLVED, merge_conflict.line) for merge_conflict in find(decoded.text))
    note = Note(
        name=to_nfc(name_of(path)),
        path=path,
        meta=meta,
        body=body._replace(links=body.links + references) if references else body,
        text=decoded.text,
        body_start=len(head),
        etag=hash_bytes(data),
        content_hash=identity.content_hash(parts.body),
        size=len(data),
        faults=tuple(
            dict.fromkeys((*decoded.faults, *conflicts, *faults, *meta_faults, *body.faults))
        ),
        writable=decoded.writable,
    )
    return okf.link_successor(decision_records.read_decision(note))


def front_matter(data: bytes) -> Meta:
    """Parse a file's front matter only; raise UnreadableNote."""
    raw, _ = read_metadata(split(characters.decode(data).text))
    return schema.read_meta(raw)[0]


def count_lines(text: str) -> int:
    r"""Count line ends as Markdown does: \r\n, \r and \n."""
    return text.count("\n") + text.count("\r") - text.count("\r\n")


def edit_bytes(data: bytes, change: Callable[[str], str]) -> bytes:
    """Return the file's bytes after a change of its text; the byte order mark stays.

    Raises UnreadableNote if a file that isn't valid UTF-8 would change, since a rewrite would lose
    bytes, and BadInput for text that a note can't have.
    """
    decoded = characters.decode(data)
    text = change(decoded.text)
    if text == decoded.text:
        return data
    if not decoded.writable:
        fault = decoded.faults[0]
        raise rewrite_error(fault.reason, fault.line)
    mark = characters.BOM if data.startswith(characters.BOM) else b""
    return mark + encode_text(text)


def encode_text(text: str) -> bytes:
    """Return the bytes of a note's text; raise BadInput for text that could not be read again."""
    if "\0" in text:
        raise BadInput("a note can't hold NUL characters", "leave them out")
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise BadInput(
            f"the text has half a surrogate pair at character {error.start}", "it was cut wrongly"
        ) from error


class NoteText:
    """The text of one Markdown file."""

    def __init__(self, path: str, text: str, size: int) -> None:
        """Take the path below the bank, the text without byte order mark, the size in bytes."""
        self.path = path
        self.text = text
        self.size = size

    @cached_property
    def parts(self) -> Split:
        """The front matter and the body."""
        return split(self.text)

    @property
    def head(self) -> str:
        """The front matter as written, without its fences."""
        return self.parts.block

    @property
    def body_start(self) -> int:
        """The offset of the body."""
        return len(self.text) - len(self.parts.body)

    @cached_property
    def _metadata(self) -> tuple[dict[str, object], tuple[Fault, ...]]:
        return read_metadata(self.parts)

    @property
    def keys(self) -> Mapping[str, object]:
        """The keys and values of the front matter; empty if it can't be parsed."""
        return self._metadata[0]

    @property
    def faults(self) -> tuple[Fault, ...]:
        """The faults of the front matter."""
        return self._metadata[1]

    @cached_property
    def code(self) -> list[tuple[int, int]]:
        """The start and end of each piece of code, in order."""
        start = self.body_start
        return [(start + first, start + end) for first, end in code_spans(self.parts.body)]

    def in_code(self, offset: int) -> bool:
        """Return whether a character is in code."""
        before = bisect_right(self.code, offset, key=itemgetter(0)) - 1
        return before >= 0 and offset < self.code[before][1]

    def key_line(self, key: str) -> int:
        """Return the line of a top-level key of the front matter; 1 if it is not found."""
        match = re.search(rf"(?:\A|(?<=[\r\n]))[\"']?{re.escape(key)}[\"']?[ \t]*[:=]", self.head)
        return self.place(len(self.parts.opening) + match.start())[0] if match else 1

    @cached_property
    def _starts(self) -> list[int]:
        """The offsets at which the lines start."""
        return [0, *(match.end() for match in BREAK.finditer(self.text))]

    def place(self, offset: int) -> tuple[int, int]:
        """Return the 1-based line and column of an offset."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1
