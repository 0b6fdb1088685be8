"""Estimate how many tokens a text costs an agent.

The method counts runs of letters, digits, signs and blanks, and characters by script, each with a
weight. The weights were fitted to the tokenizer o200k_base on notes, code, JSON, output of
commands and ten languages: see `.memories/decisions/token-estimate.md`. It is part of a hook's
fast path, and takes time linear in the text: all counts are those of `bytes.count`.
"""

from __future__ import annotations

import re

_LATIN = re.compile("[\u00c0-\u024f\u1e00-\u1eff]")
"""Letters beyond ASCII that stand within words of ASCII letters."""

_OTHER = re.compile(r"[^\x00-\x7f]+")

_WORD, _LONG, _LONGER = 0.95, 0.8, 0.6
"""Weights of a word, and more of each nine and twelve letters in a row."""

_NUMBER, _DIGIT = 0.65, 0.6

_SIGNS, _SIGN = 0.55, 0.2
"""Weights of signs in a row, and of each sign."""

_LINE, _INDENT = 0.9, 0.1
"""Weights of a line, and of each two blanks in a row."""

_ACCENT = 1.0

_SCRIPTS = {
    "C": 0.72,  # Han
    "K": 0.7,  # kana, and signs of Chinese and Japanese
    "H": 0.7,  # Hangul
    "Y": 0.26,  # Cyrillic
    "G": 0.5,  # Greek
    "R": 0.33,  # Arabic
    "W": 0.45,  # Hebrew, Armenian
    "T": 0.4,  # Thai, Lao
    "D": 0.45,  # scripts of India
    "P": 1.0,  # signs, arrows, dashes
    "S": 0.9,  # halves of emoji and of rare characters
    "F": 0.95,  # wide forms
    "o": 1.0,  # all others
}
"""Weights of a character by its script."""


def _script(high: int) -> str:
    """Return the script of the characters whose code has a first byte."""
    blocks = (
        (0x30, 0x30, "K"), (0x31, 0x9F, "C"), (0xAC, 0xD7, "H"), (0x04, 0x04, "Y"),
        (0x03, 0x03, "G"), (0x06, 0x06, "R"), (0xFB, 0xFE, "R"), (0x05, 0x05, "W"),
        (0x0E, 0x0E, "T"), (0x09, 0x0D, "D"), (0x20, 0x2F, "P"), (0xD8, 0xDF, "S"),
        (0xFF, 0xFF, "F"), (0x00, 0x02, "-"), (0x1E, 0x1E, "-"),
    )  # fmt: skip
    return next((script for first, last, script in blocks if first <= high <= last), "o")


def _only(kept: bytes, mark: bytes) -> bytes:
    """Return the table that maps some characters to a mark, and all others to blanks."""
    return bytes(mark[0] if byte in kept else 32 for byte in range(256))


_ASCII = bytes(range(128))

_LETTERS = _only(bytes(byte for byte in _ASCII if chr(byte).isalpha()), b"a")

_DIGITS = _only(b"0123456789", b"0")

_OTHERS = _only(bytes(byte for byte in _ASCII if not chr(byte).isalnum() and byte > 32), b".")  # noqa: PLR2004 - a blank

_HIGH = "".join(map(_script, range(256))).encode()


def estimate(text: str) -> int:
    """Return the estimated number of tokens of a text; at least 1 unless it is empty."""
    if not text:
        return 0
    total = 0.0
    if not text.isascii():
        text, accents = _LATIN.subn("a", text)
        total += _ACCENT * accents
        high = text.encode("utf-16-le", "surrogatepass")[1::2].translate(_HIGH)
        for script, weight in _SCRIPTS.items():
            total += weight * high.count(script.encode())
        text = _OTHER.sub(" ", text)
    data = text.encode()
    letters, digits, signs = (data.translate(table) for table in (_LETTERS, _DIGITS, _OTHERS))
    total += _WORD * len(letters.split()) + _NUMBER * len(digits.split())
    total += _SIGNS * len(signs.split()) + _SIGN * signs.count(b".")
    total += _DIGIT * digits.count(b"0") + _LINE * data.count(b"\n") + _INDENT * data.count(b"  ")
    total += _LONG * letters.count(b"a" * 9) + _LONGER * letters.count(b"a" * 12)
    return max(1, round(total))
