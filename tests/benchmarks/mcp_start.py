"""How long an agent's program waits for the server: `python -m tests.benchmarks.mcp_start [BANK]`.

A process that only imports the SDK and one that serves are started in turns; the first is timed
until it says that it has, the second until it has answered `initialize`, and then the tool list.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROUNDS = 15
ALLOWED_MS = 150.0
"""What the server may take on top of importing the SDK."""

BARE = "from mcp.server import MCPServer; print('ready', flush=True)"


def requests() -> list[dict[str, Any]]:
    """Return what a client says first: the handshake, and what tools there are."""
    hello = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "benchmark", "version": "1"},
    }
    return [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    ]


def bare() -> float:
    """Time a process that only imports the SDK, in milliseconds."""
    started = time.perf_counter()
    with subprocess.Popen([sys.executable, "-c", BARE], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline()
        took = time.perf_counter() - started
    return took * 1000


def served(bank: Path) -> tuple[float, float]:
    """Time a server until `initialize` is answered, and until the list of tools is."""
    words = [sys.executable, "-m", "memory_bank", "--bank", str(bank), "serve", "mcp"]
    started = time.perf_counter()
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        took = []
        for request in requests():
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.flush()
            if "id" in request:
                answer = json.loads(process.stdout.readline())
                assert answer["id"] == request["id"], answer
                took.append((time.perf_counter() - started) * 1000)
        process.stdin.close()
    return took[0], took[1]


def compare(bank: Path, rounds: int = ROUNDS) -> dict[str, list[float]]:
    """Start both in turns, the first round not counted; return milliseconds of each."""
    found: dict[str, list[float]] = {"import the SDK": [], "initialize": [], "tools/list": []}
    for number in range(rounds + 1):
        values = (bare(), *served(bank))
        if number:
            for times, value in zip(found.values(), values, strict=True):
                times.append(value)
    return found


def main() -> None:
    """Print the medians, and what the server adds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bank", nargs="?", type=Path)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as empty:
        found = compare(chosen.bank or Path(empty), chosen.rounds)
    medians = {name: statistics.median(times) for name, times in found.items()}
    for name, times in found.items():
        print(
            f"{name:<16}{medians[name]:8.0f} ms   (least {min(times):.0f}, most {max(times):.0f})"
        )
    added = medians["initialize"] - medians["import the SDK"]
    print(f"added            {added:8.0f} ms   (aim: at most {ALLOWED_MS:.0f})")


if __name__ == "__main__":
    main()
