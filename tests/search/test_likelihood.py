"""The likelihood that a hit answers."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memory_bank.search.ranking import LEAST, STRONG, likelihood


@given(st.floats(0, 3), st.floats(0, 3), st.integers(0, 64), st.booleans())
def test_more_of_a_perfect_match_is_never_less_likely(
    one: float, other: float, count: int, by_words: bool
) -> None:
    low, high = sorted((one, other))
    found = [likelihood(share, count, by_words=by_words) for share in (low, high)]
    assert 0 < found[0] <= found[1] <= 1


def test_nothing_in_common_is_left_out_and_all_in_common_is_strong() -> None:
    for count in (1, 2, 5, 10):
        assert likelihood(0.1 / count, count, by_words=True) < STRONG
        assert likelihood(1.0, count, by_words=True) > STRONG
    assert likelihood(0.0, 1, by_words=True) < LEAST


def test_half_of_ten_words_is_surer_than_half_of_two() -> None:
    assert likelihood(0.5, 10, by_words=True) > likelihood(0.5, 2, by_words=True)
