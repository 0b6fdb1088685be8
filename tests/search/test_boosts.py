"""What time and use make of a score."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_bank.base.setting_sections import Memory
from memory_bank.search import ranking
from memory_bank.search.retrievers.base import NEVER, Access

DAY = 86400.0
NOW = 1_800_000_000.0
SETTINGS = Memory()


def opened(times: int, last: float) -> Access:
    return Access(0, 0.0, times, last)


def test_to_be_returned_boosts_only_where_the_settings_say_so() -> None:
    listed = Access(50, NOW)
    assert ranking.access_boost(SETTINGS, listed, NOW) == 1.0
    assert ranking.access_boost(SETTINGS._replace(boost_by="returned"), listed, NOW) > 1.1


def test_a_note_never_accessed_keeps_its_score() -> None:
    assert ranking.access_boost(SETTINGS, NEVER, NOW) == 1.0


def test_the_boost_of_an_access_fades_in_thirty_days() -> None:
    fresh, old = (
        ranking.access_boost(SETTINGS, opened(1, NOW - age * DAY), NOW) for age in (0, 30)
    )
    assert fresh == pytest.approx(old + 0.1)
    assert old > 1.0


def test_a_hundred_accesses_reach_the_weight_of_the_count() -> None:
    found = ranking.access_boost(SETTINGS, opened(99, NOW - 365 * DAY), NOW)
    assert found == pytest.approx(1 + 0.05)


@pytest.mark.parametrize(("age", "boosted"), [(0, True), (6.9, True), (7.1, False), (-1, False)])
def test_a_young_note_is_boosted(age: float, boosted: bool) -> None:
    factor = ranking.recency_boost(SETTINGS, NOW - age * DAY, NOW)
    assert factor == (SETTINGS.recency_boost_factor if boosted else 1.0)


@given(count=st.integers(0, 10**6), age=st.floats(-10, 1000), young=st.floats(-10, 30))
def test_no_boost_is_above_the_most(count: int, age: float, young: float) -> None:
    accessed = ranking.access_boost(SETTINGS, opened(count, NOW - age * DAY), NOW)
    assert accessed * ranking.recency_boost(
        SETTINGS, NOW - young * DAY, NOW
    ) <= ranking.upper_bound(SETTINGS)
