"""Words of time in questions. Now is Sunday, 22 November 2026."""

from datetime import UTC, datetime

import pytest

from memory_bank.search.times import drop_times, find, is_subjectless

NOW = datetime(2026, 11, 22, 12, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "words", "since", "before"),
    [
        ("what did we decide last week?", "last week", "2026-11-09", ""),
        ("Last week we chose what?", "Last week", "2026-11-09", ""),
        ("what broke yesterday", "yesterday", "2026-11-21", ""),
        ("locks since 7d", "since 7d", "2026-11-15", ""),
        ("Notes since Monday", "since Monday", "2026-11-16", ""),
        ("notes since october", "since october", "2026-10-01", ""),
        ("retry in October 2026", "in October 2026", "2026-10-01", "2026-11-01"),
        ("retries in May", "in May", "2026-05-01", "2026-06-01"),
        ("notes from last month", "from last month", "2026-10-01", "2026-11-01"),
        ("decisions before 2026-10", "before 2026-10", "", "2026-10-01"),
    ],
)
def test_a_form_restricts(text: str, words: str, since: str, before: str) -> None:
    found = find(text, NOW)
    assert found is not None
    shown = [str(moment or "")[:10] for moment in (found.since, found.before)]
    assert (found.words, *shown) == (words, since, before)
    assert words not in drop_times(text, found)


@pytest.mark.parametrize(
    "text",
    [
        "last week",
        "yesterday",
        "what did we do this year",
        "what was decided in Q3, then",
        "locks added in the last 3 days",
        "locks two weeks ago",
        "the plan for this week",
        "the last week of the sprint",
        "last week's meeting",
        "last-week report",
        "in may cases",
        "which order in march order",
        "retry in 3 days",
        "what broke in May 21",
        "retry in the last 3 attempts",
        "deploys on friday",
        "how does it work today",
        "the song Yesterday by them",
        "Last Week Tonight show",
        "keep logs for the last 30 days",
        "open until yesterday",
        "due before october",
        "between october and november",
        "supported since 2024",
        "last commit since the api changed",
        "last week or this week",
        "what broke in 2026-13",
        "what broke 'last week'",
        "yesterday " + "word " * 40,
    ],
)
def test_parts_of_something_else_are_words(text: str) -> None:
    assert find(text, NOW) is None


def test_a_question_may_name_no_subject() -> None:
    assert is_subjectless("what did we decide ?")
    assert not is_subjectless("what did we decide about locks")
