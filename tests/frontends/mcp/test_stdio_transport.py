"""What a server over stdio answers to lines that are no messages."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcp_types import INTERNAL_ERROR, JSONRPCResponse

from memory_bank.frontends.mcp.server import MAX_LINE, write_message
from tests.frontends.mcp.conftest import Process, line
from tests.frontends.mcp.malformed import NO_JSON, NO_REQUEST

Start = Callable[..., Process]


def goes_on(server: Process) -> None:
    """Check that the next answer is one to the next question."""
    assert server.ask("ping")["result"] == {}


def error_of(server: Process) -> tuple[int, Any]:
    answer = server.receive()
    assert answer["jsonrpc"] == "2.0"
    return answer["error"]["code"], answer["id"]


def test_what_is_no_json_is_answered_and_the_server_goes_on(process: Start) -> None:
    server = process()
    server.greet()
    for name, data in NO_JSON.items():
        server.write(data + b"\n")
        assert error_of(server) == (-32700, None), name
        goes_on(server)


def test_what_is_no_request_is_answered_and_the_server_goes_on(process: Start) -> None:
    server = process()
    server.greet()
    for name, (data, number) in NO_REQUEST.items():
        server.write(data + b"\n")
        assert error_of(server) == (-32600, number), name
        goes_on(server)


def test_what_is_no_message_may_come_first(process: Start) -> None:
    server = process()
    server.write(b"{half\n")
    assert error_of(server) == (-32700, None)
    assert "result" in server.greet()
    goes_on(server)


def test_an_unknown_method_is_said_to_be_unknown(process: Start) -> None:
    server = process()
    server.greet()
    assert server.ask("tools/destroy")["error"]["code"] == -32601
    server.tell("notifications/whatever")
    goes_on(server)


def test_odd_parameters_are_answered(process: Start) -> None:
    server = process()
    server.greet()
    for params in (
        {"_meta": 5},
        {"_meta": {"progressToken": [1]}, "name": "recall", "arguments": {"query": "x"}},
        {"name": 5, "arguments": {}},
        {"name": "recall", "arguments": []},
        {"name": "recall", "arguments": {"query": "x", "limit": 10**4000}},
        {"name": "recall", "arguments": {"query": "x", "limit": 1e308}},
        {"name": "no\ufffd\u2028\x00", "arguments": {}},
    ):
        answer = server.ask("tools/call", **params)
        assert ("error" in answer) != ("result" in answer)
        goes_on(server)


def test_empty_lines_are_skipped_and_line_ends_of_windows_taken(process: Start) -> None:
    server = process()
    server.greet()
    server.write(b"\n\r\n  \t\n")
    server.write(line({"jsonrpc": "2.0", "id": "a", "method": "ping"}).replace(b"\n", b"\r\n"))
    assert server.receive() == {"jsonrpc": "2.0", "id": "a", "result": {}}


def test_a_line_that_never_ends_takes_no_memory(process: Start) -> None:
    server = process()
    server.greet()
    goes_on(server)
    server.write(b'{"jsonrpc": "2.0", "id": 1, "method": "')
    for _ in range(320):
        server.write(b"x" * 2**20)
    server.write(b'"}\n')
    assert error_of(server) == (-32700, None)
    goes_on(server)
    if os.path.exists("/proc/self/status"):
        status = Path(f"/proc/{server.popen.pid}/status").read_text()
        peak = int(status.partition("VmHWM:")[2].split()[0])
        assert peak < 500_000, "kB; all of the line is 320 MiB, and the server has some 150"


def test_a_note_of_the_most_bytes_is_read_and_refused(process: Start, project: Path) -> None:
    server = process()
    server.greet()
    content = "Ж" * 4_999_000 + "\n"  # two bytes each in the note, six on the wire
    sent = line({"content": content})
    assert 29_000_000 < len(sent) < MAX_LINE
    done = server.call("create_memory", filename="large", content=content)
    assert "too large: an agent's note has at most 100,000" in done["content"][0]["text"]
    assert not (project / ".memories" / "large.md").exists()
    goes_on(server)


@pytest.mark.parametrize(
    "rest", [b"", b'{"jsonrpc": "2.0", "id": 9, "me', b"\xff", b"[" * 1000], ids=repr
)
def test_an_end_in_the_middle_of_a_message_is_an_end(process: Start, rest: bytes) -> None:
    server = process()
    server.greet()
    server.write(rest)
    code, err = server.hang_up()
    assert code == 0
    assert "Traceback" not in err


def test_a_client_that_reads_no_more_is_no_fault(process: Start) -> None:
    server = process()
    server.greet()
    assert server.popen.stdout is not None
    server.popen.stdout.close()
    for number in range(3):
        server.write(line({"jsonrpc": "2.0", "id": number, "method": "ping"}))
    server.popen.stdout = None
    code, err = server.hang_up()
    assert code == 0
    assert "Traceback" not in err


def test_answers_are_json_whatever_files_are_called(process: Start, project: Path) -> None:
    folder = os.fsencode(project / ".memories" / "facts")
    for name in (b"od\xffd.md", "li\u2028ne \u202e.md".encode(), b"tab\t\x1b.md"):
        with open(os.path.join(folder, name), "wb") as file:
            file.write(b"# Odd \xed\xa0\x80\n\nAn odd \xff note of jobs.\n")
    server = process("--toolsets", "store,bank,maintenance")
    server.greet()
    assert "result" in server.ask("resources/list")
    assert "result" in server.ask("resources/read", uri="memory://recent")
    for tool, arguments in (
        ("recall", {"query": "odd jobs"}),
        ("check_memories", {}),
        ("get_memory_stats", {}),
        ("read_memory", {"filename": "facts/od\N{REPLACEMENT CHARACTER}d"}),
    ):
        assert "content" in server.call(tool, **arguments), tool
    goes_on(server)


def test_an_answer_that_json_can_not_have_is_an_error() -> None:
    answer = JSONRPCResponse(jsonrpc="2.0", id=7, result={"text": "\ud800"})
    assert json.loads(write_message(answer))["error"]["code"] == INTERNAL_ERROR
