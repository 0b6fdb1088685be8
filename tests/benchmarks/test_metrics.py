"""Measures against values worked out by hand, and against a formula written another way."""

from math import isclose, log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.benchmarks.evaluation import measures

NAMES = st.sampled_from("abcdefghijklmnop")
ANSWERS = st.lists(NAMES, unique=True, max_size=14)
GRADES = st.dictionaries(NAMES, st.integers(0, 3), min_size=1)


def test_recall_is_the_share_of_what_is_relevant() -> None:
    grades = {"a": 1, "b": 2, "c": 1, "unjudged": 0}
    assert measures.recall_at(["x", "a", "b"], grades, 1) == 0
    assert measures.recall_at(["x", "a", "b"], grades, 2) == pytest.approx(1 / 3)
    assert measures.recall_at(["x", "a", "b"], grades, 5) == pytest.approx(2 / 3)
    assert measures.recall_at(["unjudged"], grades, 5) == 0


def test_ndcg_by_hand_with_grades() -> None:
    # gains 3, 0, 2 at ranks 1 to 3: 3/1 + 0 + 2/2 = 4; at best 3, 2, 1: 3 + 2/log2(3) + 1/2
    found = measures.ndcg_at(["a", "x", "b"], {"a": 3, "b": 2, "c": 1}, 10)
    assert found == pytest.approx(4 / (3 + 2 / 1.5849625 + 0.5))


def test_reciprocal_rank_takes_the_first() -> None:
    assert measures.reciprocal_rank(["x", "y", "b", "a"], {"a": 2, "b": 1}) == pytest.approx(1 / 3)
    assert measures.reciprocal_rank(["x"], {"a": 1}) == 0


@given(ANSWERS, GRADES)
def test_ndcg_equals_the_sum_of_what_each_rank_adds(
    found: list[str], grades: dict[str, int]
) -> None:
    def worth(order: list[str]) -> float:
        return sum(
            grades.get(name, 0) * log(2) / log(place + 2) for place, name in enumerate(order)
        )

    best = worth(sorted(grades, key=lambda name: -grades[name])[:10])
    expected = worth(found[:10]) / best if best else 0
    assert isclose(measures.ndcg_at(found, grades, 10), expected, abs_tol=1e-12)


@given(ANSWERS, GRADES)
def test_every_measure_is_a_share_and_best_for_the_best_order(
    found: list[str], grades: dict[str, int]
) -> None:
    relevant = sorted((n for n in grades if grades[n]), key=lambda name: -grades[name])
    ours, best = measures.measure(found, grades), measures.measure(relevant, grades)
    assert list(ours) == list(measures.NAMES)
    assert all(0 <= ours[name] <= best[name] + 1e-12 <= 1 + 2e-12 for name in ours)


def test_the_mean_gives_every_answer_the_same_weight() -> None:
    answers = [measures.measure(["a"], {"a": 1}), measures.measure(["x"], {"a": 1, "b": 1})]
    assert measures.mean(answers)["recall@5"] == 0.5
    assert measures.mean([]) == dict.fromkeys(measures.NAMES, 0.0)
