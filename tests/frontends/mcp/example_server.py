"""The example server that the conformance suite asks for by name, behind our own endpoint.

    python -m tests.frontends.mcp.example_server

Prints its URL. What it has is what a bank's server relies on: contents of all kinds, errors, progress,
resources, templates, prompts.
"""

import base64
import json
import sys

import anyio
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.prompts.base import UserMessage
from mcp_types import (
    AudioContent,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    TextContent,
    TextResourceContents,
)

from memory_bank.frontends.mcp.http_transport import serve_http
from memory_bank.frontends.serving.endpoint import Endpoint
from memory_bank.frontends.serving.shared_bank import SharedBank

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
)
IMAGE = ImageContent(type="image", data=base64.b64encode(PIXEL).decode(), mime_type="image/png")
SILENCE = base64.b64encode(
    b"RIFF$\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0@\x1f\0\0@\x1f\0\0\1\0\x08\0data\0\0\0\0"
)

mcp = MCPServer("example", version="1")


def embedded(uri: str, text: str, kind: str = "text/plain") -> EmbeddedResource:
    contents = TextResourceContents(uri=uri, mime_type=kind, text=text)
    return EmbeddedResource(type="resource", resource=contents)


def answer(*content: ContentBlock) -> CallToolResult:
    return CallToolResult(content=list(content))


@mcp.tool(description="Text")
def test_simple_text() -> CallToolResult:
    return answer(TextContent(type="text", text="This is a simple text response for testing."))


@mcp.tool(description="An image")
def test_image_content() -> CallToolResult:
    return answer(IMAGE)


@mcp.tool(description="A sound")
def test_audio_content() -> CallToolResult:
    return answer(AudioContent(type="audio", data=SILENCE.decode(), mime_type="audio/wav"))


@mcp.tool(description="A resource")
def test_embedded_resource() -> CallToolResult:
    return answer(embedded("test://embedded-resource", "This is an embedded resource content."))


@mcp.tool(description="All of them")
def test_multiple_content_types() -> CallToolResult:
    data = json.dumps({"test": "data", "value": 123})
    mixed = embedded("test://mixed-content-resource", data, "application/json")
    return answer(TextContent(type="text", text="Multiple content types test:"), IMAGE, mixed)


@mcp.tool(description="An error")
def test_error_handling() -> CallToolResult:
    raise ToolError("This tool intentionally returns an error for testing")


@mcp.tool(description="Long work")
async def test_tool_with_progress(context: Context[None]) -> CallToolResult:
    for done in (0, 50, 100):
        await context.report_progress(done, 100)
        await anyio.sleep(0.05)
    return answer(TextContent(type="text", text="done"))


@mcp.resource("test://static-text", mime_type="text/plain", description="Text")
def static_text() -> str:
    return "This is the content of the static text resource."


@mcp.resource("test://static-binary", mime_type="image/png", description="An image")
def static_binary() -> bytes:
    return PIXEL


@mcp.resource("test://template/{id}/data", mime_type="application/json", description="By id")
def template(id: str) -> str:  # noqa: A002  (the suite's name)
    return json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})


@mcp.prompt(description="Text")
def test_simple_prompt() -> str:
    return "This is a simple prompt for testing."


@mcp.prompt(description="With arguments")
def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
    return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"


@mcp.prompt(description="With a resource")
def test_prompt_with_embedded_resource(resourceUri: str) -> list[UserMessage]:  # noqa: N803
    found = embedded(resourceUri, "Embedded resource content for testing.")
    return [UserMessage(found), UserMessage("Please process the embedded resource above.")]


@mcp.prompt(description="With an image")
def test_prompt_with_image() -> list[UserMessage]:
    return [UserMessage(IMAGE), UserMessage("Please analyze the image above.")]


def say(endpoint: Endpoint) -> None:
    sys.stdout.write(json.dumps({"url": endpoint.url}) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    mcp.shared = SharedBank()  # type: ignore[attr-defined]
    serve_http(mcp, "127.0.0.1:0", on_start=say)  # type: ignore[arg-type]
