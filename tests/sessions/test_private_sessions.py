"""Notes of sessions are in this machine's private state: all work trees of a repository have them."""

import shutil
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank, open_bank
from memory_bank.base import paths
from memory_bank.base.errors import BadName, Busy, StorageFailed
from memory_bank.base.locks import hold_lock
from memory_bank.memory.edit import append
from memory_bank.memory.maintenance import ChangedPaths, follow_changes
from memory_bank.memory.move_and_merge import rename
from memory_bank.memory.remember import remember, session_note
from memory_bank.memory.retrieval.recall import recall
from memory_bank.memory.show import list_notes, show
from memory_bank.memory.trash import delete, trash
from memory_bank.notes.storage import store
from memory_bank.notes.storage.store import Store
from memory_bank.review.doctor import doctor

Git = Callable[..., str]
Opening = Callable[..., Bank]
X = "The queue drops jobs above 64 KB."


@pytest.fixture
def bank(project: Path, opening: Opening) -> Bank:
    return opening(project)


@pytest.fixture
def tree(project: Path, tmp_path: Path, git: Git) -> Path:
    """Add a second work tree."""
    git(project, "worktree", "add", "-q", str(tmp_path / "tree"))
    return tmp_path / "tree"


def found(bank: Bank, text: str = "queue drops jobs") -> list[str]:
    return [hit.path for hit in recall(bank, text, mode="lexical").notes]


def status(git: Git, project: Path) -> str:
    """Return what git sees of the project, files it ignores included, apart from the index."""
    seen = git(project, "status", "--porcelain", "--untracked-files=all", "--ignored")
    return "".join(line for line in seen.splitlines() if ".memories/.index/" not in line)


def notes_of(bank: Bank) -> Path:
    return bank.roots.file("sessions/any").parents[1]


def test_a_note_of_a_session_is_outside_of_the_project(bank: Bank, project: Path, git: Git) -> None:
    before = status(git, project)
    noted = session_note(bank, X)
    file = bank.roots.file(noted.path)
    assert noted.path.startswith("sessions/")
    assert file == bank.layout.state(bank.id) / "notes" / noted.path
    assert file.parents[1].stat().st_mode & 0o777 == 0o700
    assert not (project / ".memories/sessions").exists()
    assert status(git, project) == before == ""
    for name in (noted.path, noted.path.removesuffix(".md"), str(file), f"{file}:3", noted.note_id):
        assert show(bank, name).path == noted.path


def test_a_write_waits_for_that_of_another_work_tree(
    bank: Bank, tree: Path, opening: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = session_note(bank, X).path
    other = opening(tree)
    assert session_note(other, X).action == "updated_existing"
    monkeypatch.setattr(
        store, "hold_lock", lambda folder, **how: hold_lock(folder, **how | {"wait": 0})
    )
    with bank.store.writing(path):
        for change in (
            lambda: append(other, path, "More"),
            lambda: session_note(other, "Another content"),
            lambda: delete(other, path),
        ):
            with pytest.raises(Busy):
                change()
        remember(other, "A tracked fact")
    append(other, path, "More")


def test_it_stays_without_the_index(bank: Bank, project: Path, opening: Opening) -> None:
    path = session_note(bank, X).path
    bank.close()
    shutil.rmtree(project / ".memories/.index")
    assert found(opening(project)) == [path]


def test_the_first_commit_keeps_it(tmp_path: Path, git: Git, opening: Opening) -> None:
    """The bank's id is another one from then on; an open bank notices, too."""
    root = tmp_path / "new"
    (root / ".memories").mkdir(parents=True)
    bank = opening(root)
    paths = [session_note(bank, X).path]
    git(root, "init", "-q")
    paths.append(session_note(bank, "The port of the queue is 9000").path)
    before = bank.id
    git(root, "commit", "-q", "--allow-empty", "-m", "Start")
    assert sorted(note.path for note in list_notes(bank).notes) == sorted(paths)
    assert bank.id != before
    state = bank.layout.state(before) / "notes/sessions"  # of a process that could not ask git
    state.mkdir(parents=True)
    (state / "stray.md").write_text("A stray note\n")
    shutil.rmtree(root / ".memories/.index")
    assert "sessions/stray.md" in {note.path for note in list_notes(opening(root)).notes}


def test_a_user_may_keep_them_in_the_bank(project: Path, opening: Opening) -> None:
    bank = opening(project, sessions__keep="project")
    path = session_note(bank, X).path
    assert (project / ".memories" / path).is_file()
    assert rename(bank, path, "sessions/queue").path == "sessions/queue.md"
    assert rename(bank, "facts/bm25", "sessions/bm25").path == "sessions/bm25.md"
    assert not (bank.layout.state(bank.id) / "notes").exists()


def test_a_move_whose_links_cannot_follow_is_made_and_says_so(
    bank: Bank, monkeypatch: pytest.MonkeyPatch
) -> None:
    noted = session_note(bank, f"{X} See [[facts/bm25]].")
    apply = Store._apply

    def fail(self: Store, root: object, changes: object) -> None:
        if root is self.roots.private:
            raise StorageFailed("the disk is full")
        apply(self, root, changes)  # type: ignore[arg-type]

    monkeypatch.setattr(Store, "_apply", fail)
    done = rename(bank, "facts/bm25", "facts/ranking")
    assert done.path == "facts/ranking.md"
    assert noted.path not in done.relinked
    assert noted.path in (done.warning or "")


def test_an_interrupted_change_is_finished(bank: Bank, tree: Path, opening: Opening) -> None:
    path = session_note(bank, X).path
    etag = show(bank, path).etag
    journal = notes_of(bank) / ".trash/.journal-0123456789ab"
    (journal).mkdir(parents=True)
    (journal / "plan.json").write_text(
        f'[{{"path": "{path}", "before": "{etag}", "after": "",'
        f' "staged": "", "kept": "", "trash": "1/{path}"}}]'
    )
    other = opening(tree)
    assert found(other) == []
    assert not journal.exists()
    assert "writing" in other.take_repaired()
    assert [one.path for one in trash(bank)] == [path]


@pytest.mark.parametrize("what", ["folder", "sessions", "note"])
def test_a_symbolic_link_leads_nowhere(
    bank: Bank, tmp_path: Path, opening: Opening, project: Path, what: str
) -> None:
    outside = tmp_path / "outside"
    (outside / "sessions").mkdir(parents=True)
    (outside / "sessions/theirs.md").write_text("A secret queue drops jobs\n")
    notes = notes_of(bank)
    notes.parent.mkdir(parents=True, exist_ok=True)
    if what == "folder":
        notes.symlink_to(outside)
    elif what == "sessions":
        notes.mkdir()
        (notes / "sessions").symlink_to(outside / "sessions")
    else:
        (notes / "sessions").mkdir(parents=True)
        (notes / "sessions/theirs.md").symlink_to(outside / "sessions/theirs.md")
    assert found(bank) == []
    assert any("symbolic link" in one.message for one in doctor(bank).findings)
    if what != "note":
        with pytest.raises((StorageFailed, BadName)):
            session_note(bank, X)
    assert [file.name for file in outside.rglob("*.md")] == ["theirs.md"]


def test_a_user_bank_and_a_folder_outside_git(
    folder: Path, project: Path, opening: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project)
    monkeypatch.setenv("MEMORY_BANK_STORAGE_STRATEGY", "user")
    paths.user_bank_folder("project").mkdir(parents=True)
    with open_bank(settings={"memory.embedder": "none"}) as bank:
        path = session_note(bank, X).path
        assert bank.roots.is_private(path)
        assert found(bank) == [path]
    other = opening(folder)
    path = session_note(other, X).path
    assert bank.roots.file(path) != other.roots.file(path)
    assert found(other) == [path]
    assert list(folder.rglob("*.md")) == []


def test_a_server_hears_of_the_first_one(bank: Bank, tree: Path, opening: Opening) -> None:
    """The folder is made while it is watched."""
    heard: list[ChangedPaths] = []
    ready, news, stop = threading.Event(), threading.Event(), threading.Event()

    def listen(changed: ChangedPaths) -> None:
        heard.append(changed)
        ready.set()
        if changed.added:
            news.set()

    thread = threading.Thread(target=follow_changes, args=(opening(tree), listen, stop))
    thread.start()
    try:
        assert ready.wait(60)
        path = session_note(bank, X).path
        assert news.wait(60)
        assert path in heard[-1].added
    finally:
        stop.set()
        thread.join(60)


def test_git_is_not_asked_for_the_place_again(
    project: Path, opening: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    from memory_bank.git import process, repository

    session_note(opening(project), X)
    calls: list[tuple[str, ...]] = []
    run = process.run
    monkeypatch.setattr(
        repository, "_run", lambda tree, *words: (calls.append(words), run(tree, *words))[1]
    )
    bank = opening(project)
    assert found(bank)
    assert not [words for words in calls if words[0] in {"rev-list", "ls-files"}]
