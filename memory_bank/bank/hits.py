"""A note in an answer."""

from __future__ import annotations

from memory_bank.bank.backlinks import LinkShown
from memory_bank.base import NamedTuple
from memory_bank.base.documents import Fault
from memory_bank.notes.note import Meta
from memory_bank.notes.okf import Source
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
    sources: tuple[Source, ...] | None = None
    """What it derives from, after what it describes; None if it doesn't say."""

    @classmethod
    def in_json(cls) -> tuple[str, ...]:
        """Return the fields that answers have, in their order."""
        at = cls._fields.index("meta")
        return *cls._fields[:at], *_OF_META, *cls._fields[at + 1 :]

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
            return frozenset(name.rpartition(".")[2] for name in self.in_json())
        return _OF_HITS if self.etag else _OF_WHOLE_NOTES


_OF_HITS = frozenset(
    ("line", "heading", "snippet", "relevance_score", "reasons", "also", "trust", "weak")
)

_OF_WHOLE_NOTES = frozenset(
    ("updated_at", "body", "etag", "backlinks_count", "faults", "writable", "touched", "claims")
)
