from pathlib import Path

import pytest

from memory_bank.bank.bank import open_bank
from memory_bank.bank.revisions import checked_out
from memory_bank.base.errors import BadInput
from memory_bank.memory.retrieval.recall import recall
from memory_bank.memory.show import list_notes
from tests.conftest import run_git as git


def state(project: Path) -> tuple[str, str, list[str]]:
    """Return what git says of a repository, and its files."""
    files = [str(one) for one in project.rglob("*") if ".index" not in one.parts]
    return git(project, "status", "--porcelain"), git(project, "worktree", "list"), sorted(files)


def test_a_checkout_has_what_git_has(project: Path, private_folders: Path) -> None:
    (project / ".memories/new.md").write_text("# New\n\nNot committed.\n")
    (project / ".memories/facts/bm25.md").write_text("# BM25\n\nChanged.\n")
    with open_bank(project) as bank:
        recall(bank, "whoosh")
        before = state(project)
        with checked_out(bank) as copy:
            assert {note.path for note in list_notes(copy).notes} == {
                "decisions/tantivy.md",
                "decisions/whoosh.md",
                "facts/bm25.md",
            }
            assert b"rarity" in copy.store.read_bytes("facts/bm25.md")
            assert (copy.layout.project / "src/index.py").is_file()
            assert copy.layout.project.name == "project"
            commits = copy.commits("facts/bm25.md")
            assert commits is not None
            assert copy.id == bank.id
            assert copy.layout.state(copy.id) != bank.layout.state(bank.id)
            place = copy.layout.project
        assert not place.parent.exists()
        assert state(project) == before


def test_a_checkout_of_another_commit(project: Path) -> None:
    git(project, "rm", "-q", ".memories/facts/bm25.md")
    git(project, "commit", "-qm", "Remove")
    with open_bank(project) as bank:
        with checked_out(bank, "HEAD~1") as copy:
            assert copy.store.exists("facts/bm25.md")
        with checked_out(bank) as copy:
            assert not copy.store.exists("facts/bm25.md")
        with pytest.raises(BadInput, match="no revision"), checked_out(bank, "nothing"):
            pass


def test_links_and_huge_files_are_not_made(project: Path, tmp_path: Path) -> None:
    (tmp_path / "outside.md").write_text("# Outside\n")
    (project / ".memories/link.md").symlink_to(tmp_path / "outside.md")
    (project / "huge.bin").write_bytes(b"x" * 3_000_000)
    git(project, "add", "-A")
    git(project, "commit", "-qm", "Add")
    with open_bank(project) as bank, checked_out(bank) as copy:
        assert not (copy.layout.root / "link.md").exists()
        assert (copy.layout.project / "huge.bin").stat().st_size == 0


def test_outside_git_there_is_none(folder: Path) -> None:
    (folder / "a.md").write_text("# A\n")
    with open_bank(folder) as bank, pytest.raises(BadInput, match="no git repository"):
        checked_out(bank).__enter__()
