"""Letters of other scripts that look like Latin ones."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

_TABLE = {
    # Cyrillic
    "а": "a", "с": "c", "ԁ": "d", "е": "e", "һ": "h", "і": "i", "ј": "j", "ӏ": "l", "о": "o",
    "р": "p", "ԛ": "q", "ѕ": "s", "ԝ": "w", "х": "x", "у": "y", "ү": "y", "ѵ": "v", "г": "r",
    "А": "A", "В": "B", "С": "C", "Е": "E", "Ԍ": "G", "Н": "H", "І": "I", "Ј": "J", "К": "K",
    "М": "M", "О": "O", "Р": "P", "Ѕ": "S", "Т": "T", "Х": "X", "У": "Y", "Ү": "Y", "Ԛ": "Q",
    "Ԝ": "W", "Ѵ": "V",
    # Greek
    "α": "a", "ι": "i", "κ": "k", "ν": "v", "ο": "o", "ρ": "p", "υ": "u", "ϲ": "c", "ϳ": "j",
    "Α": "A", "Β": "B", "Ε": "E", "Ζ": "Z", "Η": "H", "Ι": "I", "Κ": "K", "Μ": "M", "Ν": "N",
    "Ο": "O", "Ρ": "P", "Τ": "T", "Υ": "Y", "Χ": "X", "Ϲ": "C",
    # Armenian, Cherokee, Georgian, and Latin letters of other alphabets
    "հ": "h", "ո": "n", "օ": "o", "ս": "u", "ց": "g", "զ": "q", "Ս": "U", "Օ": "O",
    "Ꭺ": "A", "Ᏼ": "B", "Ꮯ": "C", "Ꭼ": "E", "Ꮋ": "H", "Ꭻ": "J", "Ꮶ": "K", "Ꮮ": "L", "Ꮇ": "M",
    "Ꮲ": "P", "Ꮪ": "S", "Ꭲ": "T", "Ꮩ": "V", "Ꮃ": "W", "Ꮓ": "Z",
    "ɑ": "a", "ɡ": "g", "ⅼ": "l", "ᴏ": "o", "ᴄ": "c", "ꜱ": "s",
}  # fmt: skip
_LATIN = re.compile("[A-Za-z]")
_WORD = re.compile(r"[^\W_]+")
_LONG_WORD = 3
"""Letters of a Latin word that tells that a path is written in Latin letters."""


@cache
def _translation() -> dict[int, str]:
    return str.maketrans(_TABLE)


def latin(text: str) -> str:
    """Return a text of the same length with Latin letters for those that look like them."""
    return text.translate(_translation())


def deceptive(path: str) -> list[tuple[int, str, str]]:
    """Return the letters of a path that look like Latin ones and are none, where that may deceive.

    Each with its offset, and the Latin letter. They may deceive in a word that has Latin letters
    too, and in a word of such letters only if another word of the path, suffixes left out, is
    Latin, and no letter of the path shows that it is written in the other script.
    Letters of other forms, such as full-width and mathematical ones, may deceive anywhere.
    """
    if path.isascii():
        return []
    stem = re.sub(r"\.\w{1,8}\Z", "", path)
    is_latin = any(len(word) >= _LONG_WORD and word.isascii() for word in _WORD.findall(stem))
    others = any(
        not char.isascii() and char.isalpha() and char not in _TABLE and not _latin_form(char)
        for char in path
    )
    found = []
    for word in _WORD.finditer(path):
        letters = [char for char in word[0] if char.isalpha()]
        alike = [char for char in letters if char in _TABLE]
        mixed = bool(_LATIN.search(word[0]))
        whole = is_latin and not others and len(alike) == len(letters) > 1
        for at, char in enumerate(word[0], word.start()):
            if char in _TABLE and (mixed or whole):
                found.append((at, char, _TABLE[char]))
            elif (form := _latin_form(char)) and mixed | is_latin:
                found.append((at, char, form))
    return found


def _latin_form(char: str) -> str:
    """Return the Latin letter of which a character is another form; empty if there is none."""
    if char.isascii() or not char.isalpha():
        return ""
    plain = unicodedata.normalize("NFKC", char)
    return plain if len(plain) == 1 and _LATIN.match(plain) and char not in "ªº" else ""
