"""Weigh a process that serves a bank: one of the Python API, and the server for agents."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

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
    hello = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "benchmark", "version": "1"},
    }
    line = [*program, "--bank", str(folder), "serve", "mcp", "--read-only"]
    with _started(line) as (process, ask):
        ask({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello})
        _tell(process, {"jsonrpc": "2.0", "method": "notifications/initialized"})
        for number, question in enumerate(questions, 1):
            wanted = {"name": "recall", "arguments": {"query": question}}
            call = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": wanted}
            answer = ask(call)
            while answer.get("id") != number:  # news comes in between
                answer = _heard(process)
            assert not answer["result"].get("isError"), answer
        return weights(process.pid)


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
def _started(line: Sequence[str]) -> Iterator[tuple[subprocess.Popen[str], Callable[[Any], Any]]]:
    with subprocess.Popen(
        line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
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
