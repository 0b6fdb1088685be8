"""Words that mean about the same, out of the words that a bank uses."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from memory_bank import open_bank, recall
from memory_bank.config import Settings
from memory_bank.embedders import static
from memory_bank.errors import IndexDamaged
from memory_bank.retrievers import related
from memory_bank.retrievers.base import Entry
from memory_bank.retrievers.related import RelatedWords

TEXTS = ["She purchased a violin.", "The dogs barked; one dog bit.", "Purchased bread, purchased milk."]  # fmt: skip


def entry(number: int, text: str) -> Entry:
    return Entry(number, number, "", (), (), text, len(text.split()))


@pytest.fixture
def words(tmp_path: Path) -> Iterator[RelatedWords]:
    found = RelatedWords(tmp_path / "related", "owner", static.load(Settings()))
    found.clear()
    found.put([entry(number, text) for number, text in enumerate(TEXTS)], [])
    found.commit()
    found.catch_up(1.0)
    yield found
    found.close()


def stems(words: RelatedWords, text: str) -> dict[str, list[str]]:
    return {stem: [near.stem for near in found] for stem, found in words.near(text).items()}


def test_a_word_finds_words_like_it_that_the_bank_uses(words: RelatedWords) -> None:
    found = stems(words, "What did she buy, and did the puppy bite?")
    assert found["buy"][0] == "purchas"
    assert "dog" in found["puppi"]
    assert all(near.cosine > 0.3 for near in words.near("buy")["buy"])


def test_a_word_is_not_like_itself_nor_are_stop_words_or_numbers_like_anything(
    words: RelatedWords,
) -> None:
    found = stems(words, "purchased the 2024 dogs")
    assert set(found) == {"purchas", "dog"}
    assert all(stem not in near for stem, near in found.items())
    assert words.near("") == {}


def test_words_are_chosen_anew_when_many_came(words: RelatedWords) -> None:
    assert words.waiting() == 0
    words.put([entry(9, "A kitten slept on the sofa, and the kitten purred.")], [])
    words.commit()
    assert words.waiting() == 1
    assert words.catch_up(1.0) == 0
    assert "kitten" in stems(words, "cat")["cat"]


def test_words_of_another_bank_are_damage(words: RelatedWords, tmp_path: Path) -> None:
    other = RelatedWords(tmp_path / "related", "another", static.load(Settings()))
    with pytest.raises(IndexDamaged):
        other.waiting()
    words.close()
    (tmp_path / "related/related.db").write_bytes(b"garbage" * 1000)
    with pytest.raises(IndexDamaged):
        words.check()
    words.clear()
    assert words.near("buy") == {}


def test_an_answer_has_what_says_it_in_other_words(tmp_path: Path) -> None:
    for number, text in enumerate(TEXTS):
        (tmp_path / f"{number}.md").write_text(f"{text}\n")
    with open_bank(tmp_path) as bank:
        bank.sync()
        found = recall(bank, "What was bought?")
        assert {note.path for note in found.notes[:2]} == {"0.md", "2.md"}
        assert any(reason.source == "keyword" for reason in found.notes[0].reasons)
        assert not recall(bank, "What was bought?", mode="lexical").notes


def test_the_first_half_of_a_vector_says_nearly_what_the_whole_one_says() -> None:
    words = [
        "buy",
        "bought",
        "purchase",
        "house",
        "dwelling",
        "kestrel",
        "falcon",
        "index",
        "river",
    ]
    vectors = static.load(Settings()).embed([*words, ""])
    cut = related._cut(vectors)
    assert cut.shape == (len(words) + 1, related.NUMBERS)
    np.testing.assert_allclose(cut @ cut.T, vectors @ vectors.T, atol=0.2)
    assert not cut[-1].any()
