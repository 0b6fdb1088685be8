"""The toolset `sessions`: what agents did, learned and were asked for."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from memory_bank.actions import context as telling
from memory_bank.actions import sessions as keeping
from memory_bank.frontends.fencing import Quotes
from memory_bank.frontends.mcp import session_text
from memory_bank.frontends.mcp.tool import Call, tool
from memory_bank.frontends.mcp.tools.bank import Paths

ObservationType = Literal["decision", "bugfix", "feature", "refactor", "discovery", "change"]
Said = Annotated[
    str | dict[str, str | list[str]] | None,
    Field(description="text, or {request, investigated, learned, completed, next_steps, notes}"),
]


@tool("Start session", session_text.started, repeatable=True)
def start_session(call: Call, *, session_id: str, project: str | None = None) -> keeping.Started:
    """Start a session, or resume the one of that id. Hooks do it by themselves."""
    return keeping.start_session(call.bank, session_id, project, call.agent)


@tool("Store observation", session_text.stored)
def store_observation(
    call: Call,
    *,
    session_id: str,
    tool_name: str = "",
    project: str | None = None,
    tool_input: dict[str, object] | str | None = None,
    tool_output: dict[str, object] | list[object] | str | None = None,
    title: Annotated[str, Field(description="what was learned or done, under 100 characters")] = "",
    obs_type: ObservationType | None = None,
    subtitle: str = "",
    facts: Paths = [],  # noqa: B006  (never changed)
    narrative: str = "",
    concepts: Paths = [],  # noqa: B006
    files_read: Paths = [],  # noqa: B006
    files_modified: Paths = [],  # noqa: B006
) -> keeping.StoredObservation:
    """Save what a step of this session taught or changed, and why, in your own words (title).

    Or the use of a tool (tool_name), which is summarised later.
    """
    return keeping.store_observation(
        call.bank,
        session_id,
        tool_name,
        project,
        tool_input,  # type: ignore[arg-type]  # it came as JSON
        tool_output,  # type: ignore[arg-type]
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


@tool("End session", session_text.ended, repeatable=True)
def end_session(call: Call, *, session_id: str, summary: Said = None) -> keeping.Ended:
    """End a session with a summary: what was asked, learned, completed, and the next steps."""
    summary_id = keeping.end_session(call.bank, session_id, summary)
    return keeping.Ended(keeping.SCHEMA_VERSION, session_id, summary_id)


@tool("Inject context", session_text.told, reads=True)
def inject_context(
    call: Call,
    *,
    project: str,
    session_id: str = "",
    observation_types: Annotated[
        list[ObservationType], Field(description="decision, bugfix, feature by default")
    ] = [],  # noqa: B006  (never changed)
    concepts: Paths = [],  # noqa: B006
    observation_limit: Annotated[int | None, Field(ge=0)] = None,
    session_limit: Annotated[int | None, Field(ge=0)] = None,
    days: Annotated[float | None, Field(ge=0)] = None,
) -> telling.Injected:
    """Tell what the last sessions did and learned, next steps and changed notes, to start with."""
    return telling.inject_context(
        call.bank,
        project,
        session_id,
        observation_types=observation_types or None,
        concepts=concepts or None,
        observation_limit=observation_limit,
        session_limit=session_limit,
        days=days,
        quote=Quotes().introduced,
    )
