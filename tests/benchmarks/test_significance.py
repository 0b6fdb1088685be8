"""The sign test against values worked out by hand."""

from __future__ import annotations

import pytest

from tests.benchmarks.evaluation import significance


def test_pairs_are_counted_and_rounding_is_no_win() -> None:
    found = significance.paired([0.1, 0.5, 0.3, 0.2], [0.1 + 1e-12, 0.6, 0.2, 0.9])
    assert (found.better, found.worse, found.same) == (2, 1, 1)
    assert found.difference == pytest.approx(0.175)
    with pytest.raises(ValueError, match=r"shorter|longer"):
        significance.paired([1.0], [])


@pytest.mark.parametrize(
    ("better", "worse", "p"),
    [(0, 0, 1), (1, 0, 1), (5, 0, 0.0625), (8, 1, 0.0390625), (3, 3, 1), (10, 2, 158 / 4096)],
)
def test_the_sign_test_by_hand(better: int, worse: int, p: float) -> None:
    assert significance.sign_test(better, worse) == pytest.approx(p)
    assert significance.sign_test(worse, better) == pytest.approx(p)
