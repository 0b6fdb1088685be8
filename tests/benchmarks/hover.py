"""How long an editor waits for a hover: `python -m tests.benchmarks.hover [REPOSITORY]`.

A real server is asked over stdio for the hovers on the definitions of a repository's source files,
in two rounds: the first after its index is ready, the second when each was asked before.
"""

import argparse
import random
import statistics
import tempfile
import time
from pathlib import Path

from lsprotocol import types

from memory_bank.code.index.codebase import open_codebase
from memory_bank.frontends.lsp.symbol_notes import parsed
from tests.frontends.lsp.client import Editor

FILES = 40
"""Source files that are open, chosen by chance."""
MOST = 300
"""Hovers in each round."""
ALLOWED_MS = 50.0
"""What the 95th percentile of the second round may take."""


def targets(root: Path) -> list[tuple[Path, int, int]]:
    """Return definitions by file, line and column, in an order that is the same each time."""
    with open_codebase(root) as code:
        code.refresh()
        files = sorted(code.table.files())
    random.Random(1).shuffle(files)
    found = []
    for name in files[:FILES]:
        text = (root / name).read_text(encoding="utf-8", errors="replace")
        file = parsed(name, text)
        lines = text.splitlines()
        for one in file.symbols if file else ():
            line = next(
                (at for at in range(one.line - 1, one.end_line - 1) if one.name in lines[at]), 0
            )
            found.append((root / name, line, max(0, lines[line].find(one.name))))
    random.Random(1).shuffle(found)
    return found[:MOST]


def timed(editor: Editor, asked: list[tuple[Path, int, int]]) -> tuple[list[float], int]:
    """Return the milliseconds of each hover, and how many of them had context."""
    times, with_context = [], 0
    for file, line, column in asked:
        document = editor.open(file, file.read_text(encoding="utf-8", errors="replace"))
        params = types.HoverParams(document, types.Position(line, column))
        began = time.perf_counter()
        found = editor.ask(editor.client.text_document_hover_async, params)
        times.append((time.perf_counter() - began) * 1000)
        with_context += bool(found and "\n---\n" in found.contents.value)
    return times, with_context


def main() -> None:
    """Print the percentiles of both rounds."""
    here = Path(__file__).parents[2]
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("repository", nargs="?", type=Path, default=here)
    root = options.parse_args().repository.resolve()
    asked = targets(root)
    with tempfile.TemporaryDirectory() as home:
        editor = Editor(root, home=Path(home))
        began = time.monotonic()
        while not timed(editor, asked[:40])[1] and time.monotonic() - began < 300:
            time.sleep(1)
        print(f"{len(asked)} definitions; context after {time.monotonic() - began:.0f} s")
        for name in ("first", "warm"):
            times, with_context = timed(editor, asked)
            p50, p95 = statistics.median(times), statistics.quantiles(times, n=20)[-1]
            print(f"{name:6} p50 {p50:5.1f} ms  p95 {p95:5.1f} ms  with context {with_context}")
        print(f"aim: p95 at most {ALLOWED_MS:.0f} ms warm")
        editor.leave()


if __name__ == "__main__":
    main()
