"""The ten questions of questions.md are asked of this repository."""

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank, open_bank
from memory_bank.code.index.codebase import Codebase, open_codebase
from memory_bank.memory.retrieval.answers import result_file
from memory_bank.memory.retrieval.ask import ask

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "tests/program/questions.md"
QUESTIONS = {
    question.strip(): re.findall(r"`([^`]+)`", places)
    for question, places in re.findall(
        r"^\| (.+?) \| (`.+?) \|$", PAGE.read_text("utf-8"), re.MULTILINE
    )
}


@pytest.fixture
def repository(tmp_path: Path) -> Iterator[tuple[Bank, Codebase]]:
    """Ask a copy of the files that git has, with the history."""
    if not (ROOT / ".git").exists():
        pytest.skip("this is no clone: there is no history to ask")
    copy = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", str(ROOT), str(copy)], check=True)
    shutil.copytree(
        ROOT / ".memories",
        copy / ".memories",
        dirs_exist_ok=True,
        ignore=shutil.ignore_patterns(".index", ".trash"),
    )
    with (
        open_bank(copy / ".memories") as bank,
        open_codebase(copy, bank=copy / ".memories") as code,
    ):
        bank.sync()
        code.catch_up(seconds=300)
        yield bank, code


def test_there_are_ten_questions() -> None:
    assert len(QUESTIONS) == 10


@pytest.mark.slow(first=True)
def test_a_right_place_is_among_the_first_three(repository: tuple[Bank, Codebase]) -> None:
    """All are asked in one test: workers that share them out would each read the repository."""
    missed = {}
    for question, right in QUESTIONS.items():
        found = ask(*repository, question, 3, count_access=False)
        places = [
            f".memories/{one.path}" if one.kind == "note" else result_file(one)
            for one in found.results
        ]
        if not set(places) & set(right):
            missed[question] = places
    assert missed == {}
