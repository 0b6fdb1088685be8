"""What the verbs of memory answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from memory_bank.bank.backlinks import LinkShown
from memory_bank.bank.open_index import NoteRow
from memory_bank.base.documents import Fault
from memory_bank.base.named_tuple import NamedTuple
from memory_bank.code.records import (
    CallShown,
    CitingNote,
    CoupledFile,
    GuardShown,
    SymbolShown,
)
from memory_bank.notes.note import Entity
from memory_bank.notes.okf import Source


class Promoted(NamedTuple):
    """The note that was made of an observation, a summary or a commit."""

    schema_version: str
    observation_id: str
    path: str
    action: str
    """`created`, or `existing` if the observation was promoted before."""
    session_path: str
    """The note of the observation's session; empty for a commit."""


@dataclass(frozen=True, slots=True)
class WrittenNote:
    """A note after a change."""

    path: str
    etag: str
    changed: bool
    """Whether its file was changed."""
    warning: str | None = None
    """A warning about the note's place, for example that git would track a session's note."""
    may_amend: str | None = None
    """Path of an older note on the same subject that it may amend since the change."""
    relinked: tuple[str, ...] | None = None
    """Paths of notes with links that could have meant it too by its new names: rewritten."""


@dataclass(frozen=True, slots=True)
class Confirmed(WrittenNote):
    """A note that was confirmed."""

    targets: tuple[str, ...] = ()
    """The targets of citations that were written anew, since their code moved."""

    @staticmethod
    def in_json() -> tuple[str, ...]:
        """Return the fields that answers have, in their order."""
        return "path", "etag", "changed", "targets", "warning"


class Confirmation(NamedTuple):
    """The notes that were confirmed, and the commit whose code they describe."""

    commit: str
    notes: tuple[Confirmed, ...]


class NoteImport(NamedTuple):
    """The result of importing one note."""

    key: str
    """Its identifier in the source."""
    action: str
    """`created`, `updated`, `unchanged`, `same_content` (the note at `path` has the same content),
    `kept` (changed in the source and in the bank: the note is not changed), `refused`."""
    path: str | None = None
    reason: str | None = None
    """Why it was not written, or what a person should know of a written one."""
    may_amend: str | None = None
    """Path of an older note on the same subject that a new or updated one may amend."""


class Imported(NamedTuple):
    """The result of an import or of a dry run."""

    kind: str
    source: str
    dry_run: bool
    counts: Mapping[str, int]
    """Notes by action."""
    notes: tuple[NoteImport, ...]
    """In the order of the source."""
    unread: tuple[NotImported, ...]
    """Entries that could not be read, and why."""


class Renamed(NamedTuple):
    """A renamed note, and the notes whose links were rewritten."""

    old_path: str
    path: str
    relinked: tuple[str, ...]
    warning: str | None = None
    """What a person should know of where the note is, as that git would track a session's."""
    broken_links: tuple[LinkShown, ...] | None = None
    """Links in included files of the project to the old name, which were not rewritten."""


class Merged(NamedTuple):
    """A merged note."""

    path: str
    note_id: str
    etag: str
    merged: tuple[str, ...]
    relinked: tuple[str, ...]
    warning: str | None = None
    """What a person should know of where the note is, as that git would track a session's."""
    broken_links: tuple[LinkShown, ...] | None = None
    """Links in included files of the project to a merged note, which were not rewritten."""


@dataclass(frozen=True, slots=True)
class Stats:
    """Counts over the notes of a bank."""

    count: int
    total_bytes: int
    """Bytes of the notes' files."""
    total_size: str
    """The same for people: `45KB`."""
    archived: int
    passages: int
    tags: dict[str, int]
    types: dict[str, int]
    ghosts: int
    broken_links: int
    orphans: int
    """Notes without links in either direction."""
    unindexed: int


class Remembered(NamedTuple):
    """The note that has the content."""

    schema_version: str
    note_id: str
    """Its id; its path if it has none."""
    action: str
    """`created` or `updated_existing`."""
    content_hash: str
    tags: tuple[str, ...]
    created_at: str
    path: str
    """Relative to the bank."""
    etag: str
    type: str
    source_type: str
    same_as: str | None = None
    """Path of a note with the same content, if only one of the two is tracked by git."""
    similar_to: str | None = None
    """Path of a note whose text is nearly the same, if this one is new."""
    may_amend: str | None = None
    """Path of an older note on the same subject that this one may amend, if it is new."""
    session_id: str | None = None
    """The session that goes on, if it is a session's note and one is known."""
    relinked: tuple[str, ...] | None = None
    """Paths of notes with links that could have meant a new note too, which were rewritten."""
    warning: str | None = None
    """What a person should know of where the note is, as that git would track a session's."""


class Listing(NamedTuple):
    """Notes, the newest first."""

    result_count: int
    notes: tuple[NoteRow, ...]
    notices: tuple[str, ...] = ()
    """What may be mistyped in the filters."""
    more: bool | None = None
    """True if the limit left notes out."""


class ShownNote(NamedTuple):
    """A whole note: the text of its file, and its metadata."""

    note_id: str
    path: str
    title: str
    type: str
    status: str
    tags: tuple[str, ...]
    source_type: str
    source_agent: str
    edited_by: tuple[str, ...]
    """Agents that are known to have changed it, without its author."""
    file_refs: tuple[str, ...]
    symbol_refs: tuple[str, ...]
    entity_refs: tuple[Entity, ...]
    created_at: str
    updated_at: str
    content: str
    """The file's text, including front matter."""
    body: str
    etag: str
    """Pass it as `if_match` to change exactly this version."""
    backlinks_count: int
    access_count: int
    """How often answers had it."""
    last_accessed_at: str
    """Empty if it was never accessed."""
    opened_count: int
    """How often it was opened, cited or confirmed, which boosts it unless settings differ."""
    faults: tuple[Fault, ...]
    writable: bool
    """Whether it can be changed; a file that is not valid UTF-8, or only included, can't."""
    included: bool | None = None
    """True for a file of the project that settings include, else None."""
    superseded_by: str | None = None
    """The path of the note that replaced it."""
    stale: str = ""
    """Why it is stale: the code that it cites changed or is gone; empty if it is not."""
    touched: tuple[str, ...] = ()
    """Cited files that changed, though not what the note names in them."""
    claims: tuple[str, ...] = ()
    """What it says itself of who wrote and who reviewed it; nobody has checked that."""
    sources: tuple[Source, ...] | None = None
    """What it derives from, after what it describes; None if it doesn't say."""


class ShownSection(NamedTuple):
    """The text of one section of a note, as in the file."""

    path: str
    line: int
    heading: str
    """The headings above it, outermost first, joined by ` > `."""
    content: str
    etag: str
    stale: str = ""
    """Why it is stale; empty if it is not."""


class Missing(NamedTuple):
    """A name that could not be read as a note."""

    name: str
    reason: str


class SeveralShown(NamedTuple):
    """Several notes, or a section of each, and why others could not be read."""

    notes: tuple[ShownNote | ShownSection, ...]
    missing: tuple[Missing, ...] = ()


class TrashedNote(NamedTuple):
    """A version of a deleted note."""

    path: str
    """The note's former path, relative to the bank."""
    version: str
    """Digits that name this version; they sort by the time of deletion."""
    deleted_at: str
    """Empty if another program put it into the trash."""
    first_line: str
    """The first line of its text, below its front matter."""


class RestoredNote(NamedTuple):
    """A restored note."""

    path: str


class Behind(NamedTuple):
    """A commit or a note that is behind a file or a line."""

    kind: str
    """`commit` or `note`."""
    id: str
    """The commit's full id, or the note's path."""
    date: str
    title: str
    author: str
    reason: str
    """What the commit's message says besides its subject; of a note, the words of its link."""
    pull_request: int = 0
    """Its number, if the commit names one; 0 for none."""


class Why(NamedTuple):
    """What is behind a file or a line, the newest first."""

    schema_version: str
    path: str
    """Below the work tree."""
    line: int
    """0 for the whole file."""
    behind: tuple[Behind, ...]
    definition: SymbolShown | None = None
    """The innermost one around the line; None if the file differs from HEAD."""
    rules: tuple[CitingNote, ...] = ()
    """Notes whose `applies_to` means the file."""
    tests: tuple[GuardShown, ...] = ()
    """Those of the definition, else of the file."""
    called_by: tuple[CallShown, ...] = ()
    """Calls of the definition."""
    coupled: tuple[CoupledFile, ...] = ()
    """Files that may change with the file, as `blast_radius` has them."""
    problem: str | None = None


class NotImported(NamedTuple):
    """A part of a source that is not imported."""

    place: str
    """Its place in the source."""
    reason: str


@dataclass(frozen=True, slots=True)
class Item:
    """A note to write. Empty fields get the same defaults as in `remember`."""

    content: str
    """The text below the front matter."""
    type: str = ""
    title: str = ""
    tags: Sequence[str] = ()
    name: str = ""
    """The note's name; by default its type's folder and its first words."""
    created_at: datetime | None = None
    """The current time by default; a time without a zone is UTC."""
    updated_at: datetime | None = None
    id: str = ""
    source_type: str = "manual"
    source_agent: str = ""
    aliases: Sequence[str] = ()
    entity_refs: Sequence[Reference] = ()
    file_refs: Sequence[str] = ()
    symbol_refs: Sequence[str] = ()
    extra: Mapping[str, object] = field(default_factory=dict)
    """Other front-matter keys."""
    front_matter: str = ""
    """Front matter, including its fences, that is kept unchanged and overrides the fields."""


Reference = Entity | Mapping[str, object] | str
"""An entity, `{kind, id}` or `KIND:ID`."""
