"""The tools of a server: those of the chosen toolsets, loaded on first use."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from mcp_types import Tool

from memory_bank import plugins
from memory_bank.errors import BadInput
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
_FORMER = {"upkeep": "maintenance"}
"""Former names, which work for one more version."""


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
        toolsets = [_FORMER.get(name, name) for name in toolsets]
        for name in toolsets:
            if name not in known:
                raise BadInput(f"there is no toolset {name!r}", f"choose of: {', '.join(known)}")
        self.toolsets = tuple(dict.fromkeys(toolsets))
        self.read_only = read_only
        self.structured = structured

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
        return tools_of(plugins.load(KIND, toolset), structured=self.structured)

    def listed(self) -> list[Tool]:
        """Return the tools' descriptions for clients."""
        return [tool.listed for tool in self.tools.values()]
