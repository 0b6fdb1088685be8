"""Times in words. Now is Friday, 8 May 2026, noon."""

from contextlib import suppress
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_bank.base.errors import BadInput
from memory_bank.search.times import parse_moment, parse_period

NOW = datetime(2026, 5, 8, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("7d", "2026-05-01T12:00:00+00:00"),
        ("3 months", "2026-02-07T12:00:00+00:00"),
        ("1741064767", "2025-03-04T05:06:07+00:00"),
        ("1741064767000", "2025-03-04T05:06:07+00:00"),
        ("20250304", "2025-03-04T00:00:00+00:00"),
        ("2025-03-04T05:06:07+02:00", "2025-03-04T05:06:07+02:00"),
    ],
)
def test_moments(text: str, wanted: str) -> None:
    assert parse_moment(text, NOW).isoformat() == wanted


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("today", "2026-05-08", "2026-05-09"),
        ("yesterday", "2026-05-07", "2026-05-08"),
        ("friday", "2026-05-08", "2026-05-09"),
        ("last Friday", "2026-05-01", "2026-05-02"),
        ("monday", "2026-05-04", "2026-05-05"),
        ("last mon", "2026-05-04", "2026-05-05"),
        ("last week", "2026-04-27", "2026-05-04"),
        ("last month", "2026-04-01", "2026-05-01"),
        ("october", "2025-10-01", "2025-11-01"),
        ("Oct 2024", "2024-10-01", "2024-11-01"),
        ("may", "2026-05-01", "2026-06-01"),
        ("last may", "2025-05-01", "2025-06-01"),
        ("2025", "2025-01-01", "2026-01-01"),
        ("2025-12", "2025-12-01", "2026-01-01"),
        ("2025-12-31", "2025-12-31", "2026-01-01"),
    ],
)
def test_periods(text: str, start: str, end: str) -> None:
    found = parse_period(text, NOW)
    assert found.end is not None
    assert (found.start.isoformat(), found.end.isoformat()) == (
        f"{start}T00:00:00+00:00", f"{end}T00:00:00+00:00",
    )  # fmt: skip


@pytest.mark.parametrize(
    "text",
    ["", "in", "soon", "last", "ma", "in 3 days", "Q3", "two weeks ago", "this week", "october 0000", "2025-13", "7 parsecs",
     "99999999999d", "9999-12", "last last week"],
)  # fmt: skip
def test_what_is_no_time_says_how_to_write_one(text: str) -> None:
    with pytest.raises(BadInput, match="is no time"):
        parse_period(text, NOW)


@given(st.text("last in 1 may 3 days week month", max_size=20))
def test_any_text_is_a_time_or_refused(text: str) -> None:
    with suppress(BadInput):
        parse_period(text, NOW)
