"""Run every benchmark and write its tables into docs/benchmarks.md, between their markers."""

import argparse
import os
import platform
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from memory_bank.base import plugins
from memory_bank.base.errors import EmbedderUnavailable
from memory_bank.base.settings import Settings

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "benchmarks.md"
LIBRARIES = ("tantivy", "usearch", "numpy")
_WIDEST = 130
"""Columns of the widest table that is shown as text."""
SECTIONS = ("finding", "peers", "speed")
_SPEED = (
    ("speed", "--banks", "1000,10000,own,real"),
    ("speed", "--banks", "100000", "--only", "build,disk,warm,sync,edit"),
)


def placed(page: str, name: str, body: str) -> str:
    """Return a page with another text between a section's markers; raise ValueError for none."""
    start, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    before, found, rest = page.partition(start)
    _, closed, after = rest.partition(end)
    if not (found and closed):
        raise ValueError(f"there is no {start} … {end} in the page")
    return f"{before}{start}\n{aligned(body).strip()}\n{end}{after}"


def aligned(text: str) -> str:
    """Return a text with its tables of Markdown as blocks of aligned columns."""
    return re.sub(r"(?:^\|.*(?:\n|\Z))+", _columns, text, flags=re.MULTILINE)


def _columns(found: re.Match[str]) -> str:
    lines = [line.replace("**", "").replace("`", "") for line in found[0].splitlines()]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    rows = [row for row in rows if not set("".join(row)) <= {"-"}]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    shown = (
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )
    block = "```text\n" + "\n".join(shown) + "\n```\n"
    return block if sum(widths) < _WIDEST else found[0]


def taken() -> str:
    """Say when, on what and with what the figures were taken."""
    libraries = ", ".join(_versioned(name) for name in LIBRARIES)
    commit = _output(["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"]).strip()
    return (
        f"Taken on {datetime.now(UTC):%Y-%m-%d} at commit `{commit}`: {platform.system()}, Python"
        f" {platform.python_version()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f};"
        f" {libraries}."
    )


def _versioned(name: str) -> str:
    try:
        return f"{name} {version(name)}"
    except PackageNotFoundError:
        return f"no {name}"


def finding(work: Path) -> str:
    """Measure finding with every embedder that is installed."""
    embedders = ["static"]
    try:
        plugins.load("search.embedders", "minilm").load(Settings())
        embedders.append("minilm")
        said = ""
    except EmbedderUnavailable as error:
        said = f"\n\n`minilm` is not installed here: {error.hint}."
    words = ("finding", "--embedders", ",".join(embedders), "--keep", str(work))
    return _benchmark(words) + said


def peers(work: Path) -> str:
    """Ask a peer the same questions."""
    return _benchmark(("peers", "--keep", str(work)))


def speed(work: Path) -> str:
    """Measure every size of bank."""
    tables = [_benchmark((*words, "--keep", str(work / "speed"))) for words in _SPEED]
    return "\n\n".join(tables)


def _benchmark(words: Sequence[str]) -> str:
    """Run one benchmark, showing its lines as they come; return them."""
    name, *rest = words
    line = [sys.executable, "-m", f"tests.benchmarks.{name}", *rest]
    lines = []
    with subprocess.Popen(line, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for text in process.stdout:
            print(text, end="", flush=True)
            lines.append(text)
    if process.returncode:
        raise SystemExit(f"{name} failed: nothing of it was written")
    return "".join(lines)


def _output(line: Sequence[str]) -> str:
    return subprocess.run(line, capture_output=True, text=True, check=False).stdout


def main() -> None:
    """Run what is asked for and write it down."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="a minute's part, for CI: exit code 1")
    parser.add_argument("--only", default=",".join(SECTIONS), help="sections: %(default)s")
    parser.add_argument("--keep", type=Path, help="keep data, indices and vectors there")
    options = parser.parse_args()
    if options.short:
        raise SystemExit(
            subprocess.call([sys.executable, "-m", "tests.benchmarks.short"], cwd=ROOT)
        )
    made = {"finding": finding, "peers": peers, "speed": speed}
    with tempfile.TemporaryDirectory() as temporary:
        work = (options.keep or Path(temporary)).resolve()
        os.environ["XDG_STATE_HOME"] = f"{work}/state"
        for name in options.only.split(","):
            body = f"{taken()}\n\n{made[name](work)}"
            PAGE.write_text(placed(PAGE.read_text(encoding="utf-8"), name, body), encoding="utf-8")


if __name__ == "__main__":
    main()
