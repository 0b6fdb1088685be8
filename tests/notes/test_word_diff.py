"""Two texts are compared by words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_bank.notes.note_change import MAX_CHARACTERS, TextSpan, diff_texts

words = st.lists(
    st.sampled_from(
        ["the ", "index ", "is ", "small", ", ", "\n", "über ", "索引", "a.b ", "  ", "é"]
    ),
    max_size=30,
).map("".join) | st.text(max_size=40)


def marked(spans: tuple[TextSpan, ...]) -> str:
    """Write spans as `git diff --word-diff` does."""
    forms = {"equal": "{}", "insert": "{{+{}+}}", "delete": "[-{}-]"}
    return "".join(forms[span.kind].format(span.text) for span in spans)


@given(before=words, after=words)
def test_applying_the_diff_gives_the_text_after(before: str, after: str) -> None:
    spans = diff_texts(before, after)
    assert "".join(span.text for span in spans if span.kind != "delete") == after
    kept = "".join(span.text for span in spans if span.kind != "insert")
    assert "".join(kept.split()) == "".join(before.split())


@given(text=words)
def test_no_change_gives_no_change(text: str) -> None:
    assert all(span.kind == "equal" for span in diff_texts(text, text))


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        ("It is fast.", "It is very fast.", "It is{+ very+} fast."),
        ("see src/x.py", "see src/y.py", "see [-src/x.py-]{+src/y.py+}"),
        ("one two", "one\n  two", "one\n  two"),
        ("索引は小さい", "索引は大きい", "索引は[-小さ-]{+大き+}い"),
        (
            "We chose Whoosh for its size and speed.",
            "Everybody prefers Tantivy for much greater comfort and speed.",
            (
                "[-We chose Whoosh for its size-]{+Everybody prefers Tantivy for much greater comfort+}"
                " and speed."
            ),
        ),
    ],
)
def test_the_diff_is_readable(before: str, after: str, shown: str) -> None:
    assert marked(diff_texts(before, after)) == shown


def test_very_long_texts_replace_each_other() -> None:
    before, after = "a " * MAX_CHARACTERS, "b a " * MAX_CHARACTERS
    assert diff_texts(before, after) == (TextSpan("delete", before), TextSpan("insert", after))
