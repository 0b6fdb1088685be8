import pytest

from memory_bank.search.query import (
    WrittenCondition,
    can_be_written,
    with_condition,
    without,
    without_condition,
    written,
)


def test_conditions_are_found_where_they_stand() -> None:
    text = 'how tags:a -type:fact "tag:b" http://x since:soon after:7d'
    found = written(text)
    assert [(one.key, one.value, one.negated) for one in found] == [
        ("tag", "a", False),
        ("type", "fact", True),
        ("since", "7d", False),
    ]
    assert [text[one.start : one.end] for one in found] == ["tags:a", "-type:fact", "after:7d"]
    assert written("repo:x") == ()
    assert written("repo:x", ["repo"])[0].key == "repo"


@pytest.mark.parametrize(
    ("before", "key", "value", "after"),
    [
        ("", "type", "fact", "type:fact"),
        ("why  so ", "tag", "a", "why  so tag:a"),
        ("tag:a why", "tag", "b", "tag:a why tag:b"),
        ("type:fact why", "type", "decision", "type:fact,decision why"),
        ("-type:fact why", "type", "decision", "-type:fact why type:decision"),
        ("since:30d why", "since", "7d", "why since:7d"),
        ("type:Fact", "type", "fact", "type:Fact"),
        ("why", "tag", "two words", 'why tag:"two words"'),
        ("why", "tag", "it's", 'why tag:"it\'s"'),
    ],
)
def test_a_condition_is_added(before: str, key: str, value: str, after: str) -> None:
    assert with_condition(before, key, value) == after
    added = [one for one in written(after) if one.key == key and not one.negated]
    assert value.casefold() in [one.casefold() for found in added for one in found.values]


@pytest.mark.parametrize(
    ("before", "key", "value", "after"),
    [
        ("type:fact why", "type", "fact", "why"),
        ("a type:fact,decision why", "type", "fact", "a type:decision why"),
        ("a tag:b tag:c tags:B d", "tag", "b", "a tag:c d"),
        ("-type:fact why", "type", "fact", "-type:fact why"),
        ('why tag:"two words"', "tag", "two words", "why"),
        ("why type:fact", "type", "other", "why type:fact"),
    ],
)
def test_a_value_is_removed(before: str, key: str, value: str, after: str) -> None:
    assert without_condition(before, key, value) == after


def test_a_negated_condition_is_removed_as_a_whole() -> None:
    text = "why -type:fact,decision not"
    assert without(text, written(text)[0]) == "why not"


def test_values_with_signs_of_the_language_can_not_be_written() -> None:
    assert [can_be_written(one) for one in ("a", "a b", 'a"b', "a,b", " ")] == [
        *(True, True, False, False, False)
    ]
    assert WrittenCondition("tag", "a,b", False, 0, 1).values == ["a", "b"]
