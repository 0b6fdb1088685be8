"""Reciprocal ranks."""

import pytest

from memory_bank.search.ranking import fuse_ranks
from memory_bank.search.retrievers.base import Match, Matches


def ranked(*rows: int) -> Matches:
    return Matches.of(Match(row, row * 10, 1.0) for row in rows)


def test_the_first_of_every_list_has_all() -> None:
    ranking = fuse_ranks({"a": ranked(1, 2, 3), "b": ranked(1, 3)})
    assert ranking.scores[1] == pytest.approx(1.0)
    assert ranking.owner == {1: 10, 2: 20, 3: 30}


def test_a_score_is_the_sum_of_one_over_k_and_rank() -> None:
    ranking = fuse_ranks({"a": ranked(1, 2), "b": ranked(2)})
    assert ranking.scores[2] == pytest.approx((61 / 62 + 61 / 61) / 2)
    reasons = {reason.source: reason for reason in ranking.reasons(2)}
    assert reasons["a"].detail == "rank 2"
    assert sum(reason.score for reason in reasons.values()) == pytest.approx(ranking.scores[2])


def test_an_empty_list_counts_for_nothing() -> None:
    assert fuse_ranks({"a": ranked(1), "b": ranked()}).scores == {1: 1.0}
    assert fuse_ranks({}).scores == {}
