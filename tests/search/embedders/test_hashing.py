"""The hashing embedder."""

from memory_bank.base.settings import Settings
from memory_bank.search.models.vectors import np
from tests.search.embedders import hashing


def test_vectors_never_change() -> None:
    """Tests may pin figures on it: these places hold "cat" on every machine."""
    row = hashing.load(Settings()).embed(["cat"])[0]
    assert {int(place): round(float(row[place]), 3) for place in np.flatnonzero(row)} == {
        15: -0.5,
        100: 0.5,
        104: 0.5,
        110: 0.5,
    }


def test_words_in_any_order_and_case_are_equal() -> None:
    """It counts words."""
    rows = hashing.load(Settings()).embed(["the cat sat", "SAT, the CAT!"])
    assert np.array_equal(rows[0], rows[1])


def test_a_misspelt_word_is_near() -> None:
    """Trigrams are shared."""
    rows = hashing.load(Settings()).embed(["reconnecting", "reconecting", "zebra"])
    assert rows[0] @ rows[1] > 0.5
    assert rows[0] @ rows[1] > rows[0] @ rows[2] + 0.3
