"""Run each transcript in a fresh git repository and compare; `tests.support.command_lines` has their form."""

import re
import subprocess
from itertools import pairwise
from pathlib import Path

import pytest

from memory_bank.frontends import operations
from tests.support.command_lines import SHELL, commands, install, replay, typed

HERE = Path(__file__).parent
pytestmark = pytest.mark.skipif(SHELL is None, reason="transcripts are typed into bash")


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty repository, as on a terminal of 80 columns without colours."""
    subprocess.run(["git", "init", "-q", str(tmp_path / "shop")], check=True)
    install(tmp_path, monkeypatch)
    monkeypatch.chdir(tmp_path / "shop")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path / "shop"


@pytest.mark.parametrize(
    "file",
    [
        pytest.param(file, id=file.stem, marks=[pytest.mark.slow] * (file.stem == "terminal"))
        for file in sorted(HERE.glob("*.txt"))
    ],
)
def test_transcript(file: Path, shop: Path, tmp_path: Path, private_folders: Path) -> None:
    replay(file, {str(shop): "<project>", str(private_folders): "<home>", str(tmp_path): "<tmp>"})


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
    width: int, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for line in commands((HERE / "terminal.txt").read_text(encoding="utf-8")):
        monkeypatch.setenv("COLUMNS", str(width))
        output, _ = typed(line, terminal=True)
        assert "Traceback" not in output, line
        for above, below in pairwise(output.splitlines()):
            if len(above) < width - 1 and not above.endswith("-"):
                continue  # the line was not filled: what follows begins a word
            if above.startswith("next: "):
                continue  # a command is never broken
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
