"""Real servers over stdio: how they start, what they refuse, how they end."""

import json
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memory_bank.bank.bank import open_bank
from memory_bank.memory.retrieval.recall import recall
from tests.support.waiting import until

pytestmark = pytest.mark.slow

Start = Callable[..., Any]


def text_of(result: dict[str, Any]) -> str:
    (block,) = result["content"]
    return str(block["text"])


def test_initialize_says_who_serves_and_what_there_is(process: Start) -> None:
    server = process(anew=True)
    answer = server.greet()["result"]
    assert answer["serverInfo"]["name"] == "memory-bank"
    assert "quoted data" in answer["instructions"]
    assert answer["capabilities"]["resources"] == {"subscribe": True, "listChanged": True}
    assert {"tools", "prompts", "resources"} <= set(answer["capabilities"])
    found = server.call("recall", query="why tantivy?")
    assert 'at="decisions/tantivy.md:8"' in text_of(found)
    assert server.hang_up()[0] == 0


@pytest.mark.skipif(sys.platform != "linux", reason="looks at the files of another process")
def test_initialize_is_answered_before_anything_of_the_bank_is_loaded(process: Start) -> None:
    server = process(anew=True)
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}}
    server.ask("initialize", **hello, clientInfo={"name": "x", "version": "1"})
    # stopped before the pause is over after which it warms up
    os.kill(server.popen.pid, signal.SIGSTOP)
    mapped = Path(f"/proc/{server.popen.pid}/maps").read_text()
    os.kill(server.popen.pid, signal.SIGCONT)
    assert "pydantic_core" in mapped
    for library in ("tantivy", "numpy", "usearch", "tokenizers"):
        assert library not in mapped
    assert not (Path(server.folder) / ".memories" / ".index").exists()


def test_it_warms_up_by_itself(process: Start, project: Path) -> None:
    server = process()
    server.greet()
    until((project / ".memories/.index/vectors").is_dir)


def test_a_server_starts_where_there_is_no_bank_yet(process: Start, project: Path) -> None:
    (project / ".memories").rename(project / "notes")
    server = process()
    server.greet()
    refused = server.call("recall", query="anything")
    assert refused["isError"]
    assert json.loads(text_of(refused))["error"]["code"] == "no_bank"
    assert "memory-bank init" in text_of(refused)
    assert server.ask("resources/list")["result"]["resources"]
    (project / "notes").rename(project / ".memories")
    assert not server.call("recall", query="tantivy").get("isError")


def test_arguments_of_ten_megabytes_are_refused_or_cut_short(process: Start, project: Path) -> None:
    server = process()
    server.greet()
    much = "x" * 10_000_000
    for tool, arguments in (
        ("remember", {"content": f"Word {much}"}),
        ("recall", {"query": much}),
        ("recall", {"query": "x", much: 1}),
        ("recall", {"query": "x", "limit": much}),
        ("read_memory", {"filename": much}),
        ("append_memory", {"filename": "bm25", "content": much}),
        ("remember", {"content": "x", "tags": [much]}),
        (much, {}),
    ):
        answer = server.call(tool, **arguments)
        assert answer["isError"], tool[:20]
        assert len(text_of(answer)) < 1000, tool[:20]
    assert "BM25" in text_of(server.call("read_memory", filename="bm25"))
    assert len(list((project / ".memories").rglob("*.md"))) == 3
    assert server.hang_up()[0] == 0


def test_hanging_up_in_the_middle_leaves_the_bank_whole(process: Start, project: Path) -> None:
    server = process()
    server.greet()
    for number in range(30):
        server.send("tools/call", name="remember", arguments={"content": f"Thing number {number}."})
    server.write(b'{"jsonrpc": "2.0", "id": 99, "method": "tools/ca')
    server.popen.stdin.close()
    server.popen.stdin = None
    assert server.popen.wait(60) == 0
    with open_bank(project) as bank:
        assert recall(bank, "tantivy", count_access=False).notes
        report = bank.sync()
        assert not report.unindexed
    kept = list((project / ".memories").rglob("*thing-number*"))
    assert all(file.read_text().endswith(".\n") for file in kept)
    assert not list((project / ".memories").rglob(".mb-*"))


@pytest.mark.skipif(os.name == "nt", reason="Windows ends a process without asking it")
@pytest.mark.parametrize("signalled", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_though_the_client_stays(process: Start, signalled: int) -> None:
    server = process(anew=signalled == signal.SIGINT)
    server.greet()
    server.call("recall", query="tantivy")
    server.popen.send_signal(signalled)
    assert server.popen.wait(60) == 128 + signalled


def test_what_a_tool_prints_does_not_reach_the_client(process: Start, tmp_path: Path) -> None:
    plugin = tmp_path / "sitecustomize.py"
    plugin.write_text(
        "import os\n"
        "import memory_bank.memory.retrieval.recall as r\n"
        "old = r.list_conditions\n"
        "def loud(*a, **k):\n"
        "    print('chatter', flush=True)\n"
        "    os.write(1, b'more chatter\\n')\n"
        "    return old(*a, **k)\n"
        "r.list_conditions = loud\n"
    )
    server = process(path=tmp_path)
    server.greet()
    assert "result" in server.ask("tools/call", name="recall", arguments={"query": "tantivy"})
    code, err = server.hang_up()
    assert code == 0
    assert "chatter" in err
    assert "more chatter" in err


@pytest.mark.skipif(sys.platform != "linux", reason="weighs another process")
def test_the_model_is_let_go_when_nobody_asks_and_loaded_again(
    process: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORY_BANK_EMBEDDER", "minilm")
    (tmp_path / "sitecustomize.py").write_text(
        "from memory_bank.frontends.serving import serving_background\n"
        "serving_background._IDLE = serving_background._EMBED_RETRY = 2\n"
    )
    server = process("--read-only", path=tmp_path)
    server.greet()
    answer = text_of(server.call("recall", query="why tantivy?", mode="semantic"))
    assert "decisions/tantivy.md" in answer
    loaded = private_megabytes(server.popen.pid)
    deadline = time.monotonic() + 60
    while (idle := private_megabytes(server.popen.pid)) > loaded - 40:
        assert time.monotonic() < deadline, f"{loaded} MB with the model, {idle} MB when idle"
        time.sleep(0.2)
    again = text_of(server.call("recall", query="why tantivy?", mode="semantic"))
    assert "decisions/tantivy.md" in again
    assert private_megabytes(server.popen.pid) > idle + 40


def private_megabytes(pid: int) -> float:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Private_")) / 1024
