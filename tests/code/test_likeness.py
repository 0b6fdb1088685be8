import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_bank.code.coupled import MOST_CHARACTERS, MOST_WORDS, Similarity, file_words


def test_identifiers_are_split_into_words() -> None:
    words = file_words("", "retryCount HTTPServer read_file2 MAX_SIZE Größe 検索 x")
    assert set(words) == {
        "retry",
        "count",
        "http",
        "server",
        "read",
        "file",
        "max",
        "size",
        "größe",
        "検索",
    }


def test_the_path_counts_more_than_a_word_of_the_text() -> None:
    assert file_words("pay/card.py", "card bank") == {"card": 6, "pay": 5, "py": 5, "bank": 1}


def test_only_the_most_frequent_words_of_the_beginning_count() -> None:
    words = file_words(
        "",
        " ".join(f"word{chr(97 + n // 26)}{chr(97 + n % 26)} " for n in range(300)) + "often often",
    )
    assert len(words) == MOST_WORDS
    assert words["often"] == 2
    assert "late" not in file_words("", "x " * MOST_CHARACTERS + "late")


def test_the_same_text_in_the_same_words_is_fully_alike() -> None:
    likeness = Similarity({"a": {"x": 2, "y": 1}, "b": {"x": 2, "y": 1}, "c": {"z": 1}})
    assert likeness("a") == {"b": pytest.approx(1.0)}
    assert likeness("c") == likeness("unknown") == {}


@given(
    st.dictionaries(
        st.text(max_size=3),
        st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 9)),
        max_size=6,
    )
)
def test_likeness_is_the_same_in_both_directions(files: dict[str, dict[str, int]]) -> None:
    likeness = Similarity(files)
    for one in files:
        for other, value in likeness(one).items():
            assert 0 <= value <= 1
            assert likeness(other)[one] == pytest.approx(value)
