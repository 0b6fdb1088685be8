"""Hold what three layers cost: a part of the benchmark, for the suite."""

from pathlib import Path

import pytest

from tests.benchmarks import collections, sessions


@pytest.mark.skipif(not collections.SHARED.is_dir(), reason="no shared data")
@pytest.mark.slow
def test_three_layers_read_the_same_evidence_for_fewer_tokens(tmp_path: Path) -> None:
    found = sessions.tokens(tmp_path, ["conv-30"], most=15)
    share, spent = found["three layers, 5 rows"]
    assert share > 0.5
    assert found["hits whole, 5 rows"][0] == share
    assert found["hits whole, 5 rows"][1] > 2.5 * spent


@pytest.mark.slow
def test_search_and_timeline_answer_about_as_fast_as_recall(tmp_path: Path) -> None:
    found = sessions.speed(tmp_path, 200, questions=15)
    assert found.search < 4 * found.recall
    assert found.timeline < 2 * found.recall
