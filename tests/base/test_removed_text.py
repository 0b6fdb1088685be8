"""A text is found in the forms in which notes, JSON and databases have it, and nothing else is."""

import json
from unicodedata import normalize

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_bank.base.removed_text import RemovedText
from memory_bank.sessions.note_text import escape_heading, escape_markdown

WORDS = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1)


def solid(text: str) -> bool:
    return sum(char.isalnum() for char in text) > 3


@pytest.mark.parametrize(
    ("text", "before", "after"),
    [
        (
            "Jane Doe",
            "Ask Jane Doe, jane doe, Jane  Doe.",
            "Ask [forgotten], jane doe, [forgotten].",
        ),
        ("Jane Doe", "Ask Jane\n  Doe.", "Ask [forgotten]."),
        ("Jane Doe", "Ask Jane\n\nDoe.", "Ask Jane\n\nDoe."),
        ("one\n\ntwo", "one\n \ntwo", "[forgotten]"),
        ("a_b c#d", r"a\_b c\#d", "[forgotten]"),
        ("name", "[name](x) [[name]] [[a|name]]", "[forgotten](x) [[forgotten]] [[a|forgotten]]"),
        ("Jörg", "J\\u00f6rg J\\xf6rg J\\u00F6rg", "[forgotten] [forgotten] [forgotten]"),
        ("Jörg", normalize("NFD", "Jörg"), "[forgotten]"),
        (normalize("NFD", "Jörg"), "Jörg", "[forgotten]"),
        ("🦓 team", "\\ud83e\\udd93 team \\U0001f993 team", "[forgotten] [forgotten]"),
        ("it's", "'it''s' it's", "'[forgotten]' [forgotten]"),
        (r"C:\temp", r"C:\temp C:\\temp", "[forgotten] [forgotten]"),
        ("abcd", "xabcdx", "x[forgotten]x"),
    ],
)
def test_a_text_is_replaced_in_its_forms(text: str, before: str, after: str) -> None:
    assert RemovedText(text).replaced(before) == after


def test_front_matter_gets_no_brackets() -> None:
    assert RemovedText("Jane").replaced("title: Jane", bare=True) == "title: forgotten"


def test_json_stays_json() -> None:
    removed = RemovedText('say "no"')
    given = json.dumps({"a": ['say "no"'], 'say "no"': json.dumps({"b": 'say "no" twice'})})
    assert json.loads(removed.replaced_in_json(given)) == {
        "a": ["[forgotten]"],
        "[forgotten]": '{"b": "[forgotten] twice"}',
    }
    assert removed.replaced_in_json('{ "other":  1 }') == '{ "other":  1 }'
    assert removed.replaced_in_json('[no JSON] say "no"') == "[no JSON] [forgotten]"


@settings(deadline=None)
@given(WORDS.filter(solid), WORDS, WORDS)
def test_nothing_of_a_text_is_left(text: str, before: str, after: str) -> None:
    removed = RemovedText(text)
    whole = f"{before}\n\n{text}\n\n{after}"
    for written in (
        whole,
        escape_markdown(whole),
        escape_heading(whole),
        json.dumps(json.dumps(whole)),
    ):
        if removed.count("forgotten"):
            continue
        assert removed.count(written) >= 1
        left = removed.replaced(written)
        assert removed.text not in left
        assert not any(form in left.encode() for form in removed.bytes)


def test_a_long_run_of_backslashes_and_blanks_takes_no_time() -> None:
    removed = RemovedText('"a b" "c d"')
    assert removed.count("\\" * 300_000 + '"a' + " " * 300_000) == 0
