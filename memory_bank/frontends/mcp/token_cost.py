"""What a server's tools cost an agent: the tokens that their schemas take of its context."""

from __future__ import annotations

import json
from dataclasses import dataclass

from mcp_types import Tool

from memory_bank.actions.embedding import count_tokens
from memory_bank.frontends.mcp.toolbox import Toolbox

LIMIT = 2300
"""Tokens that the default toolsets may cost, all that is listed of them included."""
METHOD = "counted with Llama 2's tokenizer; newer models need fewer"
_ASKED = ("name", "description", "inputSchema")
"""What agents' programs hand to their model; the rest is for the programs themselves."""


@dataclass(frozen=True, slots=True)
class ToolCost:
    """What one tool costs."""

    name: str
    title: str
    writes: bool
    model_tokens: int
    """Of its name, description and input schema, which a model is given."""
    tokens: int
    """Of all that is listed: title and annotations too, and the output schema if there is one."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What a server's tools cost."""

    toolsets: tuple[str, ...]
    tools: tuple[ToolCost, ...]
    model_tokens: int
    tokens: int
    method: str


def cost(toolbox: Toolbox) -> Cost:
    """Count what an agent pays for these tools before it has called one."""
    listed = toolbox.listed()
    whole = count_tokens([_json(tool) for tool in listed])
    asked = count_tokens([_json(tool, _ASKED) for tool in listed])
    tools = tuple(
        ToolCost(tool.name, tool.title or "", not toolbox.tools[tool.name].reads, model, total)
        for tool, model, total in zip(listed, asked, whole, strict=True)
    )
    return Cost(toolbox.toolsets, tools, sum(asked), sum(whole), METHOD)


def _json(tool: Tool, fields: tuple[str, ...] = ()) -> str:
    found = tool.model_dump(by_alias=True, exclude_none=True, mode="json")
    kept = {key: value for key, value in found.items() if not fields or key in fields}
    return json.dumps(kept, ensure_ascii=False, separators=(",", ":"))
