"""Keep paths of this machine out of answers to clients that may be elsewhere.

Notes are shown as they are: only what this program says itself is changed, so that a client can
write back what it has read.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from mcp import MCPError
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext

from memory_bank import layout
from memory_bank.errors import MemoryBankError
from memory_bank.frontends.mcp.source import Source

_END = r"""[^\s'",;:()\\]*"""
_ABSOLUTE = re.compile(
    rf"""(?<![\w/\\.:~…])(?:/(?=[^\s/]){_END}|[A-Za-z]:(?:[/\\]+[^\s'",;:()/\\]+)+)"""
)
_OURS = ("problem", "bank")
_LISTED = ("unindexed", "faults")


class Hiding:
    """A middleware of the server that shortens paths to what stands below the bank."""

    def __init__(self, source: Source) -> None:
        """Know the bank, once it can be opened."""
        self._source = source

    async def __call__(
        self, ctx: ServerRequestContext[Any, Any], call_next: CallNext
    ) -> HandlerResult:
        """Answer a request; what is wrong is told without paths of this machine."""
        try:
            answer = await call_next(ctx)
        except MCPError as error:
            raise MCPError(error.code, self.hidden(error.message), error.data) from error
        if ctx.method == "tools/call" and isinstance(answer, dict):
            return self._told(answer)
        return answer

    def hidden(self, text: str) -> str:
        """Return a text of ours without paths of this machine."""
        for root in self._banks():
            text = text.replace(f"{root}/", "").replace(root, "the bank")
        for root in _roots():
            text = re.sub(rf"{re.escape(root)}{_END}", _last, text)
        return _ABSOLUTE.sub(_last, text)

    def _told(self, answer: dict[str, Any]) -> dict[str, Any]:
        """Return a tool's answer, in which only errors and our own reports are changed."""
        structure = answer.get("structuredContent")
        if answer.get("isError"):
            return {**answer, "content": _texts(answer, self.hidden)}
        if not isinstance(structure, dict):
            return answer
        changed: dict[str, str] = {}

        def change(said: str) -> str:
            new = self.hidden(said)
            if new != said:
                changed[said] = new
            return new

        def changed_too(text: str) -> str:
            for said, new in changed.items():
                if said not in text:
                    return self.hidden(text)  # it is there in another form
                text = text.replace(said, new)
            return text

        structure = _replaced(structure, change)
        if not changed:
            return answer
        return {**answer, "content": _texts(answer, changed_too), "structuredContent": structure}

    def _banks(self) -> Iterator[str]:
        try:
            yield str(self._source.bank().layout.root)
        except MemoryBankError:
            return


def _roots() -> list[str]:
    """Return folders of this machine that may be named and may have a space in them."""
    folders = [Path.home(), Path(tempfile.gettempdir())]
    folders += [layout.user_folder(kind) for kind in ("data", "state", "cache")]
    found = {str(folder) for folder in folders if folder != Path(folder.anchor)}
    return sorted(found, key=len, reverse=True)


def _last(found: re.Match[str]) -> str:
    name = re.split(r"[/\\]", found[0].rstrip("/\\"))[-1]
    return f"…/{name}"


def _replaced(structure: dict[str, Any], change: Callable[[str], str]) -> dict[str, Any]:
    """Return an answer's structure with what it says in our own words changed."""
    new = dict(structure)
    for key in _OURS:
        if isinstance(new.get(key), str):
            new[key] = change(new[key])
    for key in _LISTED:
        if isinstance(new.get(key), list):
            new[key] = [
                {**item, "reason": change(item["reason"])}
                if isinstance(item, dict) and isinstance(item.get("reason"), str)
                else item
                for item in new[key]
            ]
    return new


def _texts(answer: dict[str, Any], change: Callable[[str], str]) -> list[Any]:
    return [
        {**block, "text": change(block["text"])} if "text" in block else block
        for block in answer.get("content", ())
    ]
