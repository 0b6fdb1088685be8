"""The likelihood that a hit answers."""

from hypothesis import given
from hypothesis import strategies as st

from memory_bank.search.candidates import Candidate, judge
from memory_bank.search.ranking import LEAST, STRONG, STRONG_FURTHER, likelihood
from memory_bank.search.retrievers.base import Ranking


@given(st.floats(0, 3), st.floats(0, 3), st.integers(0, 64), st.booleans(), st.booleans())
def test_more_of_a_perfect_match_is_never_less_likely(
    one: float, other: float, count: int, first: bool, by_words: bool
) -> None:
    low, high = sorted((one, other))
    found = [likelihood(one, count, first=first, by_words=by_words) for one in (low, high)]
    assert 0 < found[0] <= found[1] <= 1


@given(st.floats(0, 3), st.integers(0, 64), st.booleans())
def test_the_first_hit_is_likelier_than_one_that_matches_as_well(
    share: float, count: int, by_words: bool
) -> None:
    first, other = (likelihood(share, count, first=one, by_words=by_words) for one in (True, False))
    assert first > other


def test_nothing_in_common_is_left_out_and_all_in_common_is_strong() -> None:
    for first, strong in ((True, STRONG), (False, STRONG_FURTHER)):
        for count in (1, 2, 5, 10):
            assert likelihood(0.1 / count, count, first=first, by_words=True) < strong
            assert likelihood(1.0, count, first=first, by_words=True) > strong
    assert likelihood(0.0, 1, first=False, by_words=True) < LEAST


def test_half_of_ten_words_is_surer_than_half_of_two() -> None:
    ten, two = (likelihood(0.5, count, first=True, by_words=True) for count in (10, 2))
    assert ten > two


def test_the_first_hit_is_the_most_relevant_one_where_ranks_decide() -> None:
    relevant, ranked = Candidate(1, 1, 0.1), Candidate(2, 2, 0.9)
    ranking = Ranking({1: 1, 2: 2}, {1: 0.1, 2: 0.9}, {1: 0.5, 2: 0.2}, lambda _: [])
    judge([relevant, ranked], ranking, 5, by_words=True)
    assert relevant.likelihood == likelihood(0.5, 5, first=True, by_words=True)
    assert ranked.likelihood == likelihood(0.2, 5, first=False, by_words=True)


def test_an_unlikely_hit_is_shown_for_a_word_of_the_question_alone() -> None:
    one = Candidate(1, 1, 0.1)
    one.worded = True
    assert one.shown
    one.worded = False
    assert not one.shown
