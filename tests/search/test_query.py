"""The query language."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_bank.search.manifest.filters import Condition
from memory_bank.search.query import (
    Query,
    lifted_remark,
    list_conditions,
    nothing_within,
    parse,
    restriction_remark,
)

NOW = datetime(2026, 5, 8, 12, 0, tzinfo=UTC)


def test_conditions_are_taken_out_of_the_words() -> None:
    found = parse("tag:search why -type:plan in:decisions tantivy", now=NOW)
    assert found.question.text == "why tantivy"
    assert found.conditions == (
        Condition("tag", "search"),
        Condition("type", "plan", negated=True),
        Condition("in", "decisions"),
    )


@pytest.mark.parametrize("text", ["TODO: fix it", "at 10:30", "https://example.org/a", "a:b c"])
def test_what_looks_like_a_condition_but_is_none_is_words(text: str) -> None:
    found = parse(text, now=NOW)
    assert found.question.text == text
    assert found.conditions == ()


def test_the_banks_own_fields_are_conditions() -> None:
    assert parse("owner:ann lock", {"owner"}).conditions == (Condition("owner", "ann"),)
    assert parse("owner:ann lock").question.text == "owner:ann lock"


def test_quotes_insist_in_a_short_query_and_prefer_in_a_sentence() -> None:
    short = parse('"write lock" folder').question
    assert (short.required, short.preferred) == (("write lock",), ())
    long = parse('why did we put the "write lock" on the folder itself').question
    assert (long.required, long.preferred) == ((), ("write lock",))


def test_a_minus_excludes_a_word_or_a_phrase() -> None:
    found = parse('lock -windows -"open file" re-use').question
    assert found.excluded == ("windows", "open file")
    assert found.text == "lock re-use"
    assert found.strict


@given(st.text(max_size=80))
def test_any_text_is_a_query(text: str) -> None:
    parse(text)


def test_parameters_are_conditions_too() -> None:
    found = list_conditions(tags=["#Search"], types="plan", since="2025", before=NOW)
    assert [item.key for item in found] == ["tag", "type", "since", "before"]
    assert found[0].value == "search"


def test_words_of_time_are_conditions_unless_the_query_has_some() -> None:
    found = parse('what broke "last week" in the lock yesterday?', now=NOW)
    assert found.question.text == "what broke last week in the lock ?"
    assert found.conditions == (Condition("since", NOW.replace(day=7, hour=0)),)
    assert found.times is not None
    assert found.times.words == "yesterday"
    for text in ("what broke yesterday since:2d", 'what broke "yesterday"'):
        assert parse(text, now=NOW).times is None
    assert parse(Query("what broke yesterday", reads_times=False), now=NOW).conditions == ()


def test_what_looks_like_a_condition_is_kept_apart() -> None:
    assert [key for key, _ in parse("tpye:plan since:soon http://x.y").unread] == [
        "tpye", "since", "http",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("times", "remark"),
    [
        ({"since": "7d"}, "no note in the last 7 days"),
        ({"since": "24h"}, "no note in the last 24 hours"),
        ({"since": "2026-05-08"}, "no note since 2026-05-08"),
        ({"since": "2025-01-01", "before": "2025-02-01"},
         "no note since 2025-01-01 and before 2025-02-01"),
    ],
)  # fmt: skip
def test_a_time_without_notes_is_said_in_words(times: dict[str, str], remark: str) -> None:
    assert nothing_within(list_conditions(tags=["tag"], **times)) == (remark,)


@pytest.mark.parametrize(
    ("question", "remark"),
    [
        ("what broke last week?", "from last week (since 2026-04-27)"),
        ("Yesterday, what broke", "from yesterday (since 2026-05-07)"),
        ("what broke since yesterday", "since yesterday (since 2026-05-07)"),
        ("Since March, what broke", "since March (since 2026-03-01)"),
        ("bugs before 2025-02", "before 2025-02 (before 2025-02-01)"),
    ],
)
def test_a_period_is_said_in_the_words_of_the_question(question: str, remark: str) -> None:
    times = parse(question, now=NOW).times
    assert times is not None
    assert restriction_remark(times) == f"only notes {remark}"
    assert lifted_remark(times).startswith(f"no note {remark} answers this")
