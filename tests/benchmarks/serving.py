"""Weigh a process that serves a bank: one of the Python API, and the server for agents."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from tests.benchmarks.timing import waited

MODES = ("lexical", "hybrid")
_SCRIPT = """
import json, sys
from memory_bank.bank.bank import open_bank
from memory_bank.memory.retrieval.recall import recall
with open_bank(sys.argv[1]) as bank:
    for line in sys.stdin:
        mode, question = json.loads(line)
        print(recall(bank, question, 10, mode, count_access=False).result_count, flush=True)
"""
Weights = dict[str, float]
"""Megabytes by the kernel's names: Rss, Pss, VmHWM."""


def by_python(folder: Path, questions: Sequence[str]) -> Weights:
    """Weigh a process that has asked every question in both modes."""
    with _started([sys.executable, "-c", _SCRIPT, str(folder)]) as (process, ask):
        for mode in MODES:
            for question in questions:
                assert ask([mode, question]) >= 0
        return weights(process.pid)


def by_server(program: Sequence[str], folder: Path, questions: Sequence[str]) -> Weights:
    """Weigh the server for agents after the same questions."""
    with served(_server(program, folder)) as (process, call):
        for question in questions:
            call("recall", {"query": question})
        return weights(process.pid)


def times(program: Sequence[str], folder: Path, questions: Sequence[str]) -> list[float]:
    """Return the seconds that the server for agents takes for each question but the first five."""
    with served(_server(program, folder)) as (_, call):
        return [waited(lambda q=q: call("recall", {"query": q})) for q in questions][5:]


def times_of_qmd(program: str, folder: Path, work: Path, questions: Sequence[str]) -> list[float]:
    """Return the same of qmd's BM25 on the same files, whose index is made in a folder."""
    environment = {**os.environ, "XDG_CACHE_HOME": f"{work}/qmd", "XDG_CONFIG_HOME": f"{work}/qmd"}
    line = [program, "collection", "add", str(folder), "--name", folder.name]
    subprocess.run(line, check=False, capture_output=True, env=environment)
    with served([program, "mcp"], environment) as (_, call):
        asked = [[{"type": "lex", "query": question}] for question in questions]
        return [
            waited(lambda a=a: call("query", {"searches": a, "limit": 5, "rerank": False}))
            for a in asked
        ][5:]


def _server(program: Sequence[str], folder: Path) -> list[str]:
    return [*program, "--bank", str(folder), "serve", "mcp", "--read-only"]


@contextmanager
def served(
    line: Sequence[str], environment: Mapping[str, str] | None = None
) -> Iterator[tuple[subprocess.Popen[str], Callable[[str, object], None]]]:
    """Start a server for agents; return its process, and what calls one of its tools."""
    hello = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "benchmark", "version": "1"},
    }
    numbers = count(1)
    with _started(line, environment) as (process, ask):
        ask({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello})
        _tell(process, {"jsonrpc": "2.0", "method": "notifications/initialized"})

        def call(tool: str, arguments: object) -> None:
            number, wanted = next(numbers), {"name": tool, "arguments": arguments}
            request = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": wanted}
            answer = ask(request)
            while answer.get("id") != number:  # news comes in between
                answer = _heard(process)
            assert not answer["result"].get("isError"), answer

        yield process, call


def weights(pid: int) -> Weights:
    """Return what the kernel says of a process."""
    found: Weights = {}
    for name in ("smaps_rollup", "status"):
        for line in Path(f"/proc/{pid}/{name}").read_text(encoding="utf-8").splitlines():
            key, _, rest = line.partition(":")
            if rest.endswith("kB"):
                found[key] = int(rest.split()[0]) / 1000
    return found


@contextmanager
def _started(
    line: Sequence[str], environment: Mapping[str, str] | None = None
) -> Iterator[tuple[subprocess.Popen[str], Callable[[Any], Any]]]:
    with subprocess.Popen(
        line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as process:

        def ask(what: object) -> Any:
            _tell(process, what)
            return _heard(process)

        yield process, ask
        assert process.stdin is not None
        process.stdin.close()


def _tell(process: subprocess.Popen[str], what: object) -> None:
    assert process.stdin is not None
    process.stdin.write(json.dumps(what) + "\n")
    process.stdin.flush()


def _heard(process: subprocess.Popen[str]) -> Any:
    assert process.stdout is not None
    return json.loads(process.stdout.readline())
