"""The same content on both sides of the line between what git tracks and what it ignores."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, tzinfo
from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank, open_bank
from memory_bank.memory.create import remember_many
from memory_bank.memory.links import links_of
from memory_bank.memory.move_and_merge import rename
from memory_bank.memory.records import Draft, WrittenNote
from memory_bank.memory.remember import remember, session_note
from memory_bank.memory.show import show
from memory_bank.notes.note import Meta
from memory_bank.sessions.listing import list_sessions
from memory_bank.sessions.sessions import start_session
from tests.git.history_builder import commit_all

Git = Callable[..., str]
X = "The queue drops jobs above 64 KB."


@pytest.fixture
def bank(project: Path) -> Iterator[Bank]:
    with open_bank(project, settings={"memory.embedder": "none"}) as opened:
        yield opened


def status(git: Git, project: Path) -> str:
    return git(project, "status", "--porcelain", "--untracked-files=all")


def targets(bank: Bank, path: str) -> list[str]:
    return [link.target for link in links_of(bank, path).outgoing]


def test_what_a_session_noted_can_be_kept_for_all(bank: Bank, project: Path, git: Git) -> None:
    noted = session_note(bank, X)
    assert status(git, project) == ""
    before = bank.roots.file(noted.path).read_text()
    kept = remember(bank, X, type="decision")
    assert (kept.action, kept.type) == ("created", "decision")
    assert kept.same_as == noted.path
    assert status(git, project) == f"?? .memories/{kept.path}\n"
    name = kept.path.removesuffix(".md")
    link = f'\nsame_as: "[[{name}]]"\n---\n'
    assert bank.roots.file(noted.path).read_text() == before.replace("\n---\n", link)
    assert targets(bank, noted.path) == [kept.path]
    assert targets(bank, kept.path) == []


def test_a_session_note_leaves_the_tracked_note_alone(bank: Bank, project: Path, git: Git) -> None:
    kept = remember(bank, X, type="decision")
    commit_all(project, "Keep")
    start_session(bank, "review-4")
    noted = session_note(bank, X, tags=["later"])
    assert (noted.action, noted.source_type) == ("created", "session")
    assert noted.path.startswith("sessions/")
    assert noted.same_as == kept.path
    assert status(git, project) == ""
    (session,) = list_sessions(bank).sessions
    assert set(targets(bank, noted.path)) == {kept.path, session.path}
    assert show(bank, noted.path).etag == noted.etag


def test_on_each_side_there_is_one_note(bank: Bank, project: Path) -> None:
    noted, kept = session_note(bank, X), remember(bank, X)
    for again, first, other in (
        (session_note(bank, X), noted, kept),
        (remember(bank, X), kept, noted),
    ):
        assert (again.action, again.path) == ("updated_existing", first.path)
        assert again.same_as == other.path
    assert remember(bank, "Another content.").same_as is None


def test_a_folder_that_git_ignores_is_on_the_far_side(bank: Bank, project: Path, git: Git) -> None:
    (project / ".git/info/exclude").write_text(".memories/private/\n")
    mine = remember(bank, X, name="private/mine")
    assert status(git, project) == ""
    kept = remember(bank, X)
    assert (kept.action, kept.same_as) == ("created", mine.path)
    assert remember(bank, X, name="private/other").path == mine.path


def test_an_imported_note_of_the_same_second_has_an_id_of_its_own(bank: Bank) -> None:
    noted = session_note(bank, X)
    made = datetime.fromisoformat(noted.created_at)
    (kept,) = remember_many(bank, [Draft(X, Meta(created_at=made))])
    assert isinstance(kept, WrittenNote)
    assert (kept.action, kept.same_as) == ("created", noted.path)
    assert kept.note_id != noted.note_id


def test_an_odd_name_is_no_pattern(bank: Bank, project: Path) -> None:
    (project / ".git/info/exclude").write_text(".memories/[[]a[]]/\n")
    (bank.layout.root / "[a]").mkdir()
    (bank.layout.root / "[a]/note.md").write_text(X)
    (bank.layout.root / "a").mkdir()
    (bank.layout.root / "a/note.md").write_text(X)
    assert remember(bank, X).path == "a/note.md"


def test_a_note_that_is_tracked_although_a_list_names_it_is_tracked(
    bank: Bank, project: Path, git: Git
) -> None:
    (project / ".git/info/exclude").write_text(".memories/facts/\n")
    (bank.layout.root / "facts/bm25.md").write_text(X)
    git(project, "commit", "-q", "-a", "-m", "Change")
    done = remember(bank, X, name="decisions/x")
    assert (done.action, done.path) == ("updated_existing", "facts/bm25.md")


def test_outside_git_notes_of_sessions_are_apart(
    folder: Path, opening: Callable[..., Bank]
) -> None:
    bank = opening(folder)
    noted = session_note(bank, X)
    kept = remember(bank, X)
    assert (kept.action, kept.same_as) == ("created", noted.path)


def test_the_link_between_both_follows_the_tracked_note(bank: Bank) -> None:
    noted, kept = session_note(bank, X), remember(bank, X)
    rename(bank, kept.path, "facts/limit")
    assert targets(bank, noted.path) == ["facts/limit.md"]
    assert remember(bank, X).same_as == noted.path
    assert targets(bank, noted.path) == ["facts/limit.md"]


def test_a_key_of_the_same_name_is_the_user_s(bank: Bank) -> None:
    noted = session_note(bank, X)
    file = bank.roots.file(noted.path)
    mine = file.read_text().replace("type: session", "type: session\nsame_as: https://a.example")
    file.write_text(mine)
    assert remember(bank, X).same_as == noted.path
    assert file.read_text() == mine


def test_a_private_note_that_cannot_be_changed_gets_no_link(bank: Bank) -> None:
    noted = session_note(bank, X)
    file = bank.roots.file(noted.path)
    file.write_text(file.read_text().replace("tags:", "tags: [").replace("---\n", "---\na: [\n", 1))
    kept = remember(bank, X)
    assert kept.action == "created"
    assert kept.same_as == noted.path
    assert "got no link" in str(kept.warning)


def test_a_kept_note_has_an_id_of_its_own(bank: Bank, monkeypatch: pytest.MonkeyPatch) -> None:
    class Still(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Still:
            return cls(2026, 11, 22, 10, tzinfo=tz)

    monkeypatch.setattr("memory_bank.memory.remember.datetime", Still)
    noted = session_note(bank, X)
    kept = remember(bank, X)
    assert noted.created_at == "2026-11-22T10:00:00Z"
    assert kept.note_id != noted.note_id
    assert kept.same_as == noted.path
    assert show(bank, kept.note_id).path == kept.path
    assert show(bank, noted.note_id).path == noted.path
