"""Decision records of a project that its bank includes: found by type and status, never green."""

from collections.abc import Callable
from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank
from memory_bank.memory.retrieval.recall import recall
from memory_bank.memory.show import list_notes
from memory_bank.review.lint import lint
from tests.git.history_builder import commit_all

Git = Callable[..., str]

RECORD = """# {number}. Queues by {what}

Date: 2024-03-0{number}

## Status

{status}

## Context

Orders arrive in bursts, and the {what} has to hold them.

## Decision

We use {what}.
"""
STATUSES = {
    "0001-redis": "Superceded by [2. Queues by kafka](0002-kafka.md)",
    "0002-kafka": "Accepted\n\nSupercedes [1. Queues by redis](0001-redis.md)",
    "0003-sqs": "\N{CROSS MARK} Rejected",
}


@pytest.fixture
def decided(project: Path, opening: Callable[..., Bank]) -> Bank:
    """Open the bank of a project that includes three decision records."""
    folder = project / "docs/adr"
    folder.mkdir(parents=True)
    for number, (name, status) in enumerate(STATUSES.items(), 1):
        text = RECORD.format(number=number, what=name[5:], status=status)
        (folder / f"{name}.md").write_text(text)
    commit_all(project, "Decide")
    return opening(project, memory__include=["docs/adr"])


def found(bank: Bank, query: str) -> dict[str, str]:
    return {one.path: one.meta.status for one in recall(bank, query, mode="lexical").notes}


def test_they_are_found_by_type_and_status(decided: Bank) -> None:
    assert found(decided, "type:decision status:rejected") == {"docs/adr/0003-sqs.md": "rejected"}
    assert found(decided, "status:superseded") == {"docs/adr/0001-redis.md": "superseded"}
    assert set(found(decided, "type:decision status:active queues")) == {"docs/adr/0002-kafka.md"}
    assert decided.find("ADR-2") == "docs/adr/0002-kafka.md"


def test_a_hit_says_its_status_and_shows_what_was_decided(decided: Bank) -> None:
    hits = recall(decided, "queues for orders", mode="lexical").notes
    by_path = {one.path: one for one in hits}
    assert by_path["docs/adr/0001-redis.md"].superseded_by == "docs/adr/0002-kafka.md"
    for one in hits:
        if one.path.startswith("docs/adr/"):
            assert (
                one.meta.status
                == {"1": "superseded", "2": "accepted", "3": "rejected"}[one.path[12]]
            )
            assert "Status" not in one.snippet
            assert "Date:" not in one.snippet


def test_what_does_not_hold_is_never_shown_as_holding(decided: Bank) -> None:
    by_path = {one.path: one for one in list_notes(decided, type="decision").notes}
    assert by_path["docs/adr/0003-sqs.md"].status == "rejected"
    assert by_path["docs/adr/0001-redis.md"].status == "superseded"
    assert by_path["docs/adr/0002-kafka.md"].status == "accepted"
    assert by_path["docs/adr/0002-kafka.md"].created_at == "2024-03-02T00:00:00Z"


def test_a_number_that_the_default_branch_took_is_a_finding(
    decided: Bank, project: Path, git: Git
) -> None:
    git(project, "checkout", "-q", "-b", "ours")
    (project / "docs/adr/0004-ours.md").write_text(
        RECORD.format(number=4, what="x", status="Draft")
    )
    commit_all(project, "Ours")
    git(project, "checkout", "-q", "main")
    (project / "docs/adr/0004-theirs.md").write_text("# 4. Theirs\n\nStatus: accepted\n")
    commit_all(project, "Theirs")
    git(project, "checkout", "-q", "ours")
    numbers = [one for one in lint(decided) if one.rule == "same-number"]
    assert [(one.path, one.message) for one in numbers] == [
        ("docs/adr/0004-ours.md", "has the number of docs/adr/0004-theirs.md on the default branch")
    ]
    git(project, "merge", "-q", "main", "-m", "both")
    numbers = [one for one in lint(decided) if one.rule == "same-number"]
    assert len(numbers) == 2


def test_a_record_that_a_branch_renames_keeps_its_number(
    decided: Bank, project: Path, git: Git
) -> None:
    git(project, "checkout", "-q", "-b", "renamed")
    git(project, "mv", "docs/adr/0002-kafka.md", "docs/adr/0002-events.md")
    git(project, "commit", "-q", "-m", "Rename")
    assert not [one for one in lint(decided) if one.rule == "same-number"]
