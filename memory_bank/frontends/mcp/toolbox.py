"""The tools of a server: those of the chosen toolsets, loaded on first use, and what they cost."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cached_property

from mcp_types import Tool

from memory_bank.base import NamedTuple
from memory_bank.base.errors import BadInput, Hint
from memory_bank.frontends import declared
from memory_bank.frontends.hints import choose_hints
from memory_bank.frontends.mcp.tool import BankTool
from memory_bank.search.embedders.static import count_tokens

DEFAULT = ("store", "bank", "sessions", "code")
"""The default toolsets."""

FIRST, _FIRST_TOOLS = "first", ("recall", "remember", "search", "ask")
"""The toolset of a bundle: of the others only the tools that each agent needs."""

_EARLY = ("recall", "remember", "search_linked_memories", "search", "timeline", "get_observations")
"""Tools on which instructions and the list of prompts depend, told before any is loaded."""

_ORDER = (
    "recall", "remember", "session_note",
    "create_memory", "append_memory", "read_memory", "recent_memories", "update_memory",
    "edit_memory", "rename_memory", "delete_memory", "restore_memory", "search_memories",
    "search_linked_memories", "get_memory_stats", "merge_memories", "confirm_memories",
    "__IMPORTANT", "search", "timeline", "get_observations", "decisions", "changes_for_file",
    "start_session", "store_observation", "end_session", "inject_context",
    "ask", "symbol", "explain_symbol", "blast_radius",
    "review", "log_memory", "blame_memory", "stale_memories",
    "sync_memories", "check_memories",
)  # fmt: skip
"""The order in which tools are listed; others follow."""


class Toolbox:
    """The tools of one server."""

    def __init__(
        self,
        toolsets: Sequence[str] = DEFAULT,
        *,
        read_only: bool = False,
        structured: bool = False,
    ) -> None:
        """Choose toolsets; raise BadInput for an unknown one. Nothing is loaded yet.

        With `structured`, tools have output schemas, and agents get structured content, too.
        """
        names = {FIRST, *declared.list_toolsets()}
        if not names.issuperset(toolsets):
            names |= {tool.toolset for _, tool in declared.load_installed_tools().values()}
        for name in toolsets:
            if name not in names:
                raise BadInput(
                    f"there is no toolset {name!r}",
                    "choose of: {known}",
                    known=", ".join(sorted(names)),
                )
        self.toolsets = tuple(dict.fromkeys(toolsets))
        self.read_only = read_only
        self.structured = structured

    @cached_property
    def early(self) -> frozenset[str]:
        """Which of the tools in `_EARLY` are served; no tool is loaded to tell."""
        return frozenset(
            name
            for name in _EARLY
            for toolset, reads in [declared.find_toolset(name)]
            if toolset in self.toolsets or (FIRST in self.toolsets and name in _FIRST_TOOLS)
            if reads or not self.read_only
        )

    @cached_property
    def hints(self) -> Mapping[Hint, str]:
        """The wording of hints that names only tools that are served."""
        return choose_hints(self.tools)

    @cached_property
    def tools(self) -> dict[str, BankTool]:
        """The tools by name; importing the actions they call takes some 100 ms."""
        tools = {tool.name: tool for name in self.toolsets for tool in self._load_toolset(name)}
        return {name: tool for name, tool in tools.items() if tool.reads or not self.read_only}

    def _load_toolset(self, toolset: str) -> list[BankTool]:
        if toolset == FIRST:
            sets = dict.fromkeys(declared.find_toolset(name)[0] for name in _FIRST_TOOLS)
            tools = [
                tool
                for name in sets
                for tool in self._load_toolset(name)
                if tool.name in _FIRST_TOOLS
            ]
            return sorted(tools, key=_rank_tool)
        tools = [
            BankTool(*tool, lambda: self.tools, structure=self.structured)
            for tool in declared.load_tools(toolset)
        ]
        return sorted(tools, key=_rank_tool)

    def listed(self) -> list[Tool]:
        """Return the tools' descriptions for clients."""
        return [tool.listed for tool in self.tools.values()]


def _rank_tool(tool: BankTool) -> tuple[int, str]:
    return (_ORDER.index(tool.name) if tool.name in _ORDER else len(_ORDER)), tool.name


LIMIT = 3000
"""Most tokens of the default toolsets that the model gets."""

METHOD = "counted with Llama 2's tokenizer; newer models need fewer"

_MODEL_FIELDS = ("name", "description", "inputSchema")
"""Fields that agents' programs give to their model; the others are for the programs."""


class ToolCost(NamedTuple):
    """The cost of one tool."""

    name: str
    writes: bool
    model_tokens: int
    """Tokens of its name, description and input schema, which the model gets."""
    tokens: int
    """Tokens of every listed field, including annotations and output schema."""


class Cost(NamedTuple):
    """The cost of a server's tools."""

    toolsets: tuple[str, ...]
    tools: tuple[ToolCost, ...]
    model_tokens: int
    tokens: int
    method: str


def count_cost(toolbox: Toolbox) -> Cost:
    """Count the tokens of the listed tools."""
    listed = toolbox.listed()
    whole = count_tokens([_dump_tool(tool) for tool in listed])
    model_tokens = count_tokens([_dump_tool(tool, _MODEL_FIELDS) for tool in listed])
    tools = tuple(
        ToolCost(tool.name, not toolbox.tools[tool.name].reads, model, total)
        for tool, model, total in zip(listed, model_tokens, whole, strict=True)
    )
    return Cost(toolbox.toolsets, tools, sum(model_tokens), sum(whole), METHOD)


def _dump_tool(tool: Tool, fields: tuple[str, ...] = ()) -> str:
    dump = tool.model_dump(by_alias=True, exclude_none=True, mode="json")
    chosen = {key: value for key, value in dump.items() if not fields or key in fields}
    return json.dumps(chosen, ensure_ascii=False, separators=(",", ":"))
