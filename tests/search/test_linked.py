"""Notes that are linked with the best hits take a small share of their score."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank, open_bank
from memory_bank.bank.records import ShownNote
from memory_bank.memory.retrieval.recall import recall
from tests.support.files import write_files

NOTES = {
    "jitter.md": "# Jitter\n\nClients add jitter to their exponential backoff, see [[gateway]].\n",
    "gateway.md": "# Gateway\n\nIt is the only door to the partner.\n",
    "postmortem.md": "# Friday\n\nAll of them came back at once, hence [[jitter]].\n",
    "lunch.md": "# Lunch\n\nSoup is on Mondays.\n",
    "tea.md": "# Tea\n\nTea is on Fridays, soup or not.\n",
}


@pytest.fixture
def bank(tmp_path: Path) -> Iterator[Bank]:
    (tmp_path / ".memories").mkdir()
    write_files(tmp_path / ".memories", NOTES)
    with open_bank(tmp_path / ".memories", settings={"memory.embedder": "none"}) as opened:
        yield opened


def notes_of(bank: Bank, query: str) -> dict[str, ShownNote]:
    answer = recall(bank, query, count_access=False)
    return {note.path: note for note in answer.notes}


def test_notes_enter_by_links_in_either_direction_below_the_hit(bank: Bank) -> None:
    notes = notes_of(bank, "exponential backoff with jitter")
    assert next(iter(notes)) == "jitter.md"
    assert set(notes) == {"jitter.md", "gateway.md", "postmortem.md"}
    for path in ("gateway.md", "postmortem.md"):
        reasons = [one.detail for one in notes[path].reasons if one.source == "linked"]
        assert reasons == ["linked with jitter.md"]
        assert notes[path].relevance_score < notes["jitter.md"].relevance_score


def test_what_nothing_links_to_has_no_reason_by_links(bank: Bank) -> None:
    notes = notes_of(bank, "soup on Mondays")
    assert "lunch.md" in notes
    assert not [one for note in notes.values() for one in note.reasons if one.source == "linked"]


def test_a_filter_keeps_linked_notes_out(bank: Bank) -> None:
    assert set(notes_of(bank, "exponential backoff jitter links:gateway")) == {"jitter.md"}
