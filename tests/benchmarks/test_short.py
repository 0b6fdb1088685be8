"""Hold what is found on real collections: no figure may fall by more than two points."""

from pathlib import Path

import pytest

from tests.benchmarks import collections, short

pytestmark = pytest.mark.skipif(
    not collections.SHARED.is_dir(), reason=f"no shared data at {collections.SHARED}"
)


@pytest.mark.slow
@pytest.mark.parametrize("name", short.NAMES)
def test_nothing_falls_by_more_than_two_points(name: str, tmp_path: Path) -> None:
    assert short.falls(name, short.scores(name, tmp_path)) == []
