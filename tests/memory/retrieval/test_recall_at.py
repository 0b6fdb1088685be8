from pathlib import Path

import pytest

from memory_bank.bank.bank import open_bank
from memory_bank.base.errors import BadInput
from memory_bank.memory.retrieval.recall import recall, recall_at
from tests.conftest import run_git as git


@pytest.fixture
def tagged(project: Path) -> Path:
    """Change a note after v1.0."""
    git(project, "tag", "v1.0")
    note = project / ".memories/facts/bm25.md"
    note.write_text("# Ranking\n\nA line more.\n\nBM25 was replaced by a reranker.\n")
    git(project, "commit", "-q", "-a", "-m", "Two")
    return project


def test_what_was_known_then_is_found(tagged: Path) -> None:
    with open_bank(tagged) as bank:
        then, now = recall_at(bank, "v1.0", "bm25", 1), recall(bank, "bm25", 1)
        assert (then.notes[0].title, then.notes[0].line) == ("BM25", 1)
        assert then.notes[0].content.endswith("damps long documents.")
        assert now.notes[0].title == "Ranking"
        assert then.rev is not None
        assert then.rev.commit == git(tagged, "rev-parse", "v1.0").strip()
        assert then.rev.asked == "v1.0"
        assert now.rev is None


def test_no_access_is_counted_and_nothing_is_touched(tagged: Path) -> None:
    def files() -> dict[str, tuple[int, int]]:
        found = [file for file in (tagged / ".memories").rglob("*") if ".index" not in file.parts]
        return {str(file): (file.stat().st_mtime_ns, file.stat().st_ino) for file in found}

    with open_bank(tagged) as bank:
        recall(bank, "bm25", 1)
        before, index = files(), bank.layout.manifest.stat()
        recall_at(bank, "v1.0", "bm25", 1)
        assert files() == before
        assert bank.layout.manifest.stat().st_mtime_ns == index.st_mtime_ns
        assert recall(bank, "bm25", 1).notes[0].access_count == 1
    assert git(tagged, "status", "--porcelain") == ""


def test_the_first_answer_of_a_revision_is_that_of_the_next(tagged: Path) -> None:
    with open_bank(tagged) as bank:
        first, second = (recall_at(bank, "v1.0", "bm25 index") for _ in range(2))
    assert first == second


def test_options_of_recall_apply(tagged: Path) -> None:
    with open_bank(tagged) as bank:
        found = recall_at(bank, "v1.0", "index", type="decision", linked_to="src/index.py")
        assert [note.path for note in found.notes] == ["decisions/tantivy.md"]
        with pytest.raises(BadInput, match="there is no mode"):
            recall_at(bank, "v1.0", "index", mode="guess")


def test_a_bank_outside_git_has_no_revisions(folder: Path) -> None:
    (folder / "a.md").write_text("# A\n")
    with open_bank(folder) as bank, pytest.raises(BadInput, match="is in no git repository"):
        recall_at(bank, "HEAD", "a")


def test_trust_is_that_of_the_lines_then(tagged: Path) -> None:
    note = tagged / ".memories/facts/bm25.md"
    note.write_text(note.read_text() + "\nBM25 by a program.\n")
    agent = "Three\n\nCo-authored-by: Claude <noreply@anthropic.com>"
    git(tagged, "commit", "-q", "-a", "-m", agent)
    git(tagged, "tag", "v2.0")
    note.write_text(note.read_text() + "\nBM25 is not committed.\n")

    def trust(rev: str) -> dict[str, str]:
        return {note.path: note.trust for note in recall_at(bank, rev, "bm25").notes}

    with open_bank(tagged) as bank:
        assert trust("v1.0")["facts/bm25.md"] == "human"
        assert trust("v2.0")["facts/bm25.md"] == "agent"
        assert recall(bank, "bm25", 1).notes[0].trust == "uncommitted"
    assert "facts/bm25.md" in git(tagged, "status", "--porcelain")
