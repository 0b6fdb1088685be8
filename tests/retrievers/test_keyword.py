"""What the indices of words tell beside what they find."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_bank.retrievers.base import Entry, Question
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
    assert notes.titled(Question(question)) == shares


def test_a_name_that_very_many_titles_have_is_passed_over(
    notes: KeywordIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(query_builder, "_MANY", 1)
    assert notes.titled(Question("What did Ann see at the Zoo?")) == {4: 1.0}
