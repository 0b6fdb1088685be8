"""A section is split into claims."""

from hypothesis import given
from hypothesis import strategies as st

from memory_bank.notes.section_changes import split_claims

LINES = [
    "# Heading", "One sentence. Another one.", "- an item", "  more of it", "1. first", "| a | b |",
    "|---|---|", "```py", "```", "~~~~", "    indented", "", "  ", "> quoted. Twice.", "Title", "===",
    "索引は小さい。速い。", "see e.g. this", "What? (Yes!) No",
]  # fmt: skip
texts = st.lists(st.sampled_from(LINES), max_size=12).flatmap(
    lambda lines: st.sampled_from(["\n", "\r\n", "\r"]).map(lambda end: end.join(lines))
)


@given(text=texts | st.text(max_size=60), heading=st.booleans())
def test_the_claims_joined_are_the_text(text: str, *, heading: bool) -> None:
    assert "".join(claim.text for claim in split_claims(text, heading=heading)) == text


def test_sentences_items_rows_and_lines_of_code_are_claims() -> None:
    text = (
        "# Heading\n\nOne sentence. Another one,\nof two lines (see e.g. this). Third.\n\n- an item."
        " Still it.\n  And this\n1. first\n\n| a | b |\n|---|---|\n```py\nx = 1. + y\n- no item\n```\n"
        "End\n"
    )
    found = [
        (claim.row, " ".join(claim.text.split()), claim.kind)
        for claim in split_claims(text, heading=True)
    ]
    assert found == [
        (0, "# Heading", "heading"),
        (2, "One sentence.", "prose"),
        (2, "Another one, of two lines (see e.g. this).", "prose"),
        (3, "Third.", "prose"),
        (5, "- an item. Still it. And this", "prose"),
        (7, "1. first", "prose"),
        (9, "| a | b |", "prose"),
        (10, "|---|---|", "prose"),
        (11, "```py", "code"),
        (12, "x = 1. + y", "code"),
        (13, "- no item", "code"),
        (14, "```", "code"),
        (15, "End", "prose"),
    ]


def test_an_underlined_heading_is_one_claim() -> None:
    found = split_claims("Two\nlines\n=====\nText.\n", heading=True)
    assert [claim.text for claim in found] == ["Two\nlines\n=====\n", "Text.\n"]
