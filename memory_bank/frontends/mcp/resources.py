"""Resources: notes, tags and recent notes; the text of notes is quoted here too."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import unquote

from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError
from mcp_types import Resource, ResourceTemplate

from memory_bank.base.errors import BadInput, Hint, MemoryBankError, NoteNotFound
from memory_bank.base.rendering import document
from memory_bank.base.text import Quotes, one_line
from memory_bank.frontends.mcp.notifications import NOTE, RECENT, SESSIONS, TAGS, uri_of
from memory_bank.frontends.mcp.structure import structured
from memory_bank.frontends.mcp.tool import failed
from memory_bank.memory import told

if TYPE_CHECKING:
    from memory_bank.bank.bank import Bank
    from memory_bank.frontends.serving.shared_bank import SharedBank
    from memory_bank.sessions.events import Happened
    from memory_bank.sessions.listing import SessionRow


_JSON, _MARKDOWN = "application/json", "text/markdown"

_NEWEST = 20
"""Notes that are listed as resources: the most recently changed."""

TEMPLATE = ResourceTemplate(
    uri_template="memory://note/{+path}",
    name="note",
    title="A note",
    description="A whole note, quoted. The path is relative to the bank, as in answers.",
    mime_type=_MARKDOWN,
)

_FIXED = (
    Resource(
        uri=RECENT,
        name="recent",
        title="Recent notes",
        description="The most recently written or changed notes.",
        mime_type=_JSON,
    ),
    Resource(
        uri=TAGS,
        name="tags",
        title="Tags",
        description="The tags, each with its number of notes.",
        mime_type=_JSON,
    ),
    Resource(
        uri=SESSIONS,
        name="sessions",
        title="Sessions",
        description="The last sessions of agents, and what happened in them.",
        mime_type=_JSON,
    ),
)


@dataclass(frozen=True, slots=True)
class _Tags:
    """The tags with their numbers of notes."""

    result_count: int
    tags: dict[str, int]


@dataclass(frozen=True, slots=True)
class _Sessions:
    """The last sessions, the newest first, and what happened in them, the newest last."""

    result_count: int
    sessions: tuple[SessionRow, ...]
    events: tuple[Happened, ...]


def listed(shared: SharedBank) -> list[Resource]:
    """Return the resources; without a bank only the fixed ones.

    Names and titles of notes are quoted, as all text of notes.
    """
    from memory_bank.memory import show

    try:
        notes = show.list_notes(shared.bank(), _NEWEST).notes
    except MemoryBankError:
        return list(_FIXED)
    quotes = Quotes()
    return [
        *_FIXED,
        *(
            Resource(
                uri=uri_of(note.path),
                name=quotes.inside(one_line(note.path)),
                title=quotes.inside(one_line(note.title)),
                mime_type=_MARKDOWN,
                size=note.size,
            )
            for note in notes
        ),
    ]


def read(
    shared: SharedBank, uri: str, hide: Callable[[str], str], words: Mapping[Hint, str]
) -> tuple[str, str]:
    """Return a resource's text and its MIME type; raise ResourceError.

    Hints of errors are given in `words`.
    """
    try:
        return _read(shared.bank(), uri)
    except (NoteNotFound, BadInput) as error:
        raise ResourceNotFoundError(failed(error, hide, words)) from error
    except MemoryBankError as error:
        raise ResourceError(failed(error, hide, words)) from error


def _read(bank: Bank, uri: str) -> tuple[str, str]:
    from memory_bank.memory import show
    from memory_bank.sessions import listing
    from memory_bank.sessions.events import recent

    quotes = Quotes()
    if uri == TAGS:
        counts = show.tag_counts(bank)
        return document(structured(quotes, _Tags(len(counts), counts)), indent=None), _JSON
    if uri == RECENT:
        return document(structured(quotes, show.list_notes(bank, _NEWEST)), indent=None), _JSON
    if uri == SESSIONS:
        rows = listing.list_sessions(bank, _NEWEST).sessions
        events = recent(bank, _NEWEST)
        return document(structured(quotes, _Sessions(len(rows), rows, events)), indent=None), _JSON
    if uri.startswith(NOTE):
        return told.read(show.show(bank, unquote(uri.removeprefix(NOTE))), quotes), _MARKDOWN
    raise NoteNotFound(
        f"there is no resource {uri[:200]!r}", f"{NOTE}PATH, {TAGS}, {RECENT} or {SESSIONS}"
    )
