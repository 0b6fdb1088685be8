"""What the indices of words tell beside what they find."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_bank.retrievers.base import Entry, Question, Scope
from memory_bank.retrievers.keyword import query_builder
from memory_bank.retrievers.keyword.keyword_index import KeywordIndex

TITLES = ["Ann, 3 May", "Ben, 3 May", "Ann and Ben", "Zoo"]


@pytest.fixture
def notes(tmp_path: Path) -> Iterator[KeywordIndex]:
    index = KeywordIndex(
        tmp_path / "notes", "owner", name="notes", unit="documents", explanation="its words"
    )
    index.clear()
    entries = [
        Entry(number, number, title, (), "Ann and Ben saw a heron.", 6)
        for number, title in enumerate(TITLES, 1)
    ]
    index.put(entries, [])
    index.commit()
    yield index
    index.close()


@pytest.mark.parametrize(
    ("question", "shares"),
    [
        ("What did Ann see?", {1: 1.0, 3: 1.0}),
        ("What did Ann's Ben see?", {1: 0.5, 2: 0.5, 3: 1.0}),
        ("What did Ann tell Xerxes?", {1: 1.0, 3: 1.0}),
        ("Ann saw what?", {}),  # a first word has its capital letter anyway
        ("what did ann see at the zoo", {}),
        ("", {}),
    ],
)
def test_titles_have_names_of_the_question(
    notes: KeywordIndex, question: str, shares: dict[int, float]
) -> None:
    assert notes.title_matches(Question(question)) == shares


def test_a_name_that_very_many_titles_have_is_passed_over(
    notes: KeywordIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(query_builder, "_MAX_DOCUMENTS", 1)
    assert notes.title_matches(Question("What did Ann see at the Zoo?")) == {4: 1.0}


@pytest.mark.parametrize("question", ["heorn", "herom", "heeron", "Heorn seen"])
def test_a_misspelled_word_finds_the_word_that_it_resembles(
    notes: KeywordIndex, question: str
) -> None:
    found = notes.find(Question(question), 10, Scope())
    assert set(found.documents) == {1, 2, 3, 4}


@pytest.mark.parametrize("question", ["hen", "hrn", "xyzzy", "zebra"])
def test_short_words_and_unlike_ones_find_nothing(notes: KeywordIndex, question: str) -> None:
    assert not notes.find(Question(question), 10, Scope())


def test_a_word_that_some_document_has_is_taken_as_it_is(tmp_path: Path) -> None:
    index = KeywordIndex(tmp_path / "words", "owner", name="words", unit="passages", explanation="")
    index.clear()
    index.put([Entry(1, 1, "A", (), "heron", 1), Entry(2, 2, "B", (), "herons", 1),
               Entry(3, 3, "C", (), "herod", 1)], [])  # fmt: skip
    index.commit()
    assert set(index.find(Question("heron"), 10, Scope()).rows) == {1, 2}
    index.close()
