"""Real git merges notes with the driver: merge, rebase, cherry-pick, stash pop; and finishes conflicts."""

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from memory_bank.frontends import merge_driver
from tests.frontends.cli.conftest import Run
from tests.frontends.cli.conftest import mb as mb  # noqa: PLC0414  (a fixture)
from tests.git.history_builder import commit_all

Git = Callable[..., str]
NOTE = "---\nid: a\ntags: [one]\n---\n# Port\n\nfirst\n"
KEY = "merge.memory-bank.driver"
pytestmark = pytest.mark.skipif(os.name == "nt", reason="the driver's command is of a shell")


@pytest.fixture
def installed(mb: Run, project: Path, git: Git) -> Path:
    """Return a note of a project whose clone has the driver."""
    assert mb("git", "check").code == 1
    assert mb("git", "install").code == 0
    assert mb("git", "check").code == 0
    note = project / ".memories/facts/port.md"
    note.write_text(NOTE)
    commit_all(project, "Base")
    git(project, "branch", "other")
    return note


def diverge(git: Git, note: Path, ours: str, theirs: str) -> None:
    """Commit one text on `other` and another one on `main`."""
    project = note.parents[2]
    for branch, text in (("other", theirs), ("main", ours)):
        git(project, "checkout", "-q", branch)
        note.parent.mkdir(exist_ok=True)
        note.write_text(text)
        commit_all(project, f"Of {branch}")


OURS = NOTE.replace("[one]", "[one, two]") + "\nours\n"
THEIRS = NOTE.replace("[one]", "[one, three]") + "\ntheirs\n"


def test_a_driver_that_is_gone_or_killed_loses_nothing(
    installed: Path, project: Path, git: Git
) -> None:
    diverge(git, installed, OURS, THEIRS)
    before = git(project, "config", KEY)
    git(project, "config", KEY, before.replace(shlex.split(before)[0], "/nowhere/memory-bank"))
    with suppress(subprocess.CalledProcessError):
        git(project, "merge", "-q", "other")
    assert "<<<<<<< ours" in installed.read_text(), "as git merges"
    git(project, "merge", "--abort")
    git(project, "config", KEY, "kill -9 $$ # %A")
    with suppress(subprocess.CalledProcessError):
        git(project, "merge", "-q", "other")
    assert git(project, "show", "other:.memories/facts/port.md").strip() == THEIRS.strip()
    git(project, "reset", "-q", "--hard", "main")
    assert installed.read_text() == OURS
    assert not [name for name in os.listdir(project) if name.startswith(".merge_file")]


def test_a_killed_driver_leaves_our_file_or_the_result(tmp_path: Path) -> None:
    names = [tmp_path / name for name in ("base", "ours", "theirs")]
    for delay in (0.02, 0.05, 0.08, 0.1):
        for name, text in zip(names, (NOTE, OURS, THEIRS), strict=True):
            name.write_text(text)
        process = subprocess.Popen(
            [*shlex.split("python3 -P -m memory_bank merge-driver"), *map(str, names)],
            executable=sys.executable,
        )
        with suppress(subprocess.TimeoutExpired):
            process.wait(delay)
        process.send_signal(signal.SIGKILL)
        process.wait()
        text = names[1].read_text()
        assert text == OURS or "ours\n\ntheirs\n" in text


def test_a_failure_leaves_what_git_would(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    from memory_bank.notes.merging import note_merge

    def fail(*_: object) -> None:
        raise RecursionError

    monkeypatch.setattr(note_merge, "merge", fail)
    names = [tmp_path / name for name in ("base", "ours", "theirs")]
    for name, text in zip(names, (NOTE, OURS, THEIRS), strict=True):
        name.write_text(text)
    wanted = subprocess.run(
        ["git", "merge-file", "-p", "-L", "ours", "-L", "base", "-L", "theirs",
         str(names[1]), str(names[0]), str(names[2])],
        capture_output=True, check=False,
    ).stdout  # fmt: skip
    assert merge_driver.run([*map(str, names), "facts/port.md"]) == 1
    assert names[1].read_bytes() == wanted
    assert "facts/port.md: not merged as a note: RecursionError" in capfd.readouterr().err


def test_a_file_that_is_no_note_is_merged_as_git_does(tmp_path: Path) -> None:
    names = [tmp_path / name for name in ("base", "ours", "theirs")]
    broken = "---\nid: [\n---\na\n\nb\n\nc\n"
    for name, text in zip(
        names, (broken, broken.replace("a\n", "A\n"), broken.replace("c\n", "C\n")), strict=True
    ):
        name.write_text(text)
    assert merge_driver.run([*map(str, names)]) == 0
    assert names[1].read_text() == "---\nid: [\n---\nA\n\nb\n\nC\n"


@pytest.mark.parametrize("mine", [b"*.png binary\r\n*.md text", b"# a\x0bb\n\n", b"\n"])
def test_other_attributes_and_settings_stay_to_the_byte(
    mb: Run, project: Path, git: Git, mine: bytes
) -> None:
    file = project / ".memories/.gitattributes"
    file.write_bytes(mine)
    git(project, "config", "merge.memory-bank.recursive", "binary")
    before = (project / ".git/config").read_bytes()
    assert mb("git", "install").code == 0
    assert file.read_bytes() != mine
    assert mb("git", "uninstall").code == 0
    assert file.read_bytes() == mine
    assert (project / ".git/config").read_bytes() == before
