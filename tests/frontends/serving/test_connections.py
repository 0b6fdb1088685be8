"""What a client can do to the server's connections, over real sockets."""

import fcntl
import json
import os
import socket
import sys
import threading
import time
from contextlib import ExitStack
from pathlib import Path

import anyio
import httpx2
import pytest
from mcp import Client

from tests.frontends.mcp.malformed import NO_JSON, NO_REQUEST
from tests.frontends.mcp.over_http import ACCEPT, HELLO, Served, served, until_closed
from tests.support.waiting import until

HEAD = (
    b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    b"Accept: application/json, text/event-stream\r\n"
)
BODY = json.dumps(HELLO).encode()
LENGTH = b"Content-Length: %d\r\n" % len(BODY)
CHUNKED = b"Transfer-Encoding: chunked\r\n"
CHUNKS = b"%x\r\n%s\r\n0\r\n\r\n" % (len(BODY), BODY)
STALL = {"head": 2, "body": 2, "write": 2, "idle": 2}


def test_a_body_whose_length_is_given_twice_is_refused(plain: Served) -> None:
    longer = b"Content-Length: %d\r\n" % (len(BODY) + 1)
    listed = b"Content-Length: %d, %d\r\n" % (len(BODY), len(BODY))
    for framing, body in (
        (LENGTH + CHUNKED, CHUNKS),
        (CHUNKED + LENGTH, CHUNKS),
        (b"content-length:0\r\n" + CHUNKED, CHUNKS),
        (LENGTH + LENGTH, BODY),
        (LENGTH + longer, BODY),
        (listed, BODY),
        (b"Content-Length: +5\r\n", BODY),
        (b"Content-Length : 5\r\n", BODY),
        (CHUNKED + CHUNKED, CHUNKS),
        (b"Transfer-Encoding: gzip, chunked\r\n", CHUNKS),
        (b"Transfer-Encoding: identity\r\n" + LENGTH, BODY),
    ):
        assert plain.raw(HEAD + framing + b"\r\n" + body) == 400, framing
    old = HEAD.replace(b"HTTP/1.1", b"HTTP/1.0")
    assert plain.raw(old + CHUNKED + b"\r\n" + CHUNKS) == 400
    assert plain.raw(HEAD + LENGTH + b"\r\n" + BODY) == 200
    assert plain.raw(HEAD + CHUNKED + b"\r\n" + CHUNKS) == 200


def test_a_second_request_in_the_same_breath_is_checked_too(plain: Served) -> None:
    whole = HEAD + LENGTH + b"\r\n" + BODY
    with plain.connect() as line:
        line.sendall(whole + HEAD + LENGTH + CHUNKED + b"\r\n" + CHUNKS)
        line.settimeout(10)
        said = b""
        while more := line.recv(65536):
            said += more
    assert said.count(b"HTTP/1.1 200") == 1
    assert said.count(b"HTTP/1.1 400") == 1


def test_headers_and_bodies_have_a_limit(plain: Served) -> None:
    assert plain.raw(HEAD + b"X: " + b"x" * 17_000 + b"\r\n" + LENGTH + b"\r\n" + BODY) == 400
    assert plain.raw(HEAD + b"X: " + b"x" * 17_000) == 400
    assert plain.raw(HEAD + b"X: y\r\n" * 5000 + LENGTH + b"\r\n" + BODY) == 400
    assert plain.raw(HEAD + b"Content-Length: 4194305\r\n\r\n") == 413
    assert plain.raw(HEAD + b"X: " + b"x" * 8000 + b"\r\n" + LENGTH + b"\r\n" + BODY) == 200


@pytest.mark.slow
def test_bodies_that_are_no_messages_are_answered_with_an_error(plain: Served) -> None:
    modern = {"mcp-protocol-version": "2026-07-28"}
    for headers in ({}, modern):
        for name, data in NO_JSON.items():
            answer = plain.post(data, headers=headers)
            assert answer.status_code == 400, name
            found = answer.json()
            assert (found["error"]["code"], found["id"]) == (-32700, None), name
        for name, (data, number) in NO_REQUEST.items():
            answer = plain.post(data, headers=headers)
            assert answer.status_code == 400, name
            found = answer.json()
            assert (found["error"]["code"], found["id"]) == (-32600, number), name
    assert plain.post(b"").json()["error"]["code"] == -32700
    assert plain.post().status_code == 200


def test_a_client_that_stalls_is_cut_off(project: Path) -> None:
    answered = HEAD + LENGTH + b"\r\n" + BODY
    with served(project, **STALL) as server:
        kept: dict[str, float] = {}

        def wait(name: str, sent: bytes, drip: bytes = b"") -> None:
            begun = time.monotonic()
            with server.connect() as line:
                line.sendall(sent)
                until_closed(line, drip)
            kept[name] = time.monotonic() - begun

        waiting = [
            threading.Thread(target=wait, args=one)
            for one in (
                ("nothing", b""),
                ("headers", HEAD),
                ("headers that drip", b"GET /mcp HTTP/1.1\r\nX: ", b"x"),
                ("a body", HEAD + LENGTH + b"\r\n{"),
                ("a body that drips", HEAD + b"Content-Length: 4000000\r\n\r\n{", b" "),
                ("chunks that drip", HEAD + CHUNKED + b"\r\n", b"1\r\n \r\n"),
                ("a body that nobody wants", HEAD + b"Content-Length: 9000000\r\n\r\n", b" "),
                ("a second request", answered + b"P"),
                ("a second request that drips", answered + b"GET / HTTP/1.1\r\nX: ", b"x"),
                ("silence after an answer", answered),
                ("a stream with a body that never comes", b"GET" + HEAD[4:] + LENGTH + b"\r\n"),
                ("100-continue", HEAD + LENGTH + b"Expect: 100-continue\r\n\r\n"),
            )
        ]
        for one in waiting:
            one.start()
        for one in waiting:
            one.join()
        assert server.post().status_code == 200
    assert len(kept) == len(waiting)
    for name, seconds in kept.items():
        assert 1 < seconds < 60, (name, kept)


@pytest.mark.skipif(sys.platform != "linux", reason="looks at the sockets of another process")
@pytest.mark.slow
def test_an_answer_that_nobody_reads_is_cut_off(project: Path) -> None:
    (project / ".memories" / "large.md").write_text("word " * 1_000_000)
    with served(project, write=2, write_rate=2**22) as server:
        session = server.open()
        ask = {"name": "read_memory", "arguments": {"filename": "large"}}
        body = json.dumps({"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": ask})
        with socket.socket() as line:
            line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            line.connect(("127.0.0.1", server.port))
            line.sendall(
                HEAD
                + b"Mcp-Session-Id: %s\r\nContent-Length: %d\r\n\r\n%s"
                % (session.encode(), len(body), body.encode())
            )
            assert line.recv(100).startswith(b"HTTP/1.1 200")
            until(lambda: not _held(server))


def _held(server: Served) -> int:
    """Count the connections of a server that it holds open."""
    found = Path(f"/proc/{server.process.pid}/net/tcp").read_text().splitlines()[1:]
    port, established = f":{server.port:04X}", "01"
    rows = [row.split() for row in found]
    return sum(row[1].endswith(port) and row[3] == established for row in rows)


@pytest.mark.slow
def test_what_takes_long_is_not_cut_off(project: Path) -> None:
    with served(project, **STALL) as server, httpx2.Client(timeout=60) as line:
        session = {**ACCEPT, "mcp-session-id": server.open()}
        with line.stream("GET", server.url, headers=session) as listening:
            assert listening.status_code == 200
            begun = time.monotonic()
            said = []

            def listen() -> None:
                for one in listening.iter_lines():
                    said.append(one)
                    if "list_changed" in one:
                        return

            reader = threading.Thread(target=listen)
            reader.start()
            time.sleep(6)  # thrice all limits
            (project / ".memories" / "new.md").write_text("# New\n\nA new note.\n")
            reader.join(60)
            assert time.monotonic() - begun > 6
            assert any("list_changed" in one for one in said), said


@pytest.mark.slow
def test_a_call_that_takes_long_is_answered(project: Path) -> None:
    lock = project / ".memories"

    async def talk(url: str) -> None:
        async with Client(url, mode="legacy") as client:
            held = os.open(lock, os.O_RDONLY)
            fcntl.flock(held, fcntl.LOCK_EX)

            async def free() -> None:
                await anyio.sleep(5)
                os.close(held)

            async with anyio.create_task_group() as group:
                group.start_soon(free)
                begun = time.monotonic()
                arguments = {"filename": "slow", "content": "Written late."}
                answer = await client.call_tool("create_memory", arguments)
                assert not answer.is_error, answer
                assert time.monotonic() - begun > 4

    with served(project, head=1, body=1, write=1, idle=1) as server:
        anyio.run(talk, server.url)
    assert (project / ".memories" / "slow.md").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    "sent", [b"", b"POST /mcp HTTP/1.1\r\n", HEAD + b"Content-Length: 9\r\n\r\n"]
)
def test_connections_that_wait_make_room(project: Path, sent: bytes) -> None:
    with served(project, connections=20) as server, ExitStack() as stack:
        for _ in range(100):
            line = stack.enter_context(server.connect())
            line.sendall(sent)
        for _ in range(5):
            assert server.post().status_code == 200


@pytest.mark.slow
def test_open_streams_make_room_for_calls(project: Path) -> None:
    with served(project, connections=20) as server, ExitStack() as stack:
        for _ in range(40):
            session = server.hello().encode()
            line = stack.enter_context(server.connect())
            line.sendall(
                b"GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n"
                b"Mcp-Session-Id: %s\r\n\r\n" % session
            )
            assert line.recv(100).startswith(b"HTTP/1.1 200")
        assert server.ping(server.open()) == 200
