"""Which sessions end when there are too many, over real sockets."""

import threading
import time
from pathlib import Path

import anyio
import anyio.to_thread
import httpx2
import pytest
from mcp import Client

from tests.frontends.mcp.over_http import ACCEPT, HELLO, served
from tests.support.waiting import until

pytestmark = pytest.mark.slow


def test_the_session_that_was_idle_for_longest_ends_first(project: Path) -> None:
    with served(project, sessions=4) as server:
        first, second, third, fourth = (server.open() for _ in range(4))
        assert server.ping(first) == 200
        fifth = server.open()
        assert server.ping(second) == 404
        assert server.ping(first) == 200
        server.open()
        assert server.ping(third) == 404
        assert [server.ping(one) for one in (fourth, fifth, first)] == [200, 200, 200]


def test_sessions_that_nobody_used_end_before_those_in_use(project: Path) -> None:
    with served(project, sessions=4) as server:
        mine = server.open()
        for _ in range(20):
            server.hello()
        assert server.ping(mine) == 200


def test_a_session_with_an_open_stream_is_not_idle(project: Path) -> None:
    with served(project, sessions=3) as server, httpx2.Client(timeout=60) as line:
        mine = server.hello()
        with line.stream("GET", server.url, headers={**ACCEPT, "mcp-session-id": mine}) as stream:
            assert stream.status_code == 200
            for _ in range(10):
                server.open()
            assert server.ping(mine) == 200


def test_where_all_sessions_are_in_use_it_is_said(project: Path) -> None:
    with served(project, sessions=1) as server, httpx2.Client(timeout=60) as line:
        mine = server.hello()
        with line.stream("GET", server.url, headers={**ACCEPT, "mcp-session-id": mine}) as stream:
            assert stream.status_code == 200
            answer = server.post()
            assert answer.status_code == 503
            assert answer.json()["error"]["message"] == "Too many open sessions"
        until(lambda: server.post().status_code == 200)  # it has noticed that the stream is closed


def test_ended_sessions_leave_room(project: Path) -> None:
    with served(project, sessions=2) as server:
        mine = server.open()
        for _ in range(5):
            other = server.open()
            headers = {**ACCEPT, "mcp-session-id": other}
            assert httpx2.delete(server.url, headers=headers).status_code == 200
            assert server.ping(other) == 404
        assert server.ping(mine) == 200


def test_an_idle_session_expires(project: Path) -> None:
    with served(project, session_idle=4) as server:
        idle, used = server.open(), server.open()
        end = time.monotonic() + 6
        while time.monotonic() < end:
            time.sleep(0.2)
            assert server.ping(used) == 200
        assert server.ping(idle) == 404


def test_what_opens_no_session_ends_none(project: Path) -> None:
    with served(project, sessions=2) as server:
        mine = [server.open(), server.open()]
        for body in (b"{half", b"[]", b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}'):
            assert server.post(body).status_code == 400
        foreign = server.post(headers={"origin": "https://evil.example"})
        assert foreign.status_code == 403
        assert [server.ping(one) for one in mine] == [200, 200]


def test_a_flood_of_hellos_keeps_nobody_out(project: Path) -> None:
    stop, well_under_way = threading.Event(), threading.Event()
    opened: list[int] = []

    def flood(url: str) -> None:
        with httpx2.Client(timeout=60) as line:
            while not stop.is_set():
                answer = line.post(url, json=HELLO, headers=ACCEPT)
                opened.append(answer.status_code)
                if len(opened) > 150:
                    well_under_way.set()

    async def work(url: str) -> None:
        async with Client(url, mode="legacy") as early:
            await anyio.to_thread.run_sync(well_under_way.wait)
            async with Client(url, mode="legacy") as late:
                for number, client in enumerate((early, late, early, late)):
                    arguments = {"content": f"# Flood {number}\n\nWritten in a flood."}
                    answer = await client.call_tool("remember", arguments)
                    assert not answer.is_error, answer

    with served(project, sessions=50) as server:
        attackers = [threading.Thread(target=flood, args=(server.url,)) for _ in range(4)]
        for one in attackers:
            one.start()
        try:
            anyio.run(work, server.url)
        finally:
            stop.set()
            for one in attackers:
                one.join()
        assert set(opened) == {200}
        assert len(opened) > 150
        assert server.ping(server.open()) == 200
