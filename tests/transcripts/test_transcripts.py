"""Run each transcript and compare: a command after `$ `, then exactly what it prints.

A transcript runs in a fresh git repository; a `[3]` below an output is an exit code other than 0.
Those of a name that starts with `terminal` print as to a terminal of 80 columns, without colours.
What differs from run to run (ids, dates, times, scores) is written as a word in angle brackets.
After a change that is meant, write them anew with UPDATE_TRANSCRIPTS=1 and read the difference.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from memory_bank.frontends import operations
from tests.command_lines import SHELL, typed

HERE = Path(__file__).parent
pytestmark = pytest.mark.skipif(SHELL is None, reason="transcripts are typed into bash")

VARYING = (
    (r"\b[0-9a-f]{64}\b", "<etag>"),
    # An id that reads as a number, such as 123456789012 or 1234e5678901, is quoted in YAML.
    (r"(?<=id: )(\\?['\"])([0-9a-f]{12})\1", r"\2"),
    (r"(?m)^(size +)\d+B$", r"\1<size>"),  # two more with such quotes
    (r"\b(?=[0-9a-f]*\d)[0-9a-f]{12}\b", "<id>"),
    (r"\b20\d{12}(\d{6})?\b", "<version>"),
    (r"\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ", "<moment>"),
    (r"\b20\d\d-\d\d-\d\d( \d\d:\d\d\S*)?", "<date>"),
    (r"in \d+\.\d s\b", "in <seconds>"),
    (r"(?m)(?<=:\d  )[01]\.\d\d(?=$|  )", "<score>"),
    (r"(?<=commit )[0-9a-f]{8,10}\b|\b[0-9a-f]{10}\.\.[0-9a-f]{10}\b", "<commit>"),
    (r"(?<=-)[0-9a-f]{4,8}(?=\.md\b)", "<id>"),
    (r"\S+/state/memory-bank/[0-9a-f]{16}/|(?<=sessions/)\d{4}/\d\d/\d\d(?=-)", "<private>"),
    (r"\b\d+ → \d+(?=\s+tokens)", "<from> → <to>"),
    (r'(?<=score": )[\d.]+', "<score>"),
    (r"(?m)(?<=\S )( +)\d\.\d\d(?=$|  )", r"\1<share>"),
)


@pytest.mark.parametrize("file", sorted(HERE.glob("*.txt")), ids=lambda file: file.stem)
def test_transcript(
    file: Path, tmp_path: Path, private_folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "shop"
    project.mkdir()
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    told = file.read_text(encoding="utf-8")
    _install(tmp_path, monkeypatch)
    monkeypatch.chdir(project)
    known = {str(project): "<project>", str(private_folders): "<home>", str(tmp_path): "<tmp>"}
    if terminal := file.stem.startswith("terminal"):
        monkeypatch.setenv("NO_COLOR", "1")
        monkeypatch.setenv("COLUMNS", "80")
    found = "".join(_answered(line, known, terminal=terminal) for line in _commands(told))
    if os.environ.get("UPDATE_TRANSCRIPTS"):
        file.write_text(found, encoding="utf-8")
    assert found == told


def test_each_command_is_in_a_transcript() -> None:
    told = "".join(file.read_text("utf-8") for file in HERE.glob("*.txt"))
    typed_in = [line for line in told.splitlines() if line.startswith(("$ ", "> "))]
    for name in operations.COMMANDS:
        called = re.compile(rf"\b(?:mb|memory-bank) {name}\b")
        assert any(map(called.search, typed_in)), name


_WHOLE = re.compile(
    r"\b(?=[\w.-]*[a-z])[\w.-]+/[\w./-]*\w|\b20\d\d-\d\d-\d\d\b|\b[0-9a-f]{12}\b|\b\d[\d,.]+\d\b"
)
"""Paths, dates, ids and numbers."""


@pytest.mark.slow
@pytest.mark.parametrize("width", [40, 120])
def test_no_width_breaks_a_path_a_date_an_id_or_a_number(
    width: int, tmp_path: Path, private_folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "shop"
    project.mkdir()
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    _install(tmp_path, monkeypatch)
    monkeypatch.chdir(project)
    monkeypatch.setenv("NO_COLOR", "1")
    for line in _commands((HERE / "terminal.txt").read_text(encoding="utf-8")):
        monkeypatch.setenv("COLUMNS", str(width))
        output, _ = typed(line, terminal=True)
        assert "Traceback" not in output, line
        for above, below in pairwise(output.splitlines()):
            if len(above) < width - 1 and not above.endswith("-"):
                continue  # the line was not filled: what follows begins a word
            last = above.rpartition(" ")[2]
            if last.isalpha() or re.search(r"\.\w+(:\d+)?$", last):
                continue  # a word, or a path that ends with the line
            joined = last + "".join(below.split()[:1])
            broken = [
                found[0]
                for found in _WHOLE.finditer(joined)
                if found.start() < len(last) < found.end()
            ]
            assert not broken, (line, width, above, below)


def _commands(told: str) -> Iterator[str]:
    """Yield the lines behind `$ `; a line behind `> ` belongs to the command above it."""
    parts: list[str] = []
    for line in told.splitlines():
        if line.startswith("$ "):
            if parts:
                yield "\n".join(parts)
            parts = [line[2:]]
        elif line.startswith("> ") and parts:
            parts.append(line[2:])
    if parts:
        yield "\n".join(parts)


def _answered(line: str, known: dict[str, str], *, terminal: bool) -> str:
    output, status = typed(line, terminal=terminal)
    for path, word in known.items():
        output = output.replace(path, word)
    for pattern, word in VARYING:
        output = re.sub(pattern, word, output)
    shown = line.replace("\n", "\n> ")
    code = f"[{status}]\n" if status else ""
    return f"$ {shown}\n{output}{code}"


def _install(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the command be found, as after an install, and no client be configured."""
    programs = folder / "bin"
    programs.mkdir()
    for name in ("memory-bank", "mb"):
        program = programs / name
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m memory_bank "$@"\n', "utf-8")
        program.chmod(0o755)
    for name in ("NO_COLOR", "FORCE_COLOR", "VISUAL", "EDITOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(HERE.parents[1]))
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    monkeypatch.setenv("HOME", str(folder / "home"))
