"""A note that says no date has that of its first commit, else that of its file."""

import os
import subprocess
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memory_bank.bank.bank import Bank
from memory_bank.base.dates import date_in_name
from memory_bank.git import history, process
from memory_bank.memory.maintenance import compare
from memory_bank.search.manifest import document_rows
from tests.git.history_builder import commit_all
from tests.search.views import view_of

Opening = Callable[..., Bank]
Commit = Callable[[str], None]


@pytest.fixture
def root(tmp_path: Path, git: Callable[..., str]) -> Path:
    """Make a repository with an empty bank."""
    folder = tmp_path / "project"
    git(tmp_path, "init", "-q", "-b", "main", str(folder))
    (folder / ".memories").mkdir()
    return folder / ".memories"


@pytest.fixture
def commit(root: Path, monkeypatch: pytest.MonkeyPatch) -> Commit:
    """Commit everything, on a day."""

    def make(day: str) -> None:
        monkeypatch.setenv("GIT_AUTHOR_DATE", f"{day}T00:00:00Z")
        commit_all(root.parent, day)

    return make


def write(root: Path, name: str, text: str = "text of a note\n") -> None:
    """Write a note whose file is of 2001."""
    (root / name).parent.mkdir(exist_ok=True)
    (root / name).write_text(text)
    os.utime(root / name, (1e9, 1e9))


def days(bank: Bank) -> dict[str, tuple[str, str]]:
    """Sync, and map each note to the days it was created and updated."""
    bank.sync()
    base = view_of(bank).manifest
    found = document_rows.read_documents(
        base, [number for number, _ in document_rows.all_keys(base)]
    )
    return {note.key: (day(note.created), day(note.updated)) for note in found.values()}


def day(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).date().isoformat()


def test_a_file_counts_until_it_is_committed(root: Path, commit: Commit, opening: Opening) -> None:
    bank = opening(root)
    write(root, "a.md")
    write(root, "b.md", "---\nupdated: 2026-05-05\n---\n")
    write(root, "c.md", "---\ncreated: 2026-05-05\n---\n")
    assert days(bank) == {
        "a.md": ("2001-09-09", "2001-09-09"),
        "b.md": ("2001-09-09", "2026-05-05"),
        "c.md": ("2026-05-05", "2026-05-05"),
    }
    commit("2026-01-01")
    assert days(bank) == {
        "a.md": ("2026-01-01", "2026-01-01"),
        "b.md": ("2026-01-01", "2026-05-05"),
        "c.md": ("2026-05-05", "2026-05-05"),
    }
    write(root, "a.md", "changed\n")
    commit("2026-02-02")
    assert days(bank)["a.md"] == ("2026-01-01", "2026-02-02")
    assert compare(bank)[1] == ()


def test_a_note_that_comes_back_has_its_date_again(
    root: Path, commit: Commit, opening: Opening, git: Callable[..., str]
) -> None:
    """HEAD stays where it was: what was known of its commits must not be forgotten."""
    write(root, "a.md")
    commit("2026-01-01")
    bank = opening(root)
    assert days(bank)["a.md"][0] == "2026-01-01"
    (root / "a.md").unlink()
    assert days(bank) == {}
    bank.close()
    git(root.parent, "checkout", "-q", "--", ".")
    assert days(bank)["a.md"][0] == "2026-01-01"
    assert compare(bank)[1] == ()


def test_a_renamed_note_keeps_its_date(
    root: Path, commit: Commit, opening: Opening, git: Callable[..., str]
) -> None:
    write(root, "a.md", "a text that is long enough to be known again\n" * 5)
    commit("2026-01-01")
    git(root, "mv", "a.md", "Ünï b.md")
    commit("2026-02-02")
    assert days(opening(root)) == {"Ünï b.md": ("2026-01-01", "2026-01-01")}


def test_another_branch_has_other_dates(
    root: Path, commit: Commit, opening: Opening, git: Callable[..., str]
) -> None:
    write(root, "other.md")
    commit("2026-01-01")
    git(root.parent, "checkout", "-q", "-b", "topic")
    write(root, "a.md")
    commit("2026-02-02")
    bank = opening(root)
    assert days(bank)["a.md"][0] == "2026-02-02"
    git(root.parent, "checkout", "-q", "main")
    write(root, "a.md")
    assert days(bank)["a.md"][0] == "2001-09-09"
    assert compare(bank)[1] == ()


def test_git_is_asked_once_for_many_notes(
    root: Path, commit: Commit, opening: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(20):
        write(root, f"{number}.md")
    commit("2026-01-01")
    calls: list[object] = []
    start = subprocess.Popen

    def counting(*words: Any, **options: Any) -> object:
        calls.append(words)
        return start(*words, **options)

    bank = opening(root)
    _ = bank.id
    monkeypatch.setattr(process.subprocess, "Popen", counting)
    bank.catch_up()
    assert len(calls) == 2, "what was committed, and what is there"
    for number in range(20):
        write(root, f"new{number}.md")
    calls.clear()
    bank.catch_up()
    assert not calls, "HEAD is where it was"


def test_a_repository_without_a_commit_or_git_is_no_problem(
    root: Path, opening: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(root, "a.md")
    assert days(opening(root))["a.md"][0] == "2001-09-09"
    monkeypatch.setenv("PATH", "")
    assert days(opening(root))["a.md"][0] == "2001-09-09"


def test_a_path_that_is_not_utf8_does_not_stop_the_others(
    root: Path, commit: Commit, opening: Opening
) -> None:
    try:
        (root / os.fsdecode(b"caf\xe9.md")).write_text("x")
    except OSError:
        pytest.skip("this file system takes UTF-8 only")
    write(root, "a.md")
    commit("2026-01-01")
    assert days(opening(root)) == {"a.md": ("2026-01-01", "2026-01-01")}


def changed_on(file: Path) -> str:
    return datetime.fromtimestamp(file.stat().st_mtime, UTC).date().isoformat()


def touch(file: Path) -> None:
    """Give a file the time that a checkout gives it."""
    os.utime(file)


def test_the_time_of_a_checkout_is_no_update(
    root: Path, commit: Commit, opening: Opening, git: Callable[..., str], tmp_path: Path
) -> None:
    write(root, "a.md")
    write(root, "b.md", "---\ncreated: 2025-05-05\n---\ntext\n")
    commit("2026-01-01")
    write(root, "a.md", "changed\n")
    commit("2026-02-02")
    git(tmp_path, "clone", "-q", str(root.parent), str(tmp_path / "clone"))
    bank = opening(tmp_path / "clone/.memories")
    assert days(bank) == {
        "a.md": ("2026-01-01", "2026-02-02"),
        "b.md": ("2025-05-05", "2025-05-05"),
    }
    touch(tmp_path / "clone/.memories/b.md")
    assert days(bank)["b.md"] == ("2025-05-05", "2025-05-05")
    assert compare(bank)[1] == ()


@pytest.mark.parametrize("said", ["", "updated: 2026-01-15\n", "updated_at: 2026-03-03\n"])
def test_an_edit_counts_before_it_is_committed_and_after(
    root: Path, commit: Commit, opening: Opening, git: Callable[..., str], said: str
) -> None:
    head = f"---\ncreated: 2025-05-05\n{said}---\n"
    write(root, "a.md", f"{head}text\n")
    commit("2026-01-01")
    bank = opening(root)
    stated = said.partition(" ")[2].strip() if said else "2025-05-05"
    assert days(bank)["a.md"] == ("2025-05-05", stated)
    (root / "a.md").write_text(f"{head}another text\n")
    assert days(bank)["a.md"] == ("2025-05-05", changed_on(root / "a.md"))
    assert compare(bank)[1] == ()
    git(root, "stash", "-q")
    assert days(bank)["a.md"] == ("2025-05-05", stated), "as it was"
    git(root, "stash", "pop", "-q")
    commit("2026-02-02")
    assert days(bank)["a.md"] == ("2025-05-05", max(stated, "2026-02-02"))
    assert compare(bank)[1] == ()


def test_a_new_note_in_a_repository_is_as_new_as_its_file(
    root: Path, commit: Commit, opening: Opening
) -> None:
    write(root, "old.md")
    commit("2026-01-01")
    (root / "a.md").write_text("---\ncreated: 2025-05-05\n---\ntext\n")
    (root / "b.md").write_text("---\nupdated: 2025-06-06\ncreated: 2025-05-05\n---\ntext\n")
    bank = opening(root)
    assert days(bank)["a.md"] == ("2025-05-05", changed_on(root / "a.md"))
    assert days(bank)["b.md"] == ("2025-05-05", "2025-06-06"), "it says so itself"


def test_where_line_ends_are_turned_a_checkout_is_no_update(
    root: Path, commit: Commit, opening: Opening
) -> None:
    write(root, "a.md", "one\ntwo\n")
    commit("2026-01-01")
    (root / "a.md").write_bytes(b"one\r\ntwo\r\n")
    assert days(opening(root))["a.md"] == ("2026-01-01", "2026-01-01")


def test_blobs_have_other_names_in_repositories_of_sha256(
    tmp_path: Path, git: Callable[..., str], opening: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(tmp_path, "init", "-q", "--object-format=sha256", "project")
    (tmp_path / "project/.memories").mkdir()
    (tmp_path / "project/.memories/a.md").write_text("text\n")
    monkeypatch.setenv("GIT_AUTHOR_DATE", "2026-01-01T00:00:00Z")
    commit_all(tmp_path / "project", "First")
    assert days(opening(tmp_path / "project"))["a.md"] == ("2026-01-01", "2026-01-01")


def test_a_git_that_fails_at_the_history_is_asked_again_by_a_sync_only(
    root: Path, commit: Commit, opening: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(root, "a.md")
    commit("2026-01-01")
    asks: list[object] = []

    def fail(output: object) -> Iterator[object]:
        asks.append(output)
        raise process.GitFailed

    monkeypatch.setattr(history, "yield_commits", fail)
    bank = opening(root)
    for number in range(3):
        write(root, f"new{number}.md")
        bank.catch_up()
    assert len(asks) == 2, "with all renames, and with those of the same bytes"
    monkeypatch.undo()
    assert days(bank)["a.md"] == ("2026-01-01", "2026-01-01")


@pytest.mark.parametrize(
    ("path", "day"),
    [
        ("journal/2026-11-19.md", "2026-11-19"),
        ("2025-06-18-oversold.md", "2025-06-18"),
        ("log 2025-06-18 evening.md", "2025-06-18"),
        ("2025-10-server-sessions.md", "2025-10-01"),
        ("2022-02-03-testing/README.md", "2022-02-03"),
        ("2022-02-03/2023-04-05.md", "2023-04-05"),
        ("2025-13-01.md", None),
        ("12025-10-01.md", None),
        ("notes/0001-2-3.md", None),
        ("a.md", None),
    ],
)
def test_a_dated_name_is_a_date(path: str, day: str | None) -> None:
    found = date_in_name(path)
    assert (found.date().isoformat() if found else None) == day
