"""What an agent reads, its user sees: invisible characters are escaped."""

import sys
import unicodedata

import pytest

from memory_bank.base.rendering import escape_hidden

SIGNS = {0x600, 0x601, 0x602, 0x603, 0x604, 0x605, 0x6DD, 0x70F, 0x890, 0x891, 0x8E2} | {
    0x110BD,
    0x110CD,
}
"""Format characters that are seen: they enclose or underline a number."""


def test_every_format_character_is_escaped_but_visible_signs() -> None:
    every = {n for n in range(sys.maxunicode + 1) if unicodedata.category(chr(n)) == "Cf"}
    assert {n for n in every if escape_hidden(f"a{chr(n)}b") == f"a{chr(n)}b"} == SIGNS


@pytest.mark.parametrize("number", [*range(0x13430, 0x13441), 0x1D159, 0x16FE4, 0xFE0F, 0x2800])
def test_an_invisible_letter_or_mark_is_escaped(number: int) -> None:
    assert chr(number) not in str(escape_hidden(f"rm{chr(number)} -rf"))


@pytest.mark.parametrize(
    "text", ["\u2764\ufe0f", "1\ufe0f\u20e3", "\u26a0\ufe0f Mind", "\u270c\ufe0f"]
)
def test_an_emoji_stays(text: str) -> None:
    assert escape_hidden(text) == text


@pytest.mark.parametrize("text", ["a\ufe0f", "\ufe0f", " \ufe0f", "\u2764\ufe0f\ufe0f", "1\ufe0f"])
def test_a_variation_selector_alone_is_escaped(text: str) -> None:
    assert str(escape_hidden(text)).endswith(r"\ufe0f")
