"""A source file that no parser can take harms nothing that reads it."""

import json
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from lsprotocol import types

from memory_bank.bank.bank import open_bank
from tests.code.hostile_code import hostile, memory
from tests.frontends.cli.conftest import command, environment
from tests.frontends.lsp.client import Editor
from tests.frontends.mcp.conftest import Process
from tests.git.history_builder import commit_all
from tests.support.waiting import until

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="looks at other processes"),
    pytest.mark.slow,
]
MEGABYTES, SECONDS = 300, 60
"""Limits of a command with the process that parses, on a busy machine."""
PATH = "src/Prices.cs"
GOOD = b"class Prices {\n  int Net(int gross) { return gross; }\n}\n"
NOTE = f"# Prices\n\nNet prices are rounded once: [[{PATH}#Prices.Net]] in [[{PATH}]].\n"


@pytest.fixture
def shop(project: Path, git: Callable[..., str]) -> Path:
    """Make a project whose note cites a file that a later commit makes hostile."""
    (project / PATH).write_bytes(GOOD)
    (project / ".memories/facts/prices.md").write_text(NOTE)
    commit_all(project, "Prices")
    (project / PATH).write_bytes(hostile("generics on lines", 100_000))
    git(project, "commit", "-qam", "Generics")
    return project


def watched(words: list[str], folder: Path, given: bytes = b"") -> tuple[int, str, str]:
    """Run a command within the limits; return its exit code and what it prints."""
    pipe = subprocess.PIPE
    with subprocess.Popen(
        words, cwd=folder, env=environment(), stdin=pipe, stdout=pipe, stderr=pipe
    ) as process:
        most, ended = 0, threading.Event()

        def look() -> None:
            nonlocal most
            while not ended.wait(0.01):
                most = max(most, memory(process.pid))

        looking = threading.Thread(target=look)
        looking.start()
        try:
            out, err = process.communicate(given, timeout=SECONDS)
        finally:
            ended.set()
            looking.join()
            process.kill()
    assert most < MEGABYTES * 1_000_000
    return process.returncode, out.decode(), err.decode()


@pytest.mark.parametrize(
    "words",
    [
        ["ask", "net prices"],
        ["symbols", "build_index"],
        ["recall", "net prices"],
        ["stale"],
        ["stale", "--worktree"],
        ["review", "HEAD~1..HEAD"],
        ["sync"],
    ],
    ids=" ".join,
)
def test_each_command_answers(shop: Path, words: list[str]) -> None:
    code, out, err = watched(command(words), shop)
    assert (code, "Traceback" in err) == (0, False), (out, err)


def test_doctor_lists_it_with_the_reason_and_nothing_tries_it_again(shop: Path) -> None:
    assert watched(command(["symbols", "build_index"]), shop)[0] == 0
    code, out, _ = watched(command(["doctor", "--json"]), shop)
    assert code == 0
    assert json.loads(out)["code"]["unindexed"] == {PATH: "it takes more than 128 MB to parse"}
    assert (
        f"it takes more than 128 MB to parse (1): {PATH}" in watched(command(["doctor"]), shop)[1]
    )
    script = """
import sys
from memory_bank.code.parse import parsing
found = parsing.parse(open(sys.argv[1], "rb").read(), "c_sharp")
print(found.refused, "memory_bank.code.parse.parse_process" in sys.modules)
"""
    (shop / PATH).touch()
    words = [sys.executable, "-c", script, str(shop / PATH)]
    assert watched(words, shop)[1].strip() == "it takes more than 128 MB to parse False"


def test_a_symbol_in_it_is_not_called_gone(shop: Path) -> None:
    code, out, _ = watched(command(["stale", "--json"]), shop)
    assert code == 0
    assert f"{PATH}#Prices.Net" not in [one["target"] for one in json.loads(out)["citations"]]


def test_the_hook_of_a_prompt_never_fails(shop: Path) -> None:
    with open_bank(shop) as bank:
        bank.sync()
    event = {"session_id": "s", "cwd": str(shop), "prompt": "Where are net prices rounded?"}
    words = command(["hook", "claude-code", "UserPromptSubmit"])
    code, out, err = watched(words, shop, json.dumps(event).encode())
    assert (code, err) == (0, "")
    assert "prices" in out


def test_a_server_of_agents_answers(shop: Path) -> None:
    server = Process(shop)
    try:
        server.greet()
        for tool, arguments in (
            ("recall", {"query": "net prices"}),
            ("ask", {"query": "net prices"}),
        ):
            found = server.call(tool, **arguments)
            assert not found.get("isError"), found
            assert memory(server.popen.pid) < MEGABYTES * 1_000_000
    finally:
        server.popen.kill()
        server.popen.communicate()


def test_an_editor_gets_answers_for_an_unsaved_text(shop: Path, tmp_path: Path) -> None:
    with Editor(shop, home=tmp_path / "home") as editor:
        text = hostile("generics", 100_000).decode()
        hostile_one = editor.open(shop / PATH, text)
        good = editor.open(shop / "src/index.py", "def build_index():\n    ...\n")

        def hover(document: types.TextDocumentIdentifier) -> types.Hover | None:
            params = types.HoverParams(document, types.Position(0, 6))
            return editor.ask(editor.client.text_document_hover_async, params)

        assert hover(hostile_one) is None
        assert "build_index" in str(until(lambda: hover(good)))
        assert editor.leave() == 0
        assert editor.stderr == ""
