"""The toolset `sessions`: what agents did, learned and were asked for, read in three steps."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from memory_bank.base.errors import BadInput
from memory_bank.base.text import Quotes
from memory_bank.frontends.mcp import index_text, session_text
from memory_bank.frontends.mcp.tool import ToolContext, tool
from memory_bank.frontends.mcp.tools.bank import Path, Paths, Query
from memory_bank.sessions import context, observations, sessions
from memory_bank.sessions import get_observations as observation_details
from memory_bank.sessions import timeline as timelines
from memory_bank.sessions.get_observations import Observations, texts
from memory_bank.sessions.timeline import Timeline


def several(given: Any) -> Any:  # noqa: ANN401  (of a client)
    """Take one text, or several separated by commas, as a list."""
    return [part.strip() for part in given.split(",")] if isinstance(given, str) else given


def _ids(given: Any) -> Any:  # noqa: ANN401
    """Refuse numbers as ids, and say how ids look."""
    given = several(given)
    try:
        return texts(given) if isinstance(given, list) else given
    except BadInput as error:
        raise ValueError(f"{error.message}: {error.hint}") from error


def _moment(given: Any) -> Any:  # noqa: ANN401
    """Take seconds since 1970 as text."""
    number = isinstance(given, int | float) and not isinstance(given, bool)
    return f"{given:f}" if number else given


_Words = Annotated[
    list[Annotated[str, Field(max_length=2000)]], Field(max_length=100), BeforeValidator(several)
]

_Id = Annotated[str, Field(max_length=2000), BeforeValidator(lambda one: _ids([one])[0])]

_Ids = Annotated[list[Annotated[str, Field(max_length=2000)]], BeforeValidator(_ids)]

_When = Annotated[str | None, BeforeValidator(_moment)]

_Project = Annotated[str | None, Field(max_length=1000)]

ObservationType = Literal["decision", "bugfix", "feature", "refactor", "discovery", "change"]

Said = Annotated[
    str | dict[str, str | list[str]] | None,
    Field(description="text, or {request, investigated, learned, completed, next_steps, notes}"),
]


@tool(index_text.workflow, reads=True)
def __IMPORTANT(call: ToolContext) -> index_text.Workflow:  # noqa: N802, ARG001  (its name is given)
    """3-LAYER WORKFLOW (ALWAYS FOLLOW): 1. search(query) -> Get index with IDs (~50-100
    tokens/result) 2. timeline(anchor=ID) -> Get context around interesting results 3.
    get_observations([IDs]) -> Fetch full details ONLY for filtered IDs. NEVER fetch full details
    without filtering first. 3.8x fewer tokens, measured.
    """  # noqa: D205  (the wording is given)
    return index_text.Workflow(index_text.STEPS)


@tool(index_text.index, reads=True)
def search(
    call: ToolContext,
    *,
    query: Query | None = None,
    project: _Project = None,
    type: Literal["observation", "session", "note", "section"] | None = None,  # noqa: A002
    obs_type: Annotated[
        _Words, Field(description="decision bugfix feature refactor discovery change")
    ] = [],  # noqa: B006  (never changed)
    concepts: _Words = [],  # noqa: B006
    files: _Words = [],  # noqa: B006
    date_start: Annotated[_When, Field(description="7d, last week")] = None,
    date_end: _When = None,
    limit: int = 20,
    offset: int = 0,
    order_by: Literal["relevance", "date_desc", "date_asc"] = "relevance",
) -> observations.ObservationRows:
    """Step 1: what did past sessions do, decide, learn? An index with IDs.

    No query: the newest. For the text of notes, `recall`.
    """
    return observations.search(
        call.bank,
        query,
        project=project,
        type=type,
        obs_type=obs_type,
        concepts=concepts,
        files=files,
        date_start=date_start,
        date_end=date_end,
        limit=limit,
        offset=offset,
        order_by=order_by,
    )


@tool(index_text.timeline, reads=True)
def timeline(
    call: ToolContext,
    *,
    anchor: _Id | None = None,
    query: Query | None = None,
    depth_before: int = 3,
    depth_after: int = 3,
    project: _Project = None,
) -> Timeline:
    """Step 2: what happened before and after an ID, or the best hit of query."""
    return timelines.timeline(call.bank, anchor, query, depth_before, depth_after, project)


@tool(index_text.details, reads=True)
def get_observations(
    call: ToolContext,
    *,
    ids: _Ids,
    order_by: Literal["date_desc", "date_asc"] | None = None,
    limit: int | None = None,
    project: _Project = None,
) -> Observations:
    """Step 3: full details of the IDs that you chose, all in one call."""
    return observation_details.get_observations(call.bank, ids, order_by, limit, project)


@tool(index_text.index, reads=True)
def decisions(
    call: ToolContext, *, project: _Project = None, limit: int = 20
) -> observations.ObservationRows:
    """Step 1: list past decisions and their IDs, the newest first."""
    return observations.decisions(call.bank, project, limit)


@tool(index_text.index, reads=True)
def changes_for_file(
    call: ToolContext, *, file: Path, limit: int = 20
) -> observations.ObservationRows:
    """Step 1: list past changes of a file and their IDs, the newest first."""
    return observations.changes_for_file(call.bank, file, limit)


@tool(session_text.started, repeatable=True)
def start_session(
    call: ToolContext, *, session_id: str, project: str | None = None
) -> sessions.Started:
    """Start a session, or resume the one of that id. Hooks do it by themselves."""
    return sessions.start_session(call.bank, session_id, project, call.agent)


@tool(session_text.stored)
def store_observation(
    call: ToolContext,
    *,
    session_id: str,
    tool_name: str = "",
    project: str | None = None,
    tool_input: Any = None,  # noqa: ANN401  (JSON)
    tool_output: Any = None,  # noqa: ANN401
    title: Annotated[str, Field(description="what was learned or done, under 100 characters")] = "",
    obs_type: ObservationType | None = None,
    subtitle: str = "",
    facts: Paths = [],  # noqa: B006  (never changed)
    narrative: str = "",
    concepts: Paths = [],  # noqa: B006
    files_read: Paths = [],  # noqa: B006
    files_modified: Paths = [],  # noqa: B006
) -> sessions.StoredObservation:
    """Save what a step of this session taught or changed, and why, in your own words (title).

    Or the use of a tool (tool_name), which is summarised later.
    """
    return sessions.store_observation(
        call.bank,
        session_id,
        tool_name,
        project,
        tool_input,
        tool_output,
        obs_type=obs_type or "",
        title=title,
        subtitle=subtitle,
        facts=facts,
        narrative=narrative,
        concepts=concepts,
        files_read=files_read,
        files_modified=files_modified,
        agent=call.agent,
    )


@tool(session_text.ended, repeatable=True)
def end_session(call: ToolContext, *, session_id: str, summary: Said = None) -> sessions.Ended:
    """End a session with a summary: what was asked, learned, completed, and the next steps."""
    summary_id = sessions.end_session(call.bank, session_id, summary, sample=call.sample)
    return sessions.Ended(sessions.SCHEMA_VERSION, session_id, summary_id)


@tool(session_text.told, reads=True)
def inject_context(
    call: ToolContext,
    *,
    project: str,
    session_id: str = "",
    observation_types: list[ObservationType] = [],  # noqa: B006  (never changed)
    concepts: Paths = [],  # noqa: B006
    observation_limit: Annotated[int | None, Field(ge=0)] = None,
    session_limit: Annotated[int | None, Field(ge=0)] = None,
    days: Annotated[float | None, Field(ge=0)] = None,
    max_tokens: Annotated[int | None, Field(ge=context.LEAST_TOKENS)] = None,
) -> context.Injected:
    """Tell what the last sessions did and learned, next steps and changed notes, to start with."""
    return context.inject_context(
        call.bank,
        project,
        session_id,
        observation_types=observation_types or None,
        concepts=concepts or None,
        observation_limit=observation_limit,
        session_limit=session_limit,
        days=days,
        max_tokens=max_tokens,
        quote=Quotes().introduced,
    )
