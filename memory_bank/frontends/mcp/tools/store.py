"""The toolset `store`: remember and recall, without naming files."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Literal

from pydantic import Field

from memory_bank.frontends.mcp import text
from memory_bank.frontends.mcp.tool import ToolContext, tool
from memory_bank.frontends.mcp.tools.bank import Path, Paths, Query, Tags
from memory_bank.memory import hits
from memory_bank.memory import recall as finding
from memory_bank.memory import remember as keeping
from memory_bank.memory.recall import recall_at
from memory_bank.memory.remember import Remembered

Entities = Annotated[
    list[dict[str, str] | Path],
    Field(max_length=1000, description="{kind, id} or person:sarah"),
]


@tool(text.recalled, reads=True, without=("links",))
def recall(
    call: ToolContext,
    *,
    query: Annotated[Query, Field(description='a question; "phrase" -word tag:x in:dir since:7d')],
    mode: Literal["hybrid", "lexical", "semantic"] = "hybrid",
    detail: Literal["section", "index"] = "section",
    tokens: int = finding.TOKENS,
    limit: int = 5,
    offset: int = 0,
    tags: Tags = [],  # noqa: B006  (unchanged)
    type: str | None = None,  # noqa: A002  (the field's word)
    since: Annotated[str | None, Field(description="7d, last week, 2026-05")] = None,
    before: str | None = None,
    include_archived: bool = False,
    min_score: float = 0,
    at: Annotated[str | None, Field(description="git revision")] = None,
    scope: Annotated[
        Literal["bank", "shared", "both", "user"] | None,
        Field(description="shared: other repositories"),
    ] = None,
) -> hits.Recalled:
    """Find what this project knows: past decisions, facts, lessons, plans, and why.

    Call it before you plan, decide or debug.
    """
    search = finding.recall if at is None else partial(recall_at, rev=at)
    return search(
        call.bank,
        query=query,
        limit=limit,
        mode=mode,
        offset=offset,
        detail=detail,
        tokens=tokens,
        tags=tags,
        type=type,
        since=since,
        before=before,
        include_archived=include_archived,
        min_score=min_score,
        scope=scope,
    )


@tool(text.remembered, repeatable=True)
def remember(
    call: ToolContext,
    *,
    content: Annotated[str, Field(description="Markdown; [[note]] and [[src/file]] make links")],
    tags: Tags = [],  # noqa: B006  (never changed)
    type: Annotated[str, Field(description="decision, fact, bugfix, plan …")] = "fact",  # noqa: A002
    file_refs: Paths = [],  # noqa: B006
    symbol_refs: Paths = [],  # noqa: B006
    entity_refs: Entities = [],  # noqa: B006
) -> Remembered:
    """Save what you learned, and why, as a note that later sessions remember: one thing each.

    Recall first: to change what is known, edit that note. The same content makes no second note.
    """
    return keeping.remember(
        call.bank,
        content,
        tags=tags,
        type=type,
        file_refs=file_refs,
        symbol_refs=symbol_refs,
        entity_refs=entity_refs,
        source_type="agent",
        source_agent=call.agent,
    )


@tool(text.remembered, repeatable=True)
def session_note(
    call: ToolContext,
    *,
    content: str,
    file_refs: Paths = [],  # noqa: B006
    symbol_refs: Paths = [],  # noqa: B006
    tags: Tags = [],  # noqa: B006
    session_id: str = "",
) -> Remembered:
    """Note what matters only for the work of this session; it stays out of git.

    Use `remember` for what others should know.
    """
    return keeping.session_note(
        call.bank,
        content,
        tags=tags,
        file_refs=file_refs,
        symbol_refs=symbol_refs,
        source_agent=call.agent,
        session_id=session_id,
    )
