"""What answers of several rooms have: notes, and problems that a lint rule found."""

from __future__ import annotations

from typing import Literal, get_args

from memory_bank.bank.backlinks import LinkShown
from memory_bank.base import NamedTuple, in_json
from memory_bank.base.documents import Fault
from memory_bank.notes.note import Meta
from memory_bank.notes.okf import StatedSource
from memory_bank.search.retrievers.base import Reason


class Origin(NamedTuple):
    """Where a note is that is not in the bank that was asked."""

    bank: str
    """The bank's folder in its repository; of a bank of the user's own, its name."""
    repository: str = ""
    """Its name in the shared index, such as `github.com/owner/name`."""
    commit: str = ""
    committed_at: str = ""
    url: str = ""
    """The web address of the line; empty if there is none."""
    age_days: int = 0
    """Days since the note was last changed."""


NO_META = Meta(status="")

_OF_META = (
    "meta.tags", "meta.type", "meta.status", "meta.file_refs", "meta.symbol_refs",
    "meta.entity_refs", "meta.source_type", "meta.source_agent",
)  # fmt: skip


class ShownNote(NamedTuple):
    """A note in an answer: a hit with its best section, a whole note, a section, or one that cites.

    A whole note and a section have an etag, a hit and a section a line, one that cites has a
    sentence; JSON omits what the others have.
    """

    note_id: str = ""
    path: str = ""
    """Relative to the bank; of a note of the shared index, relative to its repository."""
    line: int = 0
    """1-based line of the file where the passage starts; if the snippet has nothing of it, that of
    the snippet."""
    title: str = ""
    heading: str = ""
    """The headings above that line, outermost first, joined by ` > `."""
    content: str = ""
    """The whole matching section (of a session, and with a budget of tokens, an excerpt); of a
    whole note the file's text, including front matter; of a section its text."""
    snippet: str = ""
    """The sentences of the note that answer best, on one line."""
    meta: Meta = NO_META
    """Its front matter; JSON has what `in_json` names of it."""
    edited_by: tuple[str, ...] = ()
    """Agents that are known to have changed it, without its author."""
    created_at: str = ""
    updated_at: str = ""
    body: str = ""
    """The text below the front matter."""
    etag: str = ""
    """Pass it as `if_match` to change exactly this version."""
    backlinks_count: int = 0
    access_count: int = 0
    """How often answers had it before this one."""
    last_accessed_at: str = ""
    """Before this answer; empty if it was never accessed."""
    opened_count: int = 0
    """How often it was opened, cited or confirmed, which boosts it unless settings differ."""
    relevance_score: float = 0.0
    """The likelihood that it answers the query, 0 to 1."""
    reasons: tuple[Reason, ...] = ()
    also: tuple[ShownNote, ...] = ()
    """Other sections of a hit that match: line, headings, snippet and score."""
    trust: str = ""
    """How far its section is to be trusted, by its commits; empty outside git."""
    stale: str = ""
    """Why the code that it cites is no longer as it was; empty if it is."""
    weak: bool = False
    """Whether the likelihood is too low for an answer."""
    faults: tuple[Fault, ...] = ()
    writable: bool = False
    """Whether it can be changed; a file that is not valid UTF-8, or only included, can't."""
    touched: tuple[str, ...] = ()
    """Cited files that changed, though not what the note names in them."""
    claims: tuple[str, ...] = ()
    """What it says itself of who wrote and who reviewed it; nobody has checked that."""
    included: bool | None = None
    """True for a file of the project that settings include, else None."""
    superseded_by: str | None = None
    """The path of the note that replaced it."""
    newer: str | None = None
    """The path of a newer note that may amend it; nobody has said whether it does."""
    links: tuple[LinkShown, ...] | None = None
    """Links to the note or ghost of `linked_to`, the most relevant first, or to cited code."""
    origin: Origin | None = None
    """Where it is, if it is not in the bank that was asked."""
    description: str | None = None
    """What it is about, as its front matter says."""
    observation_id: str | None = None
    """The id of the observation that its section is."""
    sentence: str | None = None
    """Of one that cites code, the sentence of its first link; its own first one if that says
    nothing."""
    sources: tuple[StatedSource, ...] | None = None
    """What it derives from, after what it describes; None if it doesn't say."""

    @property
    def is_section(self) -> bool:
        """Whether it is a section that was asked for."""
        return bool(self.line and self.etag)

    @property
    def citing_words(self) -> str:
        """The words around its first link to code, or its sentence if that is a reference."""
        first = self.links[0] if self.links else None
        return first.context if first and first.row.kind != "reference" else self.sentence or ""

    @property
    def sparse(self) -> frozenset[str]:
        """The fields that JSON omits when they are empty."""
        if self.is_section or not self.path or self.sentence is not None:
            return frozenset(name.rpartition(".")[2] for name in _IN_JSON)
        return _OF_HITS if self.etag else _OF_WHOLE_NOTES


_META_AT = ShownNote._fields.index("meta")
_IN_JSON = *ShownNote._fields[:_META_AT], *_OF_META, *ShownNote._fields[_META_AT + 1 :]
in_json(*_IN_JSON)(ShownNote)

_OF_HITS = frozenset(
    ("line", "heading", "snippet", "relevance_score", "reasons", "also", "trust", "weak")
)

_OF_WHOLE_NOTES = frozenset(
    ("updated_at", "body", "etag", "backlinks_count", "faults", "writable", "touched", "claims")
)


Severity = Literal["error", "warning", "info"]

SEVERITIES: tuple[Severity, ...] = get_args(Severity)
"""The most severe first."""


class Edit(NamedTuple):
    """A replacement in the text of a finding's file."""

    start: int
    """Offset in characters; the text has no byte order mark."""
    old: str
    new: str


class OtherNote(NamedTuple):
    """Another note that a finding is about."""

    path: str
    file: str
    """Its path below the work tree."""


@in_json(
    "rule", "severity", "path", "line", "message", "fix", "column", "end_line", "end_column",
    "words", "hash", "edits", "merge_into",
)  # fmt: skip
class Finding(NamedTuple):
    """A problem that a rule found, with its place."""

    rule: str
    severity: Severity
    path: str
    """The file's path, relative to the bank."""
    line: int
    """1-based; 1 for the whole file."""
    message: str
    """The problem."""
    fix: str | None = None
    """How to fix it: the name to write instead, or what to do; None if unknown."""
    column: int | None = None
    """1-based, in characters; None for the whole line."""
    end_line: int | None = None
    end_column: int | None = None
    """The column after its last character."""
    words: str | None = None
    """The words that were found; untrusted."""
    hash: str | None = None
    """What the settings name to accept a secret."""
    edits: tuple[Edit, ...] | None = None
    """Changes of the file's text that fix it."""
    merge_into: str | None = None
    """The path of an older note with the same content; a merge into it fixes it."""
    file: str | None = None
    """In a review, as the next ones: the file's path below the work tree, with forward slashes."""
    new: bool | None = None
    """Whether it was not at BASE; only new findings decide the exit code."""
    other: OtherNote | None = None
    """The other note that it is about."""


def order(finding: Finding) -> tuple[bool, int, str, str, int, int, str]:
    """Return the key by which findings are sorted: new ones first, the most severe first."""
    place = finding.path, finding.line, finding.column or 0
    return (
        finding.new is False,
        SEVERITIES.index(finding.severity),
        finding.rule,
        *place,
        finding.message,
    )


@in_json(
    "rule", "severity", "path", "file", "line", "message", "fix", "new", "column", "end_line",
    "end_column", "words", "other",
)  # fmt: skip
class ReviewFinding(Finding):
    """A finding of a rule, or of the review itself, at HEAD; a review edits nothing."""

    __slots__ = ()
