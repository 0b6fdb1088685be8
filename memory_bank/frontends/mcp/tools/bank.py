"""The toolset `bank`: find, read and change notes by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from memory_bank.base.rendering import hidden_again
from memory_bank.frontends.mcp import text
from memory_bank.frontends.mcp.tool import ToolContext, tool
from memory_bank.memory import (
    create,
    edit,
    hits,
    move_and_merge,
    overview,
    recall,
    remember,
    show,
    trash,
)

Path = Annotated[str, Field(max_length=2000)]

Name = Annotated[Path, Field(description="path, title or id of a note")]

Etag = Annotated[str | None, Field(description="the etag that you read")]

Paths = Annotated[list[Path], Field(max_length=1000)]

Names = Annotated[list[Path], Field(min_length=1, max_length=20)]

Tags = Annotated[list[Annotated[str, Field(max_length=200)]], Field(max_length=100)]

Query = Annotated[str, Field(max_length=10_000)]


@dataclass(frozen=True, slots=True)
class Restored:
    """A restored note."""

    path: str


@tool(text.remembered)
def create_memory(
    call: ToolContext,
    *,
    filename: Annotated[Path, Field(description="folder/words, below the bank")],
    content: str,
    tags: Tags = [],  # noqa: B006  (never changed)
    type: str = "journal",  # noqa: A002  (the field's word)
) -> remember.Remembered:
    """Write a new note at a path of your choice; fails if it exists.

    Use `remember` unless the path matters. Keep one subject under a heading.
    """
    return create.create(
        call.bank,
        filename,
        content,
        tags=tags,
        type=type,
        source_type="agent",
        source_agent=call.agent,
    )


@tool(text.written)
def append_memory(call: ToolContext, *, filename: Name, content: str) -> edit.WrittenNote:
    """Add a paragraph at the end of a note; a new subject under a heading of its own."""
    return edit.append(call.bank, filename, content, agent=call.agent)


@tool(text.read, reads=True, without=("body",))
def read_memory(
    call: ToolContext,
    *,
    filename: Annotated[Path | Names, Field(description="a name, or several")],
    section: Annotated[str, Field(description="only what is under this heading")] = "",
) -> show.ShownNote | show.ShownSection | show.SeveralShown:
    """Read notes whole: text, etag, metadata, number of backlinks; or one section."""
    if not isinstance(filename, str):
        return show.show_several(call.bank, filename, section)
    if section:
        return show.show_section(call.bank, filename, section)
    return show.show(call.bank, filename)


@tool(text.listed, reads=True)
def recent_memories(
    call: ToolContext,
    *,
    limit: int = 10,
    tags: Tags = [],  # noqa: B006  (never changed)
    type: str | None = None,  # noqa: A002  (the field's word)
    since: str | None = None,
    before: str | None = None,
) -> show.Listing:
    """List the notes that were created or changed last, without their text."""
    return show.list_notes(call.bank, limit, tags=tags, type=type, since=since, before=before)


@tool(text.written, destroys=True, repeatable=True)
def update_memory(
    call: ToolContext, *, filename: Path, content: str, if_match: str | None = None
) -> edit.WrittenNote:
    """Replace the whole text of a note; its front matter stays unless content brings its own.

    For a part of it, use `edit_memory`.
    """
    (content,) = _as_read(call, filename, content)
    return edit.update(call.bank, filename, content, if_match=if_match or None, agent=call.agent)


@tool(text.written, destroys=True)
def edit_memory(
    call: ToolContext,
    *,
    filename: Name,
    new: str,
    old: Annotated[str, Field(description="text to replace, or give section")] = "",
    section: Annotated[str, Field(description="heading whose text is replaced; or A > B")] = "",
    count: Annotated[int, Field(ge=0, description="how often old is there; 0 any")] = 1,
    if_match: Etag = None,
) -> edit.WrittenNote:
    """Replace a text, or what stands under one heading, in a note."""
    new, old, section = _as_read(call, filename, new, old, section)
    return edit.edit(
        call.bank,
        filename,
        new,
        old=old,
        section=section,
        count=count,
        if_match=if_match or None,
        agent=call.agent,
    )


@tool(text.renamed, destroys=True)
def rename_memory(
    call: ToolContext, *, filename: Path, new_filename: Path
) -> move_and_merge.Renamed:
    """Move a note to another path and rewrite every link to it, all or nothing."""
    return move_and_merge.rename(call.bank, filename, new_filename, agent=call.agent)


@tool(text.trashed, destroys=True)
def delete_memory(
    call: ToolContext, *, filename: Path, if_match: str | None = None
) -> trash.TrashedNote:
    """Move a note to the trash. `restore_memory` brings it back."""
    return trash.delete(call.bank, filename, if_match=if_match or None)


@tool(text.restored)
def restore_memory(call: ToolContext, *, filename: Path, new_filename: Path = "") -> Restored:
    """Bring the newest deleted note of a path back from the trash."""
    return Restored(trash.restore(call.bank, filename, new_filename))


@tool(text.recalled, reads=True)
def search_memories(
    call: ToolContext,
    *,
    query: Query,
    limit: int = 5,
    tags: Tags = [],  # noqa: B006  (never changed)
    type: str | None = None,  # noqa: A002  (the field's word)
    since: str | None = None,
    before: str | None = None,
) -> hits.Recalled:
    """Search notes, filtered by tags (all of them), type and time."""
    return recall.recall(
        call.bank,
        query,
        limit,
        tokens=recall.TOKENS,
        tags=tags,
        type=type,
        since=since,
        before=before,
    )


@tool(text.linked, reads=True)
def search_linked_memories(
    call: ToolContext,
    *,
    query: Query,
    target_document: Annotated[Path, Field(description="src/api.py, a note, a person")],
    limit: int = 5,
) -> hits.Recalled:
    """Search only notes that link to a file, symbol, person or note, with the words of each link.

    Call it before you change a file: what is known about src/api.py?
    """
    return recall.recall(call.bank, query, limit, tokens=recall.TOKENS, linked_to=target_document)


@tool(text.stats, reads=True)
def get_memory_stats(call: ToolContext) -> overview.Stats:
    """Count notes, tags, types, links, and files that are not indexed."""
    return overview.stats(call.bank)


@tool(text.merged, destroys=True)
def merge_memories(
    call: ToolContext, *, source_files: Paths, target_file: Path, summary_content: str
) -> move_and_merge.Merged:
    """Merge notes into one, all or nothing; links to the sources are redirected to the target.

    The sources are moved to the trash.
    """
    return move_and_merge.merge(
        call.bank,
        source_files,
        target_file,
        summary_content,
        source_type="agent",
        source_agent=call.agent,
    )


def _as_read(call: ToolContext, filename: str, *texts: str) -> list[str]:
    """Return texts with the escapes of `unhidden` changed back to the note's characters."""
    if not any("\\" in text for text in texts):
        return list(texts)
    current = show.show(call.bank, filename).content
    return [hidden_again(text, current) for text in texts]
