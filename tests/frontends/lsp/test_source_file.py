import pytest

from memory_bank.frontends.lsp.open_texts import parse_text
from memory_bank.frontends.lsp.source_code import symbols_around, word_at
from tests.frontends.lsp.conftest import cursor

PYTHON = '@charge\ndef charge(a):\n    """Charge."""\n\n\nclass Gate:\n    # send it\n    def send(self):\n        return 1\n'


@pytest.mark.parametrize(
    ("text", "word"),
    [("a ‸bc d", "bc"), ("a bc‸ d", "bc"), ("x = ‸ 1", ""), ("日本‸語(x)", "日本語"), ("‸", "")],
)
def test_the_word_at_a_cursor(text: str, word: str) -> None:
    plain, offset = cursor(text)
    found, start, end = word_at(plain, offset)
    assert (found, plain[start:end]) == (word, word)


def test_symbols_around_a_line_come_innermost_first() -> None:
    file = parse_text("a.py", PYTHON)
    assert file is not None
    assert [one.qualified for one in symbols_around(file, 9)] == ["Gate.send", "Gate"]


def test_other_files_are_not_parsed() -> None:
    assert parse_text("a.unknown", "x") is None
    assert parse_text("a.py", "x" * 1_000_001) is None
