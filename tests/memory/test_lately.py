import os
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank
from memory_bank.memory.overview import ChangedLately, RecentChanges, read_home
from tests.git.history_builder import commit_all
from tests.support.session_builder import observation, session, write

Git = Callable[..., str]
OLD = (datetime.now(UTC) - timedelta(days=30)).strftime("%Y-%m-%dT%H:%M:%SZ")


@pytest.fixture
def old_notes(folder: Path, git: Git, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a bank whose four notes were committed a month ago."""
    (folder / ".memories").mkdir()
    for name in ("a", "b", "c", "d"):
        file = folder / ".memories" / f"{name}.md"
        file.write_text(f"---\ncreated_at: {OLD}\n---\n# Note {name}\n\nWords.\n")
        os.utime(file, (time.time() - 30 * 86400,) * 2)
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "-A")
    with monkeypatch.context() as then:
        then.setenv("GIT_AUTHOR_DATE", OLD)
        then.setenv("GIT_COMMITTER_DATE", OLD)
        git(folder, "commit", "-qm", "Start")
    return folder / ".memories"


def lately(bank: Bank, days: float = 7, limit: int = 100) -> RecentChanges:
    return read_home(bank, days, limit).lately


def by_path(bank: Bank) -> dict[str, ChangedLately]:
    return {one.path: one for one in lately(bank).changes}


def test_what_is_old_is_left_out(old_notes: Path, opening: Callable[..., Bank]) -> None:
    found = lately(opening(old_notes))
    assert (found.total, found.changes) == (0, ())
    assert lately(opening(old_notes), days=60).total == 4


def test_changes_are_told_apart_with_who_made_them(
    old_notes: Path, opening: Callable[..., Bank], git: Git
) -> None:
    text = (old_notes / "a.md").read_text()
    (old_notes / "a.md").write_text(f"{text}\nMore.\n")
    (old_notes / "b.md").write_text(text.replace("---\n#", "status: archived\n---\n#"))
    (old_notes / "c.md").unlink()
    (old_notes / "new.md").write_text("# New\n\nWords.\n")
    git(old_notes, "add", "-A")
    said = "Change notes\n\nCo-authored-by: Claude <noreply@anthropic.com>"
    git(old_notes, "commit", "-qm", said)
    bank = opening(old_notes)
    found = by_path(bank)
    assert {path: one.change for path, one in found.items()} == {
        "a.md": "changed", "b.md": "archived", "c.md": "removed", "new.md": "added",
    }  # fmt: skip
    for one in found.values():
        assert (one.author, one.committed, one.subject) == ("Test", True, "Change notes"), one
        assert one.agent, one
    assert lately(bank).total == 4


def test_what_is_not_committed_is_a_change(old_notes: Path, opening: Callable[..., Bank]) -> None:
    with (old_notes / "a.md").open("a") as file:
        file.write("\nMore.\n")
    (old_notes / "b.md").unlink()
    (old_notes / "new.md").write_text("# New\n\nWords.\n")
    found = by_path(opening(old_notes))
    assert {path: one.change for path, one in found.items()} == {
        "a.md": "changed", "b.md": "removed", "new.md": "added",
    }  # fmt: skip
    assert not any(one.committed or one.author for one in found.values())


def test_an_old_note_that_is_committed_only_now_is_added(
    old_notes: Path, opening: Callable[..., Bank]
) -> None:
    text = (old_notes / "a.md").read_text()
    (old_notes / "late.md").write_text(text)
    commit_all(old_notes, "Import a note")
    assert by_path(opening(old_notes))["late.md"].change == "added"


def test_a_renamed_note_is_not_removed(
    old_notes: Path, opening: Callable[..., Bank], git: Git
) -> None:
    git(old_notes, "mv", "a.md", "e.md")
    git(old_notes, "commit", "-qm", "Rename a note")
    assert {path: one.change for path, one in by_path(opening(old_notes)).items()} == {
        "e.md": "changed"
    }


def test_sessions_are_no_changes_of_notes(old_notes: Path, opening: Callable[..., Bank]) -> None:
    write(old_notes, session("s1", observation(1, "One", created_at=datetime.now(UTC))))
    assert lately(opening(old_notes)).total == 0


def test_only_the_last_ones_are_listed(folder: Path, opening: Callable[..., Bank]) -> None:
    for number in range(5):
        (folder / f"{number}.md").write_text("# Note\n\nWords.\n")
    found = lately(opening(folder), limit=2)
    assert (found.total, len(found.changes)) == (5, 2)
    assert {one.change for one in found.changes} == {"added"}


def test_a_file_that_is_hidden_is_no_removed_note(
    old_notes: Path, opening: Callable[..., Bank]
) -> None:
    for name in (".draft.md", "facts/.draft.md", ".obsidian/a.md"):
        (old_notes / name).parent.mkdir(exist_ok=True)
        (old_notes / name).write_text("# Draft\n")
    commit_all(old_notes, "Add drafts")
    assert lately(opening(old_notes)).total == 0
