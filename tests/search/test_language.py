"""What a question's language and script mean for its words."""

import pytest

from memory_bank.search.retrievers.keyword.analyzer import count_words, is_english, stem_words


@pytest.mark.parametrize(
    ("question", "english"),
    [
        ("why do we keep sessions in Postgres", True),
        ("Kubernetes ingress timeout", True),  # too short to tell
        ("src/server/http_client.py", True),
        ("Welche Datenbank haben wir genommen und aus welchem Grund?", False),
        ("Was machen wir in der Nacht an der Datenbank", False),
        ("¿Por qué guardamos las sesiones en Postgres?", False),
        ("どのデータベースを選び、その理由は何か", False),
    ],
)
def test_a_question_is_in_english_if_a_function_word_says_so(question: str, english: bool) -> None:
    assert is_english(question) is english


def test_two_characters_of_a_script_without_spaces_count_as_a_word() -> None:
    assert count_words("cache keys of sessions") == 3
    assert count_words("データベース") == 3
    assert count_words("Redisのデータベース") == 4


@pytest.mark.parametrize(
    ("written", "typed"),
    [
        ("œuvre", "oeuvre"), ("Ærø", "aero"), ("smørrebrød", "smorrebrod"), ("Łódź", "lodz"),
        ("đường", "duong"), ("ığdır", "igdir"), ("Þór", "thor"), ("Straße", "strasse"),
        ("Għajn", "ghajn"), ("Guðrún", "gudrun"),
    ],
)  # fmt: skip
def test_letters_of_latin_script_are_found_as_they_are_typed(written: str, typed: str) -> None:
    assert stem_words(written) == stem_words(typed)
