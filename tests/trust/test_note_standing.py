"""Who wrote a note, whether it still holds, and how it came to be."""

from collections.abc import Callable
from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank, open_bank
from memory_bank.base.errors import NoteNotFound
from memory_bank.memory import confirm, note_view
from memory_bank.memory.move_and_merge import rename
from memory_bank.trust import provenance
from tests.git.history_builder import commit_all

Git = Callable[..., str]


@pytest.fixture
def note(project: Path, git: Git) -> Path:
    """Add a note that cites a file, which changes, and names what is not there."""
    file = project / ".memories/n.md"
    file.write_text(
        "---\nfile_refs: [src/index.py]\n---\n# N\n\nfirst words on `build_index` [[nobody]]\n"
    )
    commit_all(project, "Add (#7)")
    (project / "src/index.py").write_text("def build_index(notes):\n    return 2\n")
    git(project, "commit", "-qam", "Change the index")
    return file


def test_the_standing_names_the_writer_and_what_changed(bank: Bank, note: Path) -> None:
    found = provenance.read_note_status(bank, "n")
    assert found.written is not None
    assert (found.written.author, found.written.pull_request) == ("Test", 7)
    assert (found.log.trust, found.changed, found.log.result_count) == ("reviewed", None, 1)
    assert [one.target for one in found.citations] == ["src/index.py"], "no ghost"
    assert [commit.subject for commit in found.stale[0].commits] == ["Change the index"]
    assert not found.several
    assert found.confirmed is None


def test_a_confirmed_note_holds(bank: Bank, note: Path, project: Path, git: Git) -> None:
    confirm.confirm(bank, ["n"])
    git(project, "commit", "-qam", "Confirm")
    found = provenance.read_note_status(bank, "n", note_view.view_note(bank, "n").verified)
    assert found.confirmed is not None
    assert found.confirmed.commit == git(project, "rev-parse", "HEAD~1").strip()
    assert found.confirmed.when
    assert found.stale == ()
    assert provenance.read_note_status(bank, "n", "0" * 40).confirmed == ("0" * 40, "0" * 40, 0.0)


def test_nothing_is_known_outside_git(folder: Path) -> None:
    (folder / "n.md").write_text("# N\n")
    with open_bank(folder) as bank:
        found = provenance.read_note_status(bank, "n")
        assert (found.log.trust, found.written, found.citations) == ("", None, ())
        assert note_view.read_history(bank, "n").versions == ()


def test_the_history_has_each_commit_by_words(
    bank: Bank, note: Path, project: Path, git: Git
) -> None:
    note.write_text(note.read_text().replace("first", "second"))
    git(project, "commit", "-qam", "Change it")
    rename(bank, "n", "m")
    commit_all(project, "Rename it")
    moved = project / ".memories/m.md"
    moved.write_text(moved.read_text().replace("second", "third"))
    found = note_view.read_history(bank, "m")
    subjects = [commit.source.subject if commit else "" for commit, _ in found.versions]
    assert subjects == ["", "Rename it", "Change it", "Add (#7)"]
    spans = [
        {span.text.strip() for one in change.sections for claim in one.claims for span in claim.spans
         if span.kind != "equal"}
        for _, change in found.versions if change
    ]  # fmt: skip
    assert spans[0] == {"second", "third"}
    assert spans[2] == {"first", "second"}
    renamed, _ = found.versions[1]
    assert renamed is not None
    assert renamed.old_path == "n.md"
    assert not found.more
    part = note_view.read_history(bank, "m", 1, 1)
    assert [commit and commit.source.subject for commit, _ in part.versions] == ["Change it"]
    assert part.more


def test_a_removed_note_has_a_history(bank: Bank, note: Path, project: Path, git: Git) -> None:
    note.unlink()
    git(project, "commit", "-qam", "Remove it")
    found = note_view.read_history(bank, "n")
    assert found.removed
    assert [commit and commit.change for commit, _ in found.versions] == ["removed", "added"]
    _, removed = found.versions[0]
    assert removed is not None
    assert removed.words_removed
    with pytest.raises(NoteNotFound):
        note_view.read_history(bank, "never")
