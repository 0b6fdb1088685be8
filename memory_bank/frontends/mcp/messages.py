"""Messages of JSON-RPC as bytes, and the answers to those that can't be read."""

from __future__ import annotations

from typing import Any

from mcp_types import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError
from pydantic_core import from_json

from memory_bank.base import NamedTuple


class InvalidMessage(NamedTuple):
    """An invalid message."""

    answer: JSONRPCError
    """The error for the sender."""


def parse_message(data: bytes) -> JSONRPCMessage | InvalidMessage:
    """Parse one message from UTF-8 bytes.

    Besides what JSON forbids, halves of surrogate pairs, NaN and infinity, integers of more than
    4,300 digits and more than 200 levels of nesting are refused as invalid JSON (-32700). What is
    not JSON-RPC 2.0, a batch, and a request whose id is neither a string nor an integer are refused
    as an invalid request (-32600).
    """
    try:
        value = from_json(data, allow_inf_nan=False)
    except ValueError as error:
        return refuse_message(PARSE_ERROR, f"Parse error: {error}")
    try:
        message = jsonrpc_message_adapter.validate_python(value, by_name=False)
    except ValidationError:
        return refuse_message(INVALID_REQUEST, _describe_invalid(value), _read_id(value))
    if "id" in value and "method" in value and not isinstance(message, JSONRPCRequest):
        # the model of notifications accepts what the model of requests refused
        return refuse_message(
            INVALID_REQUEST, "Invalid request: its id is neither a string nor an integer"
        )
    return message


def refuse_message(code: int, reason: str, request: RequestId | None = None) -> InvalidMessage:
    """Return the error answer to an invalid message."""
    error = ErrorData(code=code, message=reason)
    return InvalidMessage(JSONRPCError(jsonrpc="2.0", id=request, error=error))


def write_message(message: JSONRPCMessage) -> str:
    """Return a message as JSON on one line; an error if it can't be written as JSON."""
    try:
        return message.model_dump_json(by_alias=True, exclude_unset=True)
    except ValueError:  # half of a surrogate pair, or an object that JSON has no form for
        if not isinstance(message, JSONRPCResponse | JSONRPCError):
            raise
        error = ErrorData(code=INTERNAL_ERROR, message="The answer can't be written as JSON")
        answer = JSONRPCError(jsonrpc="2.0", id=message.id, error=error)
        return answer.model_dump_json(by_alias=True, exclude_unset=True)


def _describe_invalid(value: object) -> str:
    if isinstance(value, list):
        return "Invalid request: a batch; send its messages one by one"
    return "Invalid request: not a JSON-RPC 2.0 message"


def _read_id(value: Any) -> RequestId | None:  # noqa: ANN401  (any JSON)
    """Return the id of an invalid request, if it has a valid one."""
    request_id = value.get("id") if isinstance(value, dict) and "method" in value else None
    return (
        request_id
        if isinstance(request_id, str | int) and not isinstance(request_id, bool)
        else None
    )
