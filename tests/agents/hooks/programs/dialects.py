"""What the programs of agents ask a model and how it answers, for the four interfaces that they speak.

An answer is one call of a tool, or the text `DONE`.
"""

import json
from abc import ABC, abstractmethod
from typing import Any, NamedTuple

DONE = "All is done."
"""What the model says when its plan is at an end."""

Json = dict[str, Any]


class ToolCall(NamedTuple):
    """A call of a tool; arguments that are text go to a tool of free form."""

    name: str
    arguments: Json | str


Plan = list[ToolCall | None]
"""What the model does, one after the other; None for a text."""


class Answer(NamedTuple):
    """The body of a response."""

    content_type: str
    text: str


class Dialect(ABC):
    """An interface between a program and its model."""

    path: str
    """A part of the address that no other interface has."""

    @abstractmethod
    def tools(self, request: Json) -> list[str]:
        """Return the names of the tools that the model may call."""

    @abstractmethod
    def turns(self, request: Json) -> int:
        """Count the model's answers in the conversation so far."""

    @abstractmethod
    def answer(self, address: str, request: Json, call: ToolCall | None, number: int) -> Answer:
        """Return the response with a call, or with the text; its ids hold the request's number."""


class Anthropic(Dialect):
    """Messages, as Claude Code asks."""

    path = "/v1/messages"

    def tools(self, request: Json) -> list[str]:
        return [tool["name"] for tool in request.get("tools", ())]

    def turns(self, request: Json) -> int:
        return sum(message["role"] == "assistant" for message in request["messages"])

    def answer(self, address: str, request: Json, call: ToolCall | None, number: int) -> Answer:
        if address.partition("?")[0].endswith("count_tokens"):
            return _whole({"input_tokens": 10})
        if call:
            block = {"type": "tool_use", "id": f"toolu_{number:04}", "name": call.name, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(call.arguments)}
            whole = block | {"input": call.arguments}
        else:
            block = {"type": "text", "text": ""}
            delta = {"type": "text_delta", "text": DONE}
            whole = block | {"text": DONE}
        reason = {"stop_reason": "tool_use" if call else "end_turn", "stop_sequence": None}
        message: Json = {"id": f"msg_{number:04}", "type": "message", "role": "assistant"}
        message |= {"model": request["model"], "usage": {"input_tokens": 100, "output_tokens": 20}}
        if not request.get("stream"):
            return _whole(message | reason | {"content": [whole]})
        message |= {"content": [], "stop_reason": None, "stop_sequence": None}
        return _named_events(
            {"type": "message_start", "message": message},
            {"type": "content_block_start", "index": 0, "content_block": block},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": reason, "usage": {"output_tokens": 20}},
            {"type": "message_stop"},
        )


class Responses(Dialect):
    """Responses of OpenAI, as Codex asks."""

    path = "/responses"

    def tools(self, request: Json) -> list[str]:
        added = [item["tools"] for item in request["input"] if item["type"] == "additional_tools"]
        groups = [tool for tools in (request.get("tools", ()), *added) for tool in tools]
        names = [tool.get("name") or tool["type"] for tool in groups]
        for group in groups:
            for tool in group.get("tools", ()):
                names += [tool["name"], f"{group['name']}.{tool['name']}"]
        return names

    def turns(self, request: Json) -> int:
        return sum(
            item["type"].endswith("_call") or item.get("role") == "assistant"
            for item in request["input"]
        )

    def answer(self, address: str, request: Json, call: ToolCall | None, number: int) -> Answer:
        item: Json = {"id": f"item_{number:04}", "status": "completed"}
        if call is None:
            said = {"type": "output_text", "text": DONE, "annotations": []}
            item |= {"type": "message", "role": "assistant", "content": [said]}
        elif isinstance(call.arguments, str):
            item |= {"type": "custom_tool_call", "name": call.name, "input": call.arguments}
        elif call.name == "tool_search":
            item |= {"type": "tool_search_call", "execution": "client", "arguments": call.arguments}
        else:
            item |= {"type": "function_call", "arguments": json.dumps(call.arguments)}
            space, dot, name = call.name.rpartition(".")
            item |= {"name": name} | ({"namespace": space} if dot else {})
        if call:
            item["call_id"] = f"call_{number:04}"
        usage = {"input_tokens": 100, "output_tokens": 20, "total_tokens": 120}
        response: Json = {"id": f"resp_{number:04}"}
        return _named_events(
            {"type": "response.created", "response": response},
            {"type": "response.output_item.added", "output_index": 0, "item": item},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": response | {"usage": usage}},
        )


class Chat(Dialect):
    """Chat completions of OpenAI, as OpenCode and Copilot CLI ask."""

    path = "/chat/completions"

    def tools(self, request: Json) -> list[str]:
        return [tool["function"]["name"] for tool in request.get("tools") or ()]

    def turns(self, request: Json) -> int:
        return sum(message["role"] == "assistant" for message in request["messages"])

    def answer(self, address: str, request: Json, call: ToolCall | None, number: int) -> Answer:
        said: Json = {"role": "assistant", "content": DONE}
        if call:
            function = {"name": call.name, "arguments": json.dumps(call.arguments)}
            made = {"index": 0, "id": f"call_{number:04}", "type": "function", "function": function}
            said = {"role": "assistant", "content": None, "tool_calls": [made]}
        reason = "tool_calls" if call else "stop"
        usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
        base = {"id": f"chat_{number:04}", "created": 1, "model": request["model"]}
        if not request.get("stream"):
            choice: Json = {"index": 0, "message": said, "finish_reason": reason}
            whole = {"object": "chat.completion", "choices": [choice], "usage": usage}
            return _whole(base | whole)
        base["object"] = "chat.completion.chunk"
        first = {"index": 0, "delta": said, "finish_reason": None}
        last = {"index": 0, "delta": {}, "finish_reason": reason}
        return _events(
            json.dumps(base | {"choices": [first]}),
            json.dumps(base | {"choices": [last], "usage": usage}),
            "[DONE]",
        )


class Gemini(Dialect):
    """Contents of Google, as Gemini CLI asks."""

    path = "enerateContent"

    def tools(self, request: Json) -> list[str]:
        declared = [tool.get("functionDeclarations", ()) for tool in request.get("tools", ())]
        return [function["name"] for functions in declared for function in functions]

    def turns(self, request: Json) -> int:
        return sum(content["role"] == "model" for content in request["contents"])

    def answer(self, address: str, request: Json, call: ToolCall | None, number: int) -> Answer:
        part: Json = {"text": DONE}
        if call:
            part = {"functionCall": {"name": call.name, "args": call.arguments}}
        elif request.get("generationConfig", {}).get("responseMimeType") == "application/json":
            part = {"text": json.dumps({"next_speaker": "user", "reasoning": DONE})}
        content = {"role": "model", "parts": [part]}
        usage = {"promptTokenCount": 100, "candidatesTokenCount": 20, "totalTokenCount": 120}
        body = {
            "candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
            "usageMetadata": usage,
            "modelVersion": "mock",
        }
        return _events(json.dumps(body)) if "stream" in address else _whole(body)


DIALECTS: tuple[Dialect, ...] = (Anthropic(), Responses(), Chat(), Gemini())


def _whole(body: Json) -> Answer:
    return Answer("application/json", json.dumps(body))


def _events(*data: str) -> Answer:
    return Answer("text/event-stream", "".join(f"data: {one}\n\n" for one in data))


def _named_events(*events: Json) -> Answer:
    lines = [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events]
    return Answer("text/event-stream", "".join(lines))
