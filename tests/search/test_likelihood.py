"""The likelihood that a hit answers."""

from hypothesis import given
from hypothesis import strategies as st

from memory_bank.search.candidates import Asked, Candidate, judge
from memory_bank.search.ranking import LEAST, STRONG, estimate_likelihood
from memory_bank.search.retrievers.base import Ranking

PASSAGES = 500
"""Number of passages of a usual bank."""

RANKING = Ranking({1: 1, 2: 2}, {1: 0.5, 2: 0.2}, {1: 0.5, 2: 0.2}, lambda _: [])


@given(
    st.floats(0, 3),
    st.floats(0, 3),
    st.integers(0, 64),
    st.integers(0, 10**6),
    st.booleans(),
    st.booleans(),
)
def test_more_of_a_perfect_match_is_never_less_likely(
    share: float, more: float, words: int, passages: int, first: bool, by_words: bool
) -> None:
    low, high = (
        estimate_likelihood(share, words, passages, first=first, by_words=by_words)
        for share in sorted((share, more))
    )
    assert 0 < low <= high <= 1


@given(st.floats(0, 2), st.integers(0, 64), st.integers(0, 10**6), st.booleans())
def test_the_first_hit_is_likelier_than_one_that_matches_as_well(
    share: float, words: int, passages: int, by_words: bool
) -> None:
    first, second = (
        estimate_likelihood(share, words, passages, first=first, by_words=by_words)
        for first in (True, False)
    )
    assert first > second


def test_nothing_in_common_is_weak_and_all_in_common_is_not() -> None:
    for words in (2, 5, 10):
        for first in (True, False):
            least = estimate_likelihood(0.1 / words, words, PASSAGES, first=first, by_words=True)
            assert least < STRONG
        assert estimate_likelihood(1.0, words, PASSAGES, first=True, by_words=True) > STRONG
    assert estimate_likelihood(0.0, 1, PASSAGES, first=False, by_words=True) < LEAST


def test_half_of_ten_words_is_surer_than_half_of_two() -> None:
    ten, two = (
        estimate_likelihood(0.5, words, PASSAGES, first=True, by_words=True) for words in (10, 2)
    )
    assert ten > two


def test_the_best_of_many_passages_is_less_sure_than_that_of_few() -> None:
    few, many = (
        estimate_likelihood(0.7, 5, passages, first=True, by_words=True) for passages in (5, 5000)
    )
    assert few > many


def test_the_first_hit_is_the_most_relevant_one_where_ranks_decide() -> None:
    relevant, ranked = Candidate(1, 1, 0.1), Candidate(2, 2, 0.9)
    judge([relevant, ranked], RANKING, Asked(5, PASSAGES, by_words=True))
    assert relevant.likelihood == estimate_likelihood(0.5, 5, PASSAGES, first=True, by_words=True)
    assert ranked.likelihood == estimate_likelihood(0.2, 5, PASSAGES, first=False, by_words=True)


def test_age_and_use_move_a_note_but_say_nothing_of_what_it_answers() -> None:
    old, new = Candidate(1, 1, 0.5), Candidate(2, 2, 0.2)
    judge([old, new], RANKING, Asked(5, PASSAGES, by_words=True))
    before = new.likelihood
    new.boost("recency", "boost", 1.2, timely=True)
    judge([old, new], RANKING, Asked(5, PASSAGES, by_words=True))
    assert new.likelihood == before
    assert new.score == 0.24


def test_an_unlikely_hit_is_shown_for_a_word_of_the_question_alone() -> None:
    one = Candidate(1, 1, 0.1)
    one.worded = True
    assert one.shown
    one.worded = False
    assert not one.shown
