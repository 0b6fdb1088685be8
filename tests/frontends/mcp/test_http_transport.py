import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

import memory_bank
from tests.frontends.mcp.over_http import ACCEPT, Served
from tests.support import forked

Start = Callable[..., Served]


@pytest.fixture
def start(project: Path) -> Iterator[Start]:
    """Start servers in the project; all end with the test."""
    with ExitStack() as stack:

        def start(*args: str, cwd: Path = project, address: str = "127.0.0.1:0") -> Served:
            process = stack.enter_context(
                forked.Popen(
                    [
                        *(sys.executable, "-m", "memory_bank", "serve", "mcp", "--json"),
                        *("--http", address, *args),
                    ],
                    cwd=cwd,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    text=True,
                    env={**os.environ, "PYTHONPATH": str(Path(memory_bank.__file__).parents[1])},
                )
            )
            stack.callback(process.kill)
            assert process.stdout is not None
            said = json.loads(process.stdout.readline())
            url = said["url"].replace("0.0.0.0", "127.0.0.1")  # noqa: S104
            return Served(url, process, said.get("token_file"))

        yield start


async def call(client: Client, name: str, **arguments: object) -> tuple[str, dict[str, Any]]:
    """Call a tool and return its text and its structure."""
    answer = await client.call_tool(name, arguments)
    return answer.content[0].text, answer.structured_content or {}  # type: ignore[union-attr]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_two_clients_share_a_bank(start: Start, mode: str) -> None:
    url = start().url

    async def talk() -> None:
        async with Client(url, mode=mode) as one, Client(url, mode=mode) as other:  # type: ignore[arg-type]
            assert {tool.name for tool in (await one.list_tools()).tools} >= {"remember", "recall"}
            await call(one, "remember", content="# Queues\n\nJobs wait in Postgres.")
            text, structure = await call(other, "recall", query="where do jobs wait?")
            assert 'at="facts/queues.md:' in "\n".join(text.split("\n")[1:2]), text
            assert structure["notes"][0]["path"] == "facts/queues.md"

    anyio.run(talk)


def test_another_name_of_this_server_is_answered_if_it_is_allowed(start: Start) -> None:
    server = start("--allow-host", "bank.example.org")
    assert server.post(headers={"host": "bank.example.org"}).status_code == 200
    assert server.post(headers={"host": "other.example.org"}).status_code == 421


def test_who_hangs_up_harms_nobody(start: Start) -> None:
    server = start()
    for sent in (b"", b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1", b"\x00\xff\r\n\r\n"):
        with server.connect() as line:
            line.sendall(sent)
    with server.connect() as line:
        line.sendall(
            b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            b"Content-Length: 1000\r\n\r\n{"
        )
    assert server.post().status_code == 200


def test_other_machines_need_the_token(start: Start, private_folders: Path) -> None:
    server = start(address="0.0.0.0:0")
    file = private_folders / "state" / "memory-bank" / "http-token"
    assert server.token_file == str(file)
    assert file.stat().st_mode & 0o777 == 0o600
    token = file.read_text().strip()
    assert server.post().status_code == 401
    for wrong in (f"Bearer {token}x", "Bearer", f"Basic {token}", token, "Bearer \xfc"):
        answer = server.post(headers={"authorization": wrong.encode("latin-1")})
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"].startswith("Bearer")
    right = {"authorization": f"Bearer {token}"}
    assert server.post(headers=right).status_code == 200
    assert server.post(headers={**right, "host": "evil.example"}).status_code == 421

    async def talk() -> list[str]:
        async with (
            httpx2.AsyncClient(headers=right) as line,
            Client(streamable_http_client(server.url, http_client=line)) as client,
        ):
            return [tool.name for tool in (await client.list_tools()).tools]

    assert "recall" in anyio.run(talk)
    assert start(address="0.0.0.0:0").token_file == str(file)
    assert file.read_text().strip() == token


def test_a_token_can_be_asked_for_on_this_machine_too(start: Start, tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_text("0123456789abcdef0\n")
    file.chmod(0o600)
    server = start("--token-file", str(file))
    assert server.post().status_code == 401
    assert server.post(headers={"authorization": "Bearer 0123456789abcdef0"}).status_code == 200


def test_answers_name_no_path_of_the_machine(start: Start, project: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    server = start("--toolsets", "bank,maintenance", "--structured")
    bare = start(cwd=tmp_path / "empty")

    async def talk() -> list[str]:
        said = []
        async with Client(server.url) as client, Client(bare.url) as lost:
            said += [str(await call(lost, "read_memory", filename="a"))]
            said += [str(await call(client, "check_memories"))]
            (project / ".memories" / "facts" / "bm25.md").write_text(f"In {tmp_path} it is.\n")
            said += [str(await call(client, "read_memory", filename="bm25"))]
            (project / ".memories").rename(project / "gone")
            said += [str(await call(client, "read_memory", filename="bm25"))]
            try:
                await client.read_resource("memory://note/bm25")
            except Exception as error:  # noqa: BLE001
                said.append(str(error))
        return said

    no_bank, health, note, gone, resource = anyio.run(talk)
    for text in (no_bank, health, gone, resource):
        assert str(tmp_path) not in text
        assert "/pytest-" not in text
    assert "no .memories folder" in no_bank
    assert "the bank" in health
    assert str(tmp_path) in note, "a note is shown as it is"


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 0)])
def test_it_stops_when_it_is_told_to_with_a_client_that_listens(
    start: Start, number: int, code: int
) -> None:
    server = start()
    session = {**ACCEPT, "mcp-session-id": server.post().headers["mcp-session-id"]}
    with (
        httpx2.Client(timeout=60) as line,
        line.stream("GET", server.url, headers=session) as listening,
    ):
        assert listening.status_code == 200
        assert server.stop(number) == code
