"""Notes of sessions that are kept in the bank stay out of git, unless the project shares them."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from memory_bank.bank.bank import Bank
from memory_bank.base.paths import GITIGNORE
from memory_bank.git import process
from memory_bank.memory.create import create
from memory_bank.memory.edit import append
from memory_bank.memory.move_and_merge import rename
from memory_bank.memory.remember import remember, session_note
from memory_bank.memory.trash import delete, restore
from tests.git.history_builder import commit_all

Git = Callable[..., str]
Opening = Callable[..., Bank]


@pytest.fixture
def bank(project: Path, opening: Opening) -> Bank:
    return opening(project, sessions__keep="project")


@pytest.fixture
def rules(project: Path) -> Path:
    """Return the bank's own rules, as `init` writes them."""
    file = project / ".memories/.gitignore"
    file.write_text(GITIGNORE)
    return file


def tracked(project: Path, git: Git) -> list[str]:
    """Add all that git would, and list the notes of sessions in it."""
    git(project, "add", "--all")
    return git(project, "ls-files", ".memories/sessions").split()


@pytest.mark.parametrize("left", [None, "", "*.tmp\n", ".index/\n.trash/\n"])
def test_whatever_became_of_the_rules_of_the_bank(
    bank: Bank, project: Path, rules: Path, git: Git, left: str | None
) -> None:
    rules.unlink()
    if left is not None:
        rules.write_text(left)
    assert session_note(bank, "The port is 9000").warning is None
    assert tracked(project, git) == []
    assert (project / ".memories/sessions/.gitignore").read_text() == "*\n"


@pytest.mark.parametrize("verb", ["create", "rename", "restore"])
def test_whichever_way_a_note_comes_there(
    bank: Bank, project: Path, rules: Path, git: Git, verb: str
) -> None:
    rules.unlink()
    if verb == "create":
        create(bank, "sessions/port", "The port is 9000")
    elif verb == "rename":
        rename(bank, "facts/bm25", "sessions/bm25")
    else:
        delete(bank, "facts/bm25")
        restore(bank, "facts/bm25", "sessions/bm25")
    assert tracked(project, git) == []


def test_who_wants_them_in_the_project_and_takes_the_line_out_shares_them(
    opening: Opening, project: Path, rules: Path, git: Git
) -> None:
    rules.write_text(GITIGNORE.replace("sessions/\n", ""))
    bank = opening(project, sessions__keep="project")
    assert session_note(bank, "The port is 9000").warning is None
    assert len(tracked(project, git)) == 1


@pytest.mark.parametrize("way", ["setting", "rule", "note"])
def test_no_project_moves_notes_of_sessions_into_its_work_tree(
    opening: Opening, project: Path, rules: Path, git: Git, way: str
) -> None:
    folder = project / ".memories/sessions"
    folder.mkdir()
    (folder / ".gitignore").write_text("!*\n")
    if way == "setting":
        (project / ".memories/config.toml").write_text('[sessions]\nkeep = "project"\n')
    elif way == "rule":
        rules.write_text(GITIGNORE.replace("sessions/\n", ""))
    else:
        (folder / "old.md").write_text("A session of the one who made the repository\n")
    commit_all(project, "Take them in")
    before = tracked(project, git)
    bank = opening(project)
    session_note(bank, "The port is 9000")
    assert tracked(project, git) == before
    assert [*folder.rglob("*.md")] == [folder / "old.md"] * (way == "note")


def test_a_bank_that_tracks_its_sessions_keeps_doing_so(
    bank: Bank, project: Path, rules: Path, git: Git
) -> None:
    rules.unlink()
    (project / ".memories/sessions").mkdir()
    (project / ".memories/sessions/old.md").write_text("An older session\n")
    git(project, "add", "-A")
    done = session_note(bank, "The port is 9000")
    assert done.warning is None
    assert f".memories/{done.path}" in tracked(project, git)


@pytest.fixture
def open_folder(project: Path) -> Path:
    """Make a folder of sessions whose own rules keep nothing out."""
    folder = project / ".memories/sessions"
    folder.mkdir()
    (project / ".memories/.gitignore").unlink()
    (folder / ".gitignore").write_text("!*\n")
    return folder


def test_a_note_that_git_would_track_is_warned_of(bank: Bank, open_folder: Path) -> None:
    done = session_note(bank, "The port is 9000")
    assert "git would track" in (done.warning or "")
    assert "git would track" in (session_note(bank, "The port is 9000").warning or "")
    assert "git would track" in (append(bank, done.path, "more").warning or "")
    assert "git would track" in (rename(bank, done.path, "sessions/b").warning or "")
    assert "git would track" in (create(bank, "sessions/c", "words").warning or "")
    assert remember(bank, "Another fact").warning is None
    assert (open_folder / ".gitignore").read_text() == "!*\n", "what is there is its owner's"


def test_a_session_note_that_is_elsewhere_is_warned_of(bank: Bank) -> None:
    done = remember(bank, "The port is 9000", name="facts/port", source_type="session")
    assert "git would track" in (done.warning or "")


def test_what_git_ignores_by_other_rules_needs_no_warning(bank: Bank, project: Path) -> None:
    (project / ".git/info/exclude").write_text(".memories/facts/port.md\n")
    done = remember(bank, "The port is 9000", name="facts/port", source_type="session")
    assert done.warning is None


def test_outside_git_and_without_git_nothing_is_said(
    folder: Path, project: Path, opening: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = {"sessions__keep": "project"}
    assert session_note(opening(folder, **kept), "The port is 9000").warning is None
    monkeypatch.setenv("PATH", "")
    assert session_note(opening(project, **kept), "The port is 9000").warning is None
    assert (project / ".memories/sessions/.gitignore").exists()


def test_other_notes_ask_git_nothing(bank: Bank, monkeypatch: pytest.MonkeyPatch) -> None:
    bank.sync()
    calls: list[Sequence[str]] = []
    started = process.start_git

    def counted(tree: Path, words: Sequence[str], **settings: Any) -> Any:
        calls.append(words)
        return started(tree, words, **settings)

    monkeypatch.setattr(process, "start_git", counted)
    remember(bank, "A fact of no session")
    assert not [words for words in calls if words[0] == "ls-files"]


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="the system has no endless device")
def test_rules_that_are_a_link_to_an_endless_device_are_not_read(
    bank: Bank, project: Path, git: Git
) -> None:
    (project / ".memories/.gitignore").unlink(missing_ok=True)
    (project / ".memories/.gitignore").symlink_to("/dev/zero")
    assert session_note(bank, "For this session only.").path.startswith("sessions/")
    assert tracked(project, git) == []
