"""The tutorial is run in a fresh project and compared.

A console block has a command after `$ `, which may go on over lines, then what it prints. `…` stands
for any text. With UPDATE_TRANSCRIPTS=1, outputs of the tutorial that differ are written anew.
"""

import os
import re
import shlex
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.support.command_lines import SHELL, VARYING, typed

ROOT = Path(__file__).parents[2]
TUTORIAL = ROOT / "docs" / "tutorial.md"
_FENCE = re.compile(r"^```(bash|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_DATED = re.compile(r"\S+ (?:remember|rm) ")
_NUMBERS = ((r"(?m)(?<=  )\d{1,3}%$", "<score>"), (r"\b[0-9a-f]{8,64}\b", "<etag>"))
pytestmark = [
    pytest.mark.skipif(SHELL is None, reason="the tutorial is typed into bash"),
    pytest.mark.slow,
]


class Shown(NamedTuple):
    """A command of a page; `output` is None if the page does not show what it prints."""

    command: str
    output: str | None


def shown(page: str) -> Iterator[Shown]:
    for language, text in _FENCE.findall(page):
        if language == "bash":
            yield Shown(text, None)
            continue
        lines = text.splitlines(keepends=True)
        while lines:
            command = lines.pop(0).removeprefix("$ ")
            while not is_whole(command):
                command += lines.pop(0)
            output = ""
            while lines and not lines[0].startswith("$ "):
                output += lines.pop(0)
            yield Shown(command, output)


def is_whole(command: str) -> bool:
    if command.endswith("\\\n"):
        return False
    try:
        shlex.split(command, comments=True)
    except ValueError:
        return False
    return True


Type = Callable[[str], str]


@pytest.fixture
def typing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Type:
    """Run a command line as typed into a shell, and return what it prints."""
    for name in ("NO_COLOR", "FORCE_COLOR", "VISUAL", "EDITOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    for kind in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{kind}_NAME", "Test")
        monkeypatch.setenv(f"GIT_{kind}_EMAIL", "test@example.org")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)

    def type_in(line: str) -> str:
        command, asks_code, _ = line.partition("; echo $?")
        if _DATED.match(command):  # what was done in the same second is listed otherwise
            time.sleep(1 - time.time() % 1)
        output, code = typed(command)
        assert asks_code or not code, output
        return f"{output}{code}\n" if asks_code else output

    return type_in


def pattern(output: str) -> str:
    return re.escape(plain(output)).replace("…", ".*")


def plain(output: str) -> str:
    """Return an output without what differs from run to run, and without a blank line after it."""
    for varying, word in (*VARYING, *_NUMBERS):
        output = re.sub(varying, word, output)
    return output.rstrip("\n")


@pytest.mark.usefixtures("default_embedder")
def test_the_tutorial_prints_what_it_shows(
    typing: Type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = TUTORIAL.read_text(encoding="utf-8")
    update = bool(os.environ.get("UPDATE_TRANSCRIPTS"))
    wrong = []
    for command, output in shown(page):
        found = typing(command)
        if command.startswith("mkdir shop"):
            monkeypatch.chdir(tmp_path / "shop")
        if output is None or re.fullmatch(pattern(output), plain(found), re.DOTALL):
            continue
        wrong.append(f"$ {command}{output.rstrip()}\n--- but it prints\n{found}")
        if update:
            gap = output[len(output.rstrip("\n")) + 1 :]
            page = page.replace(f"$ {command}{output}", f"$ {command}{found}{gap}")
    if update:
        TUTORIAL.write_text(page, encoding="utf-8")
    assert not wrong, "\n\n".join(wrong)
