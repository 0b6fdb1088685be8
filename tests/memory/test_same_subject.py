"""New sentences that repeat or contradict other notes are remarked, and others are not."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank, open_bank
from memory_bank.memory.remember import remember
from memory_bank.memory.same_subject import (
    differences,
    how,
    on_same_subject,
    sentences,
    side_by_side,
)

NOTES = {
    "limits.md": "# Limits\n\nBodies are limited to 2 MB. A header may have 8 kB.\n",
    "jobs.md": "# Background jobs\n\nJobs are stored in Postgres with pg-boss, not in Redis.\n",
    "logs.md": "# Logs\n\n- Logs are kept 14 days. Nobody reads them.\n",
    "search.md": "# Search\n\nThe index of the catalogue is rebuilt from Postgres every night.\n",
    "old.md": "---\nstatus: archived\n---\n# Timeouts\n\nA request ends after 30 s.\n",
}


@pytest.fixture
def bank(tmp_path: Path) -> Iterator[Bank]:
    folder = tmp_path / ".memories"
    folder.mkdir()
    for name, text in NOTES.items():
        (folder / name).write_text(text, encoding="utf-8")
    with open_bank(tmp_path, settings={"memory.embedder": "none"}) as bank:
        bank.sync()
        yield bank


@pytest.mark.parametrize(
    ("text", "kind", "path", "line"),
    [
        ("# Default body limit raised to 4 MB", "contradicts", "limits.md", 3),
        ("Logs are kept for 90 days.", "contradicts", "logs.md", 3),
        ("Jobs are stored in Redis.", "contradicts", "jobs.md", 3),
        (
            "The catalogue index is rebuilt each night, out of Postgres, by a job.",
            "repeats",
            "search.md",
            3,
        ),
    ],
)
def test_a_sentence_is_remarked(bank: Bank, text: str, kind: str, path: str, line: int) -> None:
    (found,) = remember(bank, text).remarks
    assert (found.kind, found.path, found.other_line) == (kind, path, line)
    assert bool(how(found)) is (kind == "contradicts")


@pytest.mark.parametrize(
    "text",
    [
        "Redis has a limit of 512 MB of memory and evicts keys.",
        "A request ends after 60 s.",
        "The catalogue has about 400 products.",
        "Logs are written as JSON.",
        "# Nothing\n\n```\nBodies are limited to 4 MB.\n```\n",
    ],
)
def test_other_sentences_on_a_subject_are_not(bank: Bank, text: str) -> None:
    assert remember(bank, text).remarks == ()


def test_a_note_that_supersedes_the_other_may_contradict_it(bank: Bank) -> None:
    text = "# Logs again\n\nLogs are kept for 90 days.\n\n- supersedes:: [[logs]]\n"
    assert remember(bank, text).remarks == ()


def test_both_sentences_stand_side_by_side(bank: Bank) -> None:
    new = sentences("# Limits of bodies\n\nBodies are limited to 4 MB.")
    (found,) = bank.read(lambda view: on_same_subject(view, new))
    assert side_by_side(found, "limits.md") == (
        "may contradict limits.md:3 (4 MB, there 2 MB)",
        "  new:   Bodies are limited to 4 MB.",
        "  there: Bodies are limited to 2 MB.",
    )


def test_a_number_is_shown_with_its_unit_but_not_with_the_next_word() -> None:
    (one,) = differences("It waits 30000 and ends.", "It waits 60000 ms and ends.")
    assert (one.new, one.old) == ("30000", "60000 ms")


@pytest.mark.parametrize(
    ("new", "old", "kinds"),
    [
        ("It waits five seconds.", "It waits 10 seconds.", ["number"]),
        ("It waits 10 seconds.", "It waits ten seconds.", []),
        ("Sprint 4 is done.", "Sprint 6 is done.", []),
        ("It tries 3 times in 15 minutes.", "It makes 5 attempts in 15 minutes.", ["number"]),
        ("Tokens are not signed.", "All tokens are signed.", ["negation"]),
        ("We don't sign tokens.", "We sign tokens.", ["negation"]),
        ("It will not only sign tokens.", "It will sign tokens.", []),
        ("Use Gatling instead of JMeter.", "JMeter is used for load tests.", ["negation"]),
        ("Deploys are always allowed.", "Deploys are never allowed.", ["negation", "opposite"]),
        ("Tools don't write notes.", "No tool writes notes.", []),
        ("Renames are found by git, not by id.", "Found by id, not by git.", ["negation"]),
        ("We drop the private key parameter.", "The private token is a key.", []),
        ("We drop the private key parameter.", "A parameter has the key.", ["negation"]),
        ("It runs on gpt-5.5 now.", "It runs on gpt-5 now.", []),
    ],
)
def test_what_differs(new: str, old: str, kinds: list[str]) -> None:
    assert [one.kind for one in differences(new, old)] == kinds
