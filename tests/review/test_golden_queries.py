import os
from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank, open_bank
from memory_bank.bank.revisions import bank_at
from memory_bank.base.errors import BadInput
from memory_bank.memory.retrieval.recall import recall
from memory_bank.review.evaluate import evaluate
from memory_bank.review.golden_queries import compare
from tests.conftest import run_git as git

QUERIES = """
[[queries]]
text = "why was tantivy chosen?"
find = ["decisions/tantivy"]

[[queries]]
text = "how does BM25 score a word?"
find = ["facts/bm25"]
"""


@pytest.fixture
def golden(project: Path) -> Path:
    """Commit golden queries."""
    (project / ".memories/queries.toml").write_text(QUERIES)
    git(project, "add", "-A")
    git(project, "commit", "-q", "-m", "Queries")
    return project


def test_the_queries_of_a_bank_are_measured(golden: Path) -> None:
    with open_bank(golden) as bank:
        found = evaluate(bank)
        assert (found.queries, found.to_find) == (2, 2)
        assert found.scores[0].figures["recall@5"] == 1


def test_they_are_no_note_and_count_no_access(golden: Path) -> None:
    with open_bank(golden) as bank:
        evaluate(bank)
        notes = recall(bank, "bm25 tantivy", count_access=False).notes
        assert {note.path for note in notes} <= {
            "decisions/tantivy.md", "decisions/whoosh.md", "facts/bm25.md",
        }  # fmt: skip
        assert {note.access_count for note in notes} == {0}
    assert git(golden, "status", "--porcelain") == ""


def test_use_and_age_change_no_rank(golden: Path) -> None:
    with open_bank(golden) as bank:
        before = evaluate(bank).scores[0].figures
        for _ in range(5):
            recall(bank, "whoosh", 1)
        assert evaluate(bank).scores[0].figures == before


def test_a_note_that_is_found_later_or_no_more_is_named(golden: Path) -> None:
    (golden / ".memories/facts/bm25.md").unlink()
    (golden / ".memories/facts/other.md").write_text(
        "# Why tantivy was chosen\n\nTantivy was chosen since it was chosen: tantivy, tantivy.\n"
    )
    git(golden, "add", "-A")
    git(golden, "commit", "-q", "-m", "Worse")
    with open_bank(golden) as bank, bank_at(bank, "HEAD~1") as was, bank_at(bank, "HEAD") as now:
        assert list(compare(was, now)) == [
            ("why was tantivy chosen?", "decisions/tantivy.md", 1, 2),
            ("how does BM25 score a word?", "facts/bm25.md", 1, None),
        ]
        assert not list(compare(now, was))  # what rises is no loss
        assert not list(compare(now, now))


def test_without_queries_that_can_be_read_nothing_is_compared(project: Path) -> None:
    with open_bank(project) as bank:
        assert not list(compare(bank, bank))
        with pytest.raises(BadInput, match=r"there is no .*queries\.toml"):
            evaluate(bank)
        (project / ".memories/queries.toml").write_text("[[queries]\n")
        assert not list(compare(bank, bank))
        with pytest.raises(BadInput, match=r"queries\.toml"):
            evaluate(bank)


@pytest.mark.parametrize("kind", ["link", "folder", "pipe", "large"])
def test_only_a_plain_file_is_read(bank: Bank, kind: str, tmp_path: Path) -> None:
    file = bank.layout.root / "queries.toml"
    (tmp_path / "secret").write_text(QUERIES)
    if kind == "link":
        file.symlink_to(tmp_path / "secret")
    elif kind == "folder":
        file.mkdir()
    elif kind == "pipe":
        os.mkfifo(file)
    else:
        file.write_text(QUERIES * 10_000)
    with pytest.raises(BadInput, match=r"queries\.toml"):
        evaluate(bank)
