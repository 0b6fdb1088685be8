"""Hold what is found on real collections, and how fast."""

from pathlib import Path

import pytest

from tests.benchmarks import collections, short


@pytest.mark.skipif(
    not collections.SHARED.is_dir(), reason=f"no shared data at {collections.SHARED}"
)
@pytest.mark.slow
@pytest.mark.parametrize("name", short.NAMES)
def test_nothing_falls_by_more_than_two_points(name: str, tmp_path: Path) -> None:
    assert short.falls(name, short.scores(name, tmp_path)) == []


def test_a_ratio_of_times_that_grows_by_a_third_is_told() -> None:
    before = short.recorded(short.SPEED)
    assert short.slower({work: ratio * 1.3 for work, ratio in before.items()}) == []
    assert (
        len(short.slower({work: ratio * 1.4 for work, ratio in before.items()})) == len(before) > 5
    )
    assert len(short.slower({"a row that nobody recorded": 1.0})) == 1
    for name in ("notes-1000", "own", "real"):
        assert f"{name}: warm lexical recall, p50" in before


def test_a_ratio_that_grew_fails_only_if_it_grew_twice() -> None:
    row, ratio = next(iter(short.recorded(short.SPEED).items()))
    busy, usual, lost = {row: 1.5 * ratio}, {row: ratio}, {row: 5 * ratio}
    assert short.slower(busy)
    assert not short.slower(short.best_of(busy, usual))
    assert short.slower(short.best_of(lost, lost))
