"""The contract of a source: the documents that an index is made of.

Notes are one source. Another one is a class with these methods; the index needs no change for it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

Signature = str
"""What is another one whenever a document may have changed; empty when that can't be told."""

SAME_FILE, BY_PATH, BY_NAME, BY_ALIAS, BY_TITLE, BY_ID = range(6)
"""Ranks of a name: a link takes the documents of the lowest rank that has any."""


class Span(NamedTuple):
    """Lines of a document, from `line` up to, not including, `end_line`; 1-based."""

    line: int
    end_line: int


class Section(NamedTuple):
    """Where a section stands, with the headings above it, outermost first."""

    line: int
    end_line: int
    headings: tuple[str, ...] = ()


class Passage(NamedTuple):
    """A part of a document that is ranked and embedded as one."""

    line: int
    end_line: int
    text: str
    section: int = -1
    """Number of its section in `Document.sections`; -1 when it is in none."""


class Name(NamedTuple):
    """What a document is called; links resolve by it."""

    name: str
    rank: int


class Link(NamedTuple):
    """An edge from a place in a document."""

    line: int
    kind: str
    type: str
    target: str
    """As written."""
    names: tuple[str, ...]
    """The names that it may mean, in order, at most two."""
    ghost: str
    """What the target is called when no document answers to it."""
    heading: str = ""
    anchor: str = ""
    text: str = ""
    before: str = ""
    after: str = ""


class Fault(NamedTuple):
    """Something in a document that couldn't be read as it stands; the rest was."""

    reason: str
    line: int = 1


class Dates(NamedTuple):
    """When a document was created and updated, in seconds since the epoch."""

    created: float = 0.0
    updated: float = 0.0


class Committed(NamedTuple):
    """What a repository's history says of one file."""

    first: float
    """When it came, renames followed, in seconds since the epoch."""
    last: float
    """When its bytes were last changed; as `first` if they never were."""
    blob: bytes
    """The name of its bytes as they are checked out by HEAD; empty if HEAD has no such file."""


UNDATED = Dates()


@dataclass(frozen=True, slots=True)
class Document:
    """One document, as it is indexed."""

    key: str
    """Its name in the source: a path, say."""
    hash: str
    """Hex digits that change with its content."""
    title: str
    passages: tuple[Passage, ...]
    id: str = ""
    """What it is known by when its key changes; empty when it has nothing but its key."""
    fields: tuple[tuple[str, str], ...] = ()
    """Keys and values that a question can filter by, lower case."""
    data: Mapping[str, Any] = field(default_factory=dict)
    """What an answer shows of it; JSON."""
    about: str = ""
    """Further words that it is found by."""
    dates: Dates = UNDATED
    hidden: bool = False
    """Whether it is found only when asked for, as what is archived."""
    sections: tuple[Section, ...] = ()
    links: tuple[Link, ...] = ()
    names: tuple[Name, ...] = ()
    anchors: tuple[tuple[str, int], ...] = ()
    """Names of lines that links may lead to."""
    faults: tuple[Fault, ...] = ()
    size: int = 0
    """Bytes."""
    signature: Signature | None = None
    """As of the moment before it was read; None for that of the scan."""


@dataclass(frozen=True, slots=True)
class Unchanged:
    """A document whose hash is the known one; only its signature, or its date, is another."""

    signature: Signature
    dates: Dates


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A document that is there but can't be indexed."""

    reason: str
    signature: Signature = ""
    hash: str = ""
    size: int = 0


Read = Document | Unchanged | Unreadable | None
"""What reading a document gives; None when it is gone."""


@dataclass(slots=True)
class Scan:
    """What a scan of a source met, by key."""

    signatures: dict[str, Signature] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    """What can't be a document, with the reason."""


class Source(Protocol):
    """Documents to be indexed."""

    @property
    def name(self) -> str:
        """What it is called: `notes`, say."""

    @property
    def fingerprint(self) -> str:
        """Change when documents are read in another way; all are then read again."""

    def scan(self) -> Scan:
        """Return the signatures of all documents; raise StorageFailed for what is unseen."""

    def look(self, keys: Collection[str]) -> Scan | None:
        """Return the signatures of some documents; None when a scan must tell."""

    def changes(self) -> frozenset[str] | None:
        """Return the keys of what may have changed since the last call; None: anything may."""

    def refresh(self, *, again: bool = False) -> bool:
        """Look up what signatures depend on beyond the documents; tell whether they are others now.

        What could not be looked up before is tried `again` only when told to.
        """

    def read(self, key: str, known: str = "") -> Read:
        """Read a document; `known` is the hash that is indexed."""

    def text(self, key: str, hash: str, span: Span) -> str | None:  # noqa: A002  (the field's word)
        """Return some lines of a document; None when its hash is another one now."""

    def close(self) -> None:
        """Let go of files."""


def lines_between(text: str, span: Span) -> str:
    r"""Return some lines of a text, counted as Markdown does: at \r\n, \r and \n only."""
    lines = re.split(r"\r\n|\r|\n", text) if "\r" in text else text.split("\n")
    return "\n".join(lines[span.line - 1 : span.end_line - 1]).strip("\n")
