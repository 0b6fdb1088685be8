"""Snippets."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_bank.search.snippets import matches, snippet, without_links

FILLER = "Nothing of note happened on that day and nobody wrote anything down. "


def test_a_short_text_is_shown_whole_without_its_heading() -> None:
    assert snippet("## Head\n\nOne  two\nthree.", "two") == "One two three."


def test_a_snippet_is_cut_where_the_words_are() -> None:
    text = FILLER * 10 + "The kestrel nests in the tower. " + FILLER * 10
    found = snippet(text, "Where does the kestrel nest?")
    assert "kestrel nests" in found
    assert found.startswith("… ")
    assert found.endswith(" …")
    assert len(found) < 260


def test_whole_words_win_over_beginnings_and_inflections_count_without_them() -> None:
    text = "An artist. " + FILLER * 8 + "The art of war. " + FILLER * 8
    assert "art of war" in snippet(text, "art")
    assert "artist" in snippet("x " + FILLER * 6 + "Two artists. " + FILLER * 6, "artistic")


def test_most_of_the_words_beat_the_first_of_them() -> None:
    text = "A lock. " + FILLER * 8 + "The lock on the folder is freed. " + FILLER * 8
    assert "freed" in snippet(text, "lock folder freed")


def test_without_any_of_the_words_the_beginning_is_shown() -> None:
    assert snippet(FILLER * 10, "xylograph").startswith("Nothing of note")


@given(st.text(max_size=2000), st.text(max_size=60))
def test_any_text_has_a_snippet_of_bounded_length(text: str, question: str) -> None:
    found = snippet(text, question)
    assert len(found) <= 240 + 4
    assert "\n" not in found


def test_words_with_a_common_stem_match() -> None:
    text = "Retries of a job, retried in findUserByEmail or max_retry; no retro."
    found = [text[start:end] for start, end in matches(text, "how is a user retried?")]
    assert found == ["Retries", "retried", "findUserByEmail", "retry"]


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("See [[decisions/queue]].", "See decisions/queue."),
        ("See [[decisions/queue|the queue]], ![[a.md#One|it]].", "See the queue, it."),
        ("A [perfect *match*](score.md#x) and ![alt](a.png)", "A perfect *match* and alt"),
        ("items[0](x) [ ] [[a]", "items0 [ ] [[a]"),
        ("[[ [[a]] ]] [[|b]] [[a|]]", "[[ a ]] b [[a|]]"),
    ],
)
def test_links_become_their_words(text: str, plain: str) -> None:
    assert without_links(text) == plain
