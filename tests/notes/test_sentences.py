import pytest

from memory_bank.notes.sections import sentence_around, sentence_below


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("# A\n\nOne is here. Two.\n", "One is here."),
        ("# A\n## B\n- one\n  goes on\n\nTwo.", "one goes on"),
        ("# Only a heading\n", "Only a heading"),
        ("Version 1.2 is out. Two.", "Version 1.2 is out."),
        ("", ""),
    ],
)
def test_the_first_sentence_is_below_the_headings(text: str, sentence: str) -> None:
    assert sentence_below(text) == sentence


@pytest.mark.parametrize(
    ("before", "after", "sentence"),
    [
        ("Old text. It calls", "three times! More.", "It calls x three times!"),
        ("- it calls", "three times", "it calls x three times"),
        ("See", ". More.", ""),
        ("", "", ""),
    ],
)
def test_the_sentence_around_a_link(before: str, after: str, sentence: str) -> None:
    assert sentence_around(before, "x", after) == sentence
