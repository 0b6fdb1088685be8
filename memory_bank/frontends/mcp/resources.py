"""Resources: a note, the tags, what changed last; what notes say is quoted here too."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING
from urllib.parse import unquote

from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError
from mcp_types import Resource, ResourceTemplate

from memory_bank.errors import BadInput, MemoryBankError, NoteNotFound
from memory_bank.frontends.mcp import text
from memory_bank.frontends.mcp.changes import NOTE, RECENT, TAGS, uri_of
from memory_bank.frontends.mcp.quoting import clean, one_line
from memory_bank.frontends.mcp.tool import failed
from memory_bank.frontends.present import document

if TYPE_CHECKING:
    from memory_bank.bank import Bank

_JSON, _MARKDOWN = "application/json", "text/markdown"
_NEWEST = 20
"""Notes that are listed as resources: those that changed last."""

TEMPLATE = ResourceTemplate(
    uri_template="memory://note/{+path}",
    name="note",
    title="A note",
    description="One note whole, quoted. The path is below the bank, as answers give it.",
    mime_type=_MARKDOWN,
)
_FIXED = (
    Resource(
        uri=RECENT,
        name="recent",
        title="Recent notes",
        description="The notes that were written or changed last.",
        mime_type=_JSON,
    ),
    Resource(
        uri=TAGS,
        name="tags",
        title="Tags",
        description="The tags, each with the number of its notes.",
        mime_type=_JSON,
    ),
)


def listed(find_bank: Callable[[], Bank]) -> list[Resource]:
    """Return the resources there are: none but the fixed ones where there is no bank."""
    from memory_bank.actions.listing import list_notes

    try:
        notes = list_notes(find_bank(), _NEWEST).notes
    except MemoryBankError:
        return list(_FIXED)
    return [
        *_FIXED,
        *(
            Resource(
                uri=uri_of(note.path),
                name=one_line(note.path),
                title=one_line(note.title),
                mime_type=_MARKDOWN,
                size=note.size,
            )
            for note in notes
        ),
    ]


def read(find_bank: Callable[[], Bank], uri: str) -> tuple[str, str]:
    """Return a resource's text and its MIME type; raise ResourceError."""
    try:
        return _read(find_bank(), uri)
    except (NoteNotFound, BadInput) as error:
        raise ResourceNotFoundError(failed(error)) from error
    except MemoryBankError as error:
        raise ResourceError(failed(error)) from error


def _read(bank: Bank, uri: str) -> tuple[str, str]:
    from memory_bank.actions.listing import list_notes, show, tag_counts

    if uri == TAGS:
        counts = tag_counts(bank)
        return clean(document({"result_count": len(counts), "tags": counts})), _JSON
    if uri == RECENT:
        return clean(document(list_notes(bank, _NEWEST))), _JSON
    if uri.startswith(NOTE):
        return text.shown(show(bank, unquote(uri.removeprefix(NOTE)))), _MARKDOWN
    raise NoteNotFound(f"there is no resource {uri[:200]!r}", f"{NOTE}PATH, {TAGS} or {RECENT}")
