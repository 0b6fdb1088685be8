"""The contract of a source, which supplies the documents of an index.

Notes are one source. Any class with these methods is another; the index need not change.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal, Protocol

from memory_bank.base import NamedTuple

Signature = str
"""A text that differs whenever a document may have changed; empty if unknown."""

SAME_FILE, BY_PATH, BY_NAME, BY_ALIAS, BY_TITLE, BY_ID, BY_NUMBER = range(7)
"""Ranks of names: a link leads to the documents with its name at the lowest rank."""


class Span(NamedTuple):
    """Lines of a document, from `line` up to, not including, `end_line`; 1-based."""

    line: int
    end_line: int


class Section(NamedTuple):
    """A part of a document under one heading, without the sections below it."""

    line: int
    """1-based line where the section starts, its heading line included."""
    end_line: int
    """The line after its last."""
    headings: tuple[str, ...] = ()
    """Plain text of the headings above, outermost first; empty before the first heading."""
    name: str = ""
    """Its last block id that is alone on a line, without the caret; most have none."""
    fields: tuple[tuple[str, str], ...] = ()
    """Keys and values of its inline fields, in their order; in an index in lower case."""
    created: float = 0.0
    """In an index, when it was written, if it says so, in seconds since the epoch."""
    tokens: int = 0
    """In an index the estimated tokens of its text; of a section without a name, 0."""
    level: int = 0
    """Of its heading in Markdown."""
    start: int = 0
    """Offset of its first character in the note's text."""
    text: str = ""
    """The exact source, heading line included, line ends as in the file; an index has none."""


class Passage(NamedTuple):
    """A part of a document that is ranked and embedded."""

    line: int
    end_line: int
    text: str
    section: int = -1
    """Number of its section in `Document.sections`; -1 when it is in none."""


class Name(NamedTuple):
    """A name by which links find a document."""

    name: str
    rank: int


LinkKind = Literal["wiki", "embed", "markdown", "image", "reference"]


class Link(NamedTuple):
    """A link in a document: its target, type, and the words around it; in an index, its ends."""

    target: str
    """As written, without heading, block and shown text; empty for a link inside the document."""
    kind: LinkKind
    line: int
    """1-based line of the file."""
    type: str = "related_to"
    heading: str = ""
    block: str = ""
    text: str = ""
    before: str = ""
    """About 100 characters of text before the link, white space folded."""
    after: str = ""
    names_file: bool = False
    """Whether it is one of `file_refs`: a path from the project's root."""
    names: tuple[str, ...] = ()
    """The names that it may mean, in order, at most two; none before it is looked up."""
    ghost: str = ""
    """The target's name if no document has it."""
    source: int = 0
    """In an index the number of its document; the next ones are known there, too."""
    source_key: str = ""
    ambiguous: bool = False
    dest: int | None = None
    """The document that it leads to."""
    dest_key: str = ""
    hashes: tuple[int, int] = (0, 0)
    """Of the names that it may mean, in order, in place of those."""

    @property
    def inside(self) -> bool:
        """Whether it leads to a heading or block."""
        return bool(self.heading or self.block)

    def files(self, place: str) -> tuple[str, str]:
        """Return the paths below the project of the files that it may mean, if it leads to no note.

        `place` is that of its note: the file of a picture is often beside it.
        """
        return self.ghost, posixpath.normpath(posixpath.join(posixpath.dirname(place), self.target))


class Fault(NamedTuple):
    """A part of a document that couldn't be read."""

    reason: str
    line: int = 1


class PathProblem(NamedTuple):
    """A file or a note that needs a person, and why."""

    path: str
    reason: str


class Dates(NamedTuple):
    """When a document was created and updated, in seconds since the epoch."""

    created: float = 0.0
    updated: float = 0.0
    stated: bool = False
    """Whether the document itself says when it was created, not only the file or its commits."""


class Committed(NamedTuple):
    """The commits of one file."""

    first: float
    """Time of the first commit, renames followed, in seconds since the epoch."""
    last: float
    """Time of the last commit that changed its bytes."""
    blob: str
    """The object id of its blob in HEAD; empty if HEAD doesn't have the file."""


UNDATED = Dates()


class Document(NamedTuple):
    """A document to index."""

    key: str
    """Its unique name in the source, for example a path."""
    hash: str
    """Hex digits that change with its content."""
    title: str
    passages: tuple[Passage, ...]
    id: str = ""
    """An id that stays when its key changes; may be empty."""
    fields: tuple[tuple[str, str], ...] = ()
    """Keys and values for filters, in lower case."""
    data: Mapping[str, Any] = MappingProxyType({})
    """Data for display, as JSON."""
    content: str = ""
    """Hex digits of a hash of its text alone, which other documents may have, too."""
    keywords: str = ""
    """Words chosen to find it by, such as tags: they count as words of its text."""
    about: str = ""
    """Words from its metadata for the keyword indexes."""
    dates: Dates = UNDATED
    hidden: bool = False
    """Whether it is found only on request, such as archived notes."""
    sections: tuple[Section, ...] = ()
    links: tuple[Link, ...] = ()
    names: tuple[Name, ...] = ()
    anchors: tuple[tuple[str, int], ...] = ()
    """Names of lines, for links to them."""
    faults: tuple[Fault, ...] = ()
    asked: frozenset[str] = frozenset()
    """Its title and headings that only say what was asked: they are shown, not searched."""
    size: int = 0
    """Bytes."""
    signature: Signature | None = None
    """Its signature before it was read; None to use that of the scan."""
    number: int = 0
    """Its number in an index, which keeps no more of it than the fields of one row."""

    @property
    def known_as(self) -> str:
        """Its name in the logs of activity: its id, else its key."""
        return self.id or self.key

    @property
    def created(self) -> float:
        """When it was created, in seconds since the epoch."""
        return self.dates.created

    @property
    def updated(self) -> float:
        """When it was updated, in seconds since the epoch."""
        return self.dates.updated


class Unchanged(NamedTuple):
    """A document with the indexed hash; signature or dates may have changed."""

    signature: Signature
    dates: Dates


class Unreadable(NamedTuple):
    """A document that exists but can't be indexed."""

    reason: str
    signature: Signature = ""
    hash: str = ""
    size: int = 0


class Postponed(NamedTuple):
    """A document that is left to a process that may take longer."""


Read = Document | Unchanged | Unreadable | Postponed | None
"""The result of reading a document; None if it no longer exists."""


class Scan(NamedTuple):
    """The result of a scan, by key."""

    signatures: Mapping[str, Signature]
    refused: Mapping[str, str] = MappingProxyType({})
    """Files that can't be documents, with reasons."""
    log: list[str] | None = None
    """Keys that changed since all documents were listed; later scans add theirs."""
    logged: int = 0
    """How many keys of the log are those of changes before this scan."""

    def change(self, changes: Mapping[str, Signature | None]) -> Scan:
        """Return the scan after this one, which differs at some keys; None is for what is gone."""
        signatures, log = dict(self.signatures), [] if self.log is None else self.log
        for key, signature in changes.items():
            if signature is None:
                signatures.pop(key, None)
            else:
                signatures[key] = signature
        log += changes
        return Scan(signatures, self.refused, log, len(log))

    def changed_since(self, earlier: Scan) -> Sequence[str] | None:
        """Return the keys that may have changed since an earlier scan; None if any may have."""
        if self is earlier:
            return ()
        if self.log is None or self.log is not earlier.log:
            return None
        return self.log[earlier.logged : self.logged]


class Source(Protocol):
    """Documents to be indexed."""

    @property
    def name(self) -> str:
        """Its name, such as `notes`."""

    @property
    def fingerprint(self) -> str:
        """Version of its parser; when it changes, all documents are read again."""

    def scan(self) -> Scan:
        """Return the signatures of all documents; raise StorageFailed if some can't be listed."""

    def refresh(self, *, again: bool = False) -> bool:  # noqa: ARG002  (those who depend on more)
        """Update other data that signatures depend on; tell whether it changed.

        `again` also repeats a lookup that failed before.
        """
        return False

    def read(self, key: str, indexed_hash: str = "") -> Read:
        """Read a document; `indexed_hash` is that of the last reading."""

    def text(self, key: str, hash: str, span: Span) -> str | None:  # noqa: A002  (the field's word)
        """Return some lines of a document; None if its hash has changed."""

    def close(self) -> None:
        """Close all files."""
        return


def read_lines(text: str, span: Span) -> str:
    r"""Return some lines of a text, counted as Markdown does: at \r\n, \r and \n only."""
    return "\n".join(split_lines(text)[span.line - 1 : span.end_line - 1]).strip("\n")


def split_lines(text: str) -> list[str]:
    r"""Return the lines of a text as Markdown counts them: to \r\n, \r and \n only."""
    return re.split(r"\r\n|\r|\n", text) if "\r" in text else text.split("\n")
