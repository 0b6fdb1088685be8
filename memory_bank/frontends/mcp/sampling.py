"""Ask the model of the client, where it offers that (MCP's sampling)."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from anyio import fail_after, from_thread
from mcp.server.mcpserver import Context
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError
from mcp_types import SamplingMessage, TextContent

from memory_bank.base.errors import Busy
from memory_bank.base.text import one_line

SECONDS = 120.0
"""Time limit of an answer, for which a person may be asked."""

_MOST_REASON = 200


def sampler(context: Context[Any, Any]) -> Callable[[str, int], str] | None:
    """Return what asks the client's model from a tool's thread; None if the client has none.

    It takes a prompt and the most tokens of the answer. It raises Busy if the client refuses, or
    doesn't answer in time.
    """
    params = context.session.client_params
    if params is None or params.capabilities.sampling is None:
        return None

    async def ask(prompt: str, most: int) -> str:
        message = SamplingMessage(role="user", content=TextContent(type="text", text=prompt))
        with fail_after(SECONDS), warnings.catch_warnings():
            # the protocol of 2026-07-28 advises against it, but has nothing in its place
            warnings.simplefilter("ignore", MCPDeprecationWarning)
            answer = await context.session.create_message(
                [message], max_tokens=most, related_request_id=context.request_id
            )
        if answer.content.type != "text":
            raise Busy("the client's model gave no text")
        return str(answer.content.text)

    def sample(prompt: str, most: int) -> str:
        try:
            return from_thread.run(ask, prompt, most)
        except TimeoutError:
            raise Busy(f"the client's model took longer than {SECONDS:g} s") from None
        except MCPError as error:
            said = one_line(str(error))[:_MOST_REASON]
            raise Busy(f"the client's model gave no answer: {said}") from error

    return sample
