"""The toolset `review`: changes of notes in git, and who made them. Not on by default."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from memory_bank.frontends.mcp import provenance_text, review_text, stale_text
from memory_bank.frontends.mcp.tool import ToolContext, tool
from memory_bank.frontends.mcp.tools.bank import Name, Names
from memory_bank.memory import confirm
from memory_bank.review import review as reviewing
from memory_bank.review.report import Review
from memory_bank.trust import provenance, stale, stale_report


@tool(review_text.review, reads=True)
def review(
    call: ToolContext,
    *,
    revisions: Annotated[
        str | None, Field(max_length=1000, description="BASE..HEAD, or one revision")
    ] = None,
    staged: bool = False,
    worktree: bool = False,
) -> Review:
    """Show what a change does to the notes: claims, broken links, similar notes, lint findings.

    By default, that of this branch.
    """
    with call.shared.another() as bank:  # other calls continue meanwhile
        return reviewing.review(bank, revisions, staged=staged, worktree=worktree)


@tool(provenance_text.log, reads=True)
def log_memory(call: ToolContext, *, filename: Name, limit: int = 20) -> provenance.NoteLog:
    """List the commits that changed a note: author, agent, pull request, reviewed, sections."""
    return provenance.log(call.bank, filename, min(max(limit, 1), 200))


@tool(provenance_text.blame, reads=True)
def blame_memory(call: ToolContext, *, filename: Name, lines: bool = False) -> provenance.NoteBlame:
    """Show for each section (or line) of a note who wrote it, and whether it was reviewed."""
    return provenance.blame(call.bank, filename, by_line=lines)


@tool(stale_text.stale, reads=True)
def stale_memories(
    call: ToolContext,
    *,
    revisions: Annotated[str | None, Field(max_length=1000, description="BASE..HEAD")] = None,
    worktree: Annotated[bool, Field(description="count uncommitted code")] = False,
) -> stale_report.StaleReport:
    """List notes that cite code which changed since: confirm, edit or archive them.

    With revisions, only what cites code that these change.
    """
    with call.shared.another() as bank:  # other calls continue meanwhile
        found = stale.stale(bank, revisions, worktree=worktree)
    return found._replace(citations=found.listed)


@tool(stale_text.confirmed, repeatable=True)
def confirm_memories(
    call: ToolContext,
    *,
    filename: Annotated[Name | Names, Field(description="a name, or several")],
    if_match: str | None = None,
) -> confirm.Confirmation:
    """Write verified_commit: the notes are right for the code that is checked out."""
    names = [filename] if isinstance(filename, str) else filename
    return confirm.confirm(call.bank, names, if_match=if_match or None, agent=call.agent)
