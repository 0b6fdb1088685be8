"""The tools of a server: those of the chosen toolsets, loaded on first use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from mcp_types import Tool

from memory_bank.base import plugins
from memory_bank.base.errors import BadInput, Hint
from memory_bank.frontends.mcp.hints import hints
from memory_bank.frontends.mcp.tool import BankTool, tools_of

KIND = "frontends.mcp.tools"

DEFAULT = ("store", "bank", "sessions", "code")
"""The default toolsets."""

CORE = "core"
"""The toolset with the most used tools of all others."""

_CORE_TOOLS = (
    "recall", "remember", "read_memory", "edit_memory", "session_note", "search", "timeline",
    "get_observations",
)  # fmt: skip

_EARLY = {
    "recall": ("store", False), "remember": ("store", True),
    "search_linked_memories": ("bank", False),
    "search": ("sessions", False), "timeline": ("sessions", False),
    "get_observations": ("sessions", False),
}  # fmt: skip
"""Tools that instructions and the list of prompts depend on, which are told before tools are
loaded: the toolset of each, and whether it writes."""


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

        With `structured`, answers have structured content besides their text.
        """
        known = [CORE, *plugins.names(KIND)]
        for name in toolsets:
            if name not in known:
                raise BadInput(
                    f"there is no toolset {name!r}", "choose of: {known}", known=", ".join(known)
                )
        self.toolsets = tuple(dict.fromkeys(toolsets))
        self.read_only = read_only
        self.structured = structured

    @cached_property
    def early(self) -> frozenset[str]:
        """Those of some tools that are served, without loading any; all else is in `tools`."""
        return frozenset(
            name
            for name, (toolset, writes) in _EARLY.items()
            if (toolset in self.toolsets or (CORE in self.toolsets and name in _CORE_TOOLS))
            and not (writes and self.read_only)
        )

    @cached_property
    def hints(self) -> Mapping[Hint, str]:
        """The wording of hints that names only tools that are served."""
        return hints(self.tools)

    @cached_property
    def tools(self) -> dict[str, BankTool]:
        """The tools by name; importing the actions they call takes some 100 ms."""
        names = [name for name in self.toolsets if name != CORE]
        found = {tool.name: tool for name in names for tool in self._of(name)}
        if CORE in self.toolsets:
            others = {tool.name: tool for name in DEFAULT for tool in self._of(name)}
            found |= {name: others[name] for name in _CORE_TOOLS if name in others}
        return {name: tool for name, tool in found.items() if tool.reads or not self.read_only}

    def _of(self, toolset: str) -> list[BankTool]:
        module = plugins.load(KIND, toolset)
        return tools_of(module, lambda: self.tools, structured=self.structured)

    def listed(self) -> list[Tool]:
        """Return the tools' descriptions for clients."""
        return [tool.listed for tool in self.tools.values()]
