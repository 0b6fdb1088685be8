"""What the verbs of memory answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from memory_bank.bank.backlinks import LinkShown
from memory_bank.bank.open_index import NoteRow
from memory_bank.bank.records import ShownNote
from memory_bank.base import NamedTuple, with_schema_version
from memory_bank.notes.note import Entity, Meta


@with_schema_version("1.0")
class Promoted(NamedTuple):
    """The note that was made of an observation, a summary or a commit."""

    observation_id: str
    path: str
    action: str
    """`created`, or `existing` if the observation was promoted before."""
    session_path: str
    """The note of the observation's session; empty for a commit."""


class WrittenNote(NamedTuple):
    """A note after a write: each verb sets what it knows, and JSON omits the rest."""

    path: str
    """Relative to the bank."""
    etag: str = ""
    changed: bool | None = None
    """Whether its file was changed; None for a note that was not there before."""
    warning: str | None = None
    """What a person should know, for example that git would track a session's note."""
    may_amend: str | None = None
    """Path of an older note on the same subject that it may amend, if it is new or changed."""
    relinked: tuple[str, ...] | None = None
    """Paths of other notes whose links were rewritten: to follow a moved or merged note, or since
    they could mean a new name too."""
    schema_version: str | None = None
    note_id: str = ""
    """Its id; its path if it has none."""
    action: str | None = None
    """`created` or `updated_existing`, if content was remembered."""
    content_hash: str = ""
    tags: tuple[str, ...] | None = None
    created_at: str = ""
    type: str | None = None
    source_type: str = ""
    same_as: str | None = None
    """Path of a note with the same content, if only one of the two is tracked by git."""
    similar_to: str | None = None
    """Path of a note whose text is nearly the same, if this one is new."""
    session_id: str | None = None
    """The session that goes on, if it is a session's note and one is known."""
    old_path: str = ""
    """Its path before it was moved."""
    merged: tuple[str, ...] = ()
    """Paths of the notes that were merged into it."""
    broken_links: tuple[LinkShown, ...] | None = None
    """Links in included files of the project to a former name, which were not rewritten."""
    targets: tuple[str, ...] | None = None
    """The targets of its citations that were written anew, since their code moved."""

    @property
    def sparse(self) -> frozenset[str]:
        """The fields that JSON omits when they are empty."""
        return frozenset(
            ("etag", "note_id", "content_hash", "created_at", "source_type", "old_path", "merged")
        )


class Confirmation(NamedTuple):
    """The notes that were confirmed, and the commit whose code they describe."""

    commit: str
    notes: tuple[WrittenNote, ...]


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


class Listing(NamedTuple):
    """Notes, the newest first."""

    result_count: int
    notes: tuple[NoteRow, ...]
    notices: tuple[str, ...] = ()
    """What may be mistyped in the filters."""
    more: bool | None = None
    """True if the limit left notes out."""


class Missing(NamedTuple):
    """A name that could not be read as a note."""

    name: str
    reason: str


class SeveralShown(NamedTuple):
    """Several notes, or a section of each, and why others could not be read."""

    notes: tuple[ShownNote, ...]
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


class NotImported(NamedTuple):
    """A part of a source that is not imported."""

    place: str
    """Its place in the source."""
    reason: str


class Draft(NamedTuple):
    """A note to write; of its `meta` what is empty gets the same defaults as in `remember`."""

    content: str
    """The text below the front matter."""
    meta: Meta = Meta()
    """A time without a zone is UTC; `extra` has other front-matter keys."""
    name: str = ""
    """The note's name; by default its type's folder and its first words."""
    front_matter: str = ""
    """Front matter, including its fences, that is kept unchanged and overrides `meta`."""


Reference = Entity | Mapping[str, object] | str
"""An entity, `{kind, id}` or `KIND:ID`."""
