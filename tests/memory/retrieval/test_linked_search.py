"""A search in the notes that link to a file answers with the links that have to do with the query."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank, open_bank
from memory_bank.memory.retrieval.recall import recall
from tests.support.files import write_files

NOTES = {
    "login.md": "# Login\n\nA bug fix of the login: sessions expire in [[src/server.py]] after an hour.\n",
    "tidy.md": "# Spring cleaning\n\nWe refactored the imports of [[src/server.py]] in spring.\n",
    "both.md": (
        "# Work of May\n\n## Sessions\n\nThe login of guests is in [[src/server.py]] now.\n\n"
        "## Build\n\nThe wheel no longer ships the fixtures of [[src/server.py]].\n"
    ),
    "cited.md": "---\nfile_refs: [src/server.py]\n---\n# Passwords\n\nA login needs ten characters.\n",
}


@pytest.fixture
def notes(tmp_path: Path) -> Iterator[Bank]:
    """Open a bank whose notes link to one file for different reasons."""
    (tmp_path / ".memories").mkdir()
    write_files(tmp_path / ".memories", NOTES)
    with open_bank(tmp_path / ".memories") as bank:
        yield bank


def contexts(bank: Bank, query: str) -> dict[str, list[str]]:
    answer = recall(bank, query, linked_to="src/server.py", count_access=False)
    return {note.path: [link.context for link in note.links or ()] for note in answer.notes}


def test_links_about_something_else_are_left_out(notes: Bank) -> None:
    links = contexts(notes, "login")
    assert set(links) == {"login.md", "both.md", "cited.md"}
    (link,) = links["both.md"]
    assert "guests" in link


def test_the_name_of_the_target_is_no_word_around_a_link(notes: Bank) -> None:
    assert set(contexts(notes, "refactored the server")) == {"tidy.md"}


def test_a_query_that_no_link_is_about_is_told_how_many_there_are(notes: Bank) -> None:
    answer = recall(notes, "zebra", linked_to="src/server.py", count_access=False)
    assert answer.notes == ()
    (notice,) = [one for one in answer.notices if "to it" in one]
    assert notice.startswith("4 more notes link to it, but not where it is about this")


def test_without_words_all_links_are_listed(notes: Bank) -> None:
    links = contexts(notes, "")
    assert {path: len(some) for path, some in links.items()} == {
        "login.md": 1, "tidy.md": 1, "both.md": 2, "cited.md": 1,
    }  # fmt: skip
