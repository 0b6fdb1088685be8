"""The MCP server of a bank, for any transport; it answers before the bank is opened."""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from anyio import CancelScope, to_thread
from anyio.from_thread import BlockingPortal
from mcp.server import MCPServer
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import NotificationOptions
from mcp.server.lowlevel.helper_types import ReadResourceContents
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import (
    ResourceError,
    ToolError,
    UnexpectedResourceError,
    UnexpectedToolError,
)
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CallToolResult,
    Resource,
    ResourceTemplate,
    SetLevelRequestParams,
    SubscribeRequestParams,
    Tool,
    UnsubscribeRequestParams,
)

from memory_bank.base.errors import exhausted
from memory_bank.base.version import __version__
from memory_bank.frontends.mcp import client_roots, prompts, resources, stdio_transport
from memory_bank.frontends.mcp.instructions import instructions
from memory_bank.frontends.mcp.notifications import Changes
from memory_bank.frontends.mcp.tool import failed
from memory_bank.frontends.mcp.toolbox import Toolbox
from memory_bank.frontends.serving.serving_background import Background
from memory_bank.frontends.serving.shared_bank import SharedBank

if TYPE_CHECKING:
    from memory_bank.memory.maintenance import ChangedPaths
    from memory_bank.sessions.events import Notification


_SIGNAL_SECONDS = 2.0
"""Seconds that a signal waits for a running call; even a kill would lose nothing."""

_FAULT = "{} failed by an error of the server, which is logged on its stderr"


class MemoryServer(MCPServer[Background]):
    """An MCP server with the tools, resources and prompts of a bank.

    Their modules are imported on first use, so that `initialize` never waits for them.
    """

    def __init__(self, shared: SharedBank, toolbox: Toolbox) -> None:
        """Make the server; the bank is opened after the first answer."""
        self.shared = shared
        self.hide: Callable[[str], str] = str
        """Filters our own messages: over HTTP, paths of this machine are redacted."""
        self.asks_folders = not shared.named
        """Whether the client is asked for its folders, to find the bank: never over HTTP."""
        self.toolbox = toolbox
        self.changes = Changes()
        super().__init__(
            "memory-bank",
            title="Memory bank",
            version=__version__,
            instructions=instructions(toolbox.early),
            log_level="WARNING",
            lifespan=_background,
            middleware=[self._awake],
            subscriptions=self.changes.bus,
        )
        prompts.add(self, toolbox)
        # The SDK has no public API for the subscriptions of clients before 2026, nor for
        # declaring on every transport that lists change.
        low = self._lowlevel_server
        low.add_request_handler(
            "resources/subscribe", SubscribeRequestParams, self.changes.subscribe
        )
        low.add_request_handler(
            "resources/unsubscribe", UnsubscribeRequestParams, self.changes.unsubscribe
        )
        low.add_request_handler("logging/setLevel", SetLevelRequestParams, self.changes.set_level)
        options = low.create_initialization_options
        changing = NotificationOptions(resources_changed=True)
        low.create_initialization_options = partial(options, changing)  # type: ignore[method-assign]

    async def list_tools(self) -> list[Tool]:
        """Return the listing of the tools."""
        return await to_thread.run_sync(self.toolbox.listed)

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Background, Any] | None = None
    ) -> CallToolResult:
        """Run a tool; raise ToolError with a hint for the agent."""
        try:
            tools = await to_thread.run_sync(lambda: self.toolbox.tools)
            tool = tools.get(name)
            if tool is None or context is None:
                raise ToolError(f"there is no tool {name[:60]!r}; there are: {', '.join(tools)}")
            return await tool.run(self.shared, arguments, context, self.hide)
        except (ToolError, MCPError):
            raise
        except Exception as error:  # the outermost frame: details go to stderr, not to the agent
            if plain := exhausted(error):
                raise ToolError(failed(plain, self.hide, {})) from error
            raise UnexpectedToolError(_FAULT.format(name)) from error

    async def list_resources(self) -> list[Resource]:
        """Return the resources, among them the most recently changed notes."""
        return await to_thread.run_sync(resources.listed, self.shared)

    async def list_resource_templates(self) -> list[ResourceTemplate]:
        """Return the URI template of notes."""
        return [resources.TEMPLATE]

    async def read_resource(
        self,
        uri: object,
        context: Context[Background, Any] | None = None,  # noqa: ARG002
    ) -> Iterable[ReadResourceContents]:
        """Return a resource; raise ResourceError."""
        try:
            text, kind = await to_thread.run_sync(self._read, str(uri))
        except (ResourceError, MCPError):
            raise
        except Exception as error:  # the outermost frame
            if plain := exhausted(error):
                raise ResourceError(failed(plain, self.hide, {})) from error
            raise UnexpectedResourceError(_FAULT.format("resources/read")) from error
        return [ReadResourceContents(content=text, mime_type=kind)]

    def _read(self, uri: str) -> tuple[str, str]:
        return resources.read(self.shared, uri, self.hide, self.toolbox.hints)

    async def run_stdio_async(self) -> None:
        """Serve one client over stdin and stdout."""
        low = self._lowlevel_server
        async with stdio_transport.connected() as (incoming, outgoing):
            await low.run(incoming, outgoing, low.create_initialization_options())

    async def _awake(
        self, ctx: ServerRequestContext[Any, Any], call_next: CallNext
    ) -> HandlerResult:
        """Start background work after the first answer, not before; find the client's folders."""
        if ctx.method == "initialize" and self.asks_folders and client_roots.offered(ctx.params):
            self.shared.expect_folders()
        answer = await call_next(ctx)
        if ctx.method == "notifications/initialized":
            self.changes.met(ctx.session)
        if ctx.method in client_roots.ASKED_AFTER and self.asks_folders:
            self.shared.take_folders(await client_roots.folders(ctx.session))
        ctx.lifespan_context.start()
        return answer


def build(shared: SharedBank, toolbox: Toolbox) -> MemoryServer:
    """Make the server of a bank; nothing of the bank is opened yet."""
    return MemoryServer(shared, toolbox)


def serve_stdio(server: MemoryServer) -> None:
    """Serve one client over stdin and stdout until it closes stdin; other prints go to stderr.

    A signal exits the process, because nothing else ends the thread that reads stdin.
    """

    def leave(number: int, _: object) -> None:
        server.shared.wait(_SIGNAL_SECONDS)
        os._exit(128 + number)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, leave)
    try:
        server.run("stdio")
    finally:
        server.shared.close()


@asynccontextmanager
async def _background(server: MCPServer[Any]) -> AsyncIterator[Background]:
    """Run background work during one stdio connection, or while HTTP is served."""
    own = cast("MemoryServer", server)
    background = Background(own.shared, own.toolbox.listed)
    async with BlockingPortal() as portal:

        def publish(changed: ChangedPaths) -> None:
            with suppress(RuntimeError):  # the server stops
                portal.start_task_soon(own.changes.publish, changed)

        def publish_news(news: Sequence[Notification]) -> None:
            with suppress(RuntimeError):  # the server stops
                portal.start_task_soon(own.changes.publish_news, news)

        background.listen(publish)
        background.listen_to_sessions(publish_news)
        try:
            yield background
        finally:
            with CancelScope(shield=True):
                await to_thread.run_sync(background.close)
