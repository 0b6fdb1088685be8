"""Token cost of a server's tools: the tokens of their schemas in an agent's context."""

from __future__ import annotations

import json
from dataclasses import dataclass

from mcp_types import Tool

from memory_bank.bank.embedder_choice import count_tokens
from memory_bank.frontends.mcp.toolbox import Toolbox

LIMIT = 3000
"""Most tokens of the default toolsets that the model gets."""

METHOD = "counted with Llama 2's tokenizer; newer models need fewer"

_MODEL_FIELDS = ("name", "description", "inputSchema")
"""Fields that agents' programs give to their model; the others are for the programs."""


@dataclass(frozen=True, slots=True)
class ToolCost:
    """The cost of one tool."""

    name: str
    writes: bool
    model_tokens: int
    """Tokens of its name, description and input schema, which the model gets."""
    tokens: int
    """Tokens of every listed field, including annotations and output schema."""


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of a server's tools."""

    toolsets: tuple[str, ...]
    tools: tuple[ToolCost, ...]
    model_tokens: int
    tokens: int
    method: str


def cost(toolbox: Toolbox) -> Cost:
    """Count the tokens of the listed tools."""
    listed = toolbox.listed()
    whole = count_tokens([_json(tool) for tool in listed])
    model_tokens = count_tokens([_json(tool, _MODEL_FIELDS) for tool in listed])
    tools = tuple(
        ToolCost(tool.name, not toolbox.tools[tool.name].reads, model, total)
        for tool, model, total in zip(listed, model_tokens, whole, strict=True)
    )
    return Cost(toolbox.toolsets, tools, sum(model_tokens), sum(whole), METHOD)


def _json(tool: Tool, fields: tuple[str, ...] = ()) -> str:
    found = tool.model_dump(by_alias=True, exclude_none=True, mode="json")
    kept = {key: value for key, value in found.items() if not fields or key in fields}
    return json.dumps(kept, ensure_ascii=False, separators=(",", ":"))
