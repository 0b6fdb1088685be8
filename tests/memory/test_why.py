"""What is behind a file or a line: commits with their reasons, pull requests and notes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank, open_bank
from memory_bank.base.errors import BadInput
from memory_bank.base.text import Quotes
from memory_bank.memory import told
from memory_bank.memory.remember import remember
from memory_bank.memory.retrieval.recall import recall, recall_at
from memory_bank.memory.show import show
from memory_bank.memory.why import promote_commit, why
from tests.git.history_builder import Made, make, run

SAID = """Wait longer for the bank (#12)

The acquirer answers slowly on Mondays.

Signed-off-by: Ann <ann@example.org>"""


@pytest.fixture
def bank(tmp_path: Path) -> Iterator[Bank]:
    """Give a bank in a repository of two commits, of which the second tells why."""
    root = make(tmp_path.resolve() / "shop", [Made({"pay.py": "WAIT = 5\nTRIES = 3\n"})])
    (root / "pay.py").write_text("WAIT = 40\nTRIES = 3\n")
    run(root, "commit", "-q", "-a", "-m", SAID)
    (root / ".memories").mkdir()
    with open_bank(root / ".memories") as opened:
        yield opened


def test_the_commits_and_notes_behind_a_file_are_listed(bank: Bank) -> None:
    remember(bank, "Payments wait as [[pay.py]] says.", name="facts/payments")
    found = why(bank, "pay.py")
    assert {(one.kind, one.id) for one in found.behind if one.kind == "note"} == {
        ("note", "facts/payments.md")
    }
    (told, *_) = [one for one in found.behind if one.pull_request]
    assert told.pull_request == 12
    assert told.reason == "The acquirer answers slowly on Mondays."
    assert [one.date for one in found.behind] == sorted(
        (one.date for one in found.behind), reverse=True
    )


def test_behind_a_line_are_the_commits_that_changed_it(bank: Bank) -> None:
    remember(bank, "Payments wait as [[pay.py]] says.", name="facts/payments")
    wait, first, note = (
        *[one for one in why(bank, "pay.py:1").behind if one.kind == "commit"],
        *[one for one in why(bank, "pay.py:1").behind if one.kind == "note"],
    )
    assert wait.title.startswith("Wait longer")
    assert wait.date >= first.date
    assert note.id == "facts/payments.md"
    (tries,) = [one for one in why(bank, "pay.py:2").behind if one.kind == "commit"]
    assert tries.id == first.id


def test_a_line_keeps_its_commits_when_it_moves_and_its_file_is_renamed(tmp_path: Path) -> None:
    root = make(tmp_path.resolve() / "shop", [Made({"pay.py": "WAIT = 5\nTRIES = 3\n"})])
    texts = [
        ("pay.py", "# Times\nWAIT = 5\nTRIES = 3\n", "Head the times"),
        ("pay.py", "# Times\nWAIT = 5\nTRIES = 4\n", "Try once more"),
    ]
    for name, text, said in texts:
        (root / name).write_text(text)
        run(root, "commit", "-q", "-a", "-m", said)
    run(root, "mv", "pay.py", "money.py")
    run(root, "commit", "-q", "-m", "Name it after money")
    (root / ".memories").mkdir()
    with open_bank(root / ".memories") as bank:
        found = why(bank, "money.py:3").behind
        assert [one.title for one in found][:1] == ["Try once more"]
        assert len(found) == 2
        assert [one.title for one in why(bank, "money.py:3", limit=1).behind] == ["Try once more"]


def test_a_commit_has_the_pull_request_that_brought_it(tmp_path: Path) -> None:
    root = make(tmp_path.resolve() / "shop", [Made({"pay.py": "WAIT = 5\n"})])
    run(root, "checkout", "-q", "-b", "slow")
    (root / "pay.py").write_text("WAIT = 40\n")
    run(root, "commit", "-q", "-a", "-m", "Wait longer")
    run(root, "checkout", "-q", "main")
    said = "Merge pull request #7 from ann/slow"
    run(root, "merge", "-q", "--no-ff", "-m", said, "slow")
    (root / ".memories").mkdir()
    with open_bank(root / ".memories") as bank:
        newest = why(bank, "pay.py:1").behind[0]
        assert (newest.title, newest.pull_request) == ("Wait longer", 7)


@pytest.mark.parametrize("target", ["pay.py:99", "nothing.py", "../elsewhere.py"])
def test_what_no_commit_has_is_refused(bank: Bank, target: str) -> None:
    with pytest.raises(BadInput):
        why(bank, target)


def test_a_commit_becomes_a_decision_in_one_step(bank: Bank) -> None:
    commit = why(bank, "pay.py:1").behind[0].id
    done = promote_commit(bank, commit[:8])
    note = show(bank, done.path)
    assert (note.type, note.file_refs) == ("decision", ("pay.py",))
    assert "answers slowly on Mondays" in note.body
    assert f"Commit {commit[:12]}" in note.body
    assert promote_commit(bank, commit).action == "updated_existing"
    with pytest.raises(BadInput):
        promote_commit(bank, "0000000")


def test_recall_finds_the_messages_of_commits_if_they_are_included(bank: Bank) -> None:
    remember(bank, "The shop opens at nine.", name="facts/hours")
    said = (
        "Batch refunds\n\nThe acquirer bills each call, and answers slowly on Mondays, so refunds"
    )
    said += " of a night are sent together at six in the morning."
    run(bank.layout.project, "commit", "-q", "--allow-empty", "-m", said)
    question = "why does the acquirer answer slowly"
    assert recall(bank, question).commits is None
    (found, *_) = recall(bank, question, include=["commits"]).commits or ()
    assert found.title == "Batch refunds"
    assert "slowly on Mondays" in found.snippet
    shown = told.recalled(recall(bank, question, include=["commits"]), Quotes())
    assert f"commit {found.id[:8]} {found.created_at[:10]} {found.author}" in shown


def test_what_recall_cannot_include_is_refused(bank: Bank) -> None:
    with pytest.raises(BadInput):
        recall(bank, "slowly", include=["code"])
    with pytest.raises(BadInput):
        recall_at(bank, "HEAD", "slowly", include=["commits"])


def test_outside_git_recall_says_that_no_commit_was_searched(tmp_path: Path) -> None:
    (tmp_path / ".memories").mkdir()
    with open_bank(tmp_path / ".memories") as alone:
        found = recall(alone, "slowly", include=["commits"])
    assert found.commits == ()
    assert "commits not searched" in (found.problem or "")
