"""The form of a note keeps every character that was not edited."""

from hypothesis import given, settings
from hypothesis import strategies as st

from memory_bank.frontends.web.note_fields import (
    join_lines,
    merge_edited,
    read_fields,
    rewrite_fields,
)

LINES = st.sampled_from(
    ["", "a word", "and more of it", "- item", "  indented", "# Heading", "x:: [[y]]", "| a | b |",
     "|---|---|", "```", "> quote", "hard  ", "1. one", "---", "end ^id", "\\"]
)  # fmt: skip
TEXTS = st.lists(LINES, max_size=12).map("\n".join)


@settings(deadline=None)
@given(TEXTS)
def test_what_is_shown_has_the_same_length_and_unedited_text_stays(text: str) -> None:
    assert len(join_lines(text)) == len(text)
    assert merge_edited(text, join_lines(text)) == text


@settings(deadline=None)
@given(TEXTS, TEXTS, st.integers(0, 80), st.integers(0, 20))
def test_an_edit_is_what_one_sees_afterwards(text: str, new: str, at: int, length: int) -> None:
    before = join_lines(text)
    edited = before[:at] + new + before[at + length :]
    found = merge_edited(text, edited)
    assert join_lines(found) == edited or found == edited


@settings(deadline=None)
@given(TEXTS)
def test_a_note_with_unchanged_fields_is_unchanged(body: str) -> None:
    text = f"---\ntags: [a,  b]  # ours\n---\n\n# Title #\n\n{body}\n"
    fields = read_fields(text)
    assert fields is not None
    assert rewrite_fields(text, fields) == text
