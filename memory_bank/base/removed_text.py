"""Find a text that is to be forgotten in the forms in which files have it, and replace it.

It stands in notes with backslashes before punctuation and broken into lines, in databases as JSON,
and in either Unicode normal form.
"""

from __future__ import annotations

import json
import re
from typing import Any
from unicodedata import normalize

MARK = "[forgotten]"
"""What stands in place of the text."""

PLAIN_MARK = "forgotten"
"""The same where brackets have a meaning: in front matter, and beside other brackets."""

_ESCAPES = r"\\{0,8}"
"""Backslashes before a character: JSON inside of JSON has several."""

_SPACE_IN_JSON = r"\\{1,8}(?:[nrtf]|(?i:u(?:00[0189a][0-9a-f]|1680|20[025][0-9a-f]|3000)))"

_LINE_BREAK = rf"(?:[^\S\n]|\n(?!\s*\n)|{_SPACE_IN_JSON}){{1,200}}"
"""White space that does not end a paragraph."""

_ANY_SPACE = rf"(?:\s|{_SPACE_IN_JSON}){{1,500}}"

_SURROGATES = 0x10000


class RemovedText:
    """A text that is to be forgotten. Case counts; runs of white space are alike."""

    def __init__(self, text: str) -> None:
        """Take the text without white space around it; it has at least one other character."""
        bare = text.strip()
        forms = dict.fromkeys((normalize("NFC", bare), normalize("NFD", bare), bare))
        self._pattern = re.compile("|".join(map(_pattern, forms)))
        self.text = next(iter(forms))
        written = {*forms, *(json.dumps(form)[1:-1] for form in forms)}
        written.update(json.dumps(form, ensure_ascii=False)[1:-1] for form in forms)
        encoded = {form.encode("utf-8", "replace") for form in written}
        wide = {form.encode(f"utf-16-{end}", "replace") for form in forms for end in ("le", "be")}
        self.bytes = tuple(sorted(encoded | wide))
        """The bytes that a file with the text has, unless lines are broken in it."""

    def count(self, text: str) -> int:
        """Return how often a text has it."""
        return sum(1 for _ in self._pattern.finditer(text))

    def replaced(self, text: str, *, bare: bool = False) -> str:
        """Return a text without it; `bare` for text in which brackets have a meaning."""

        def mark(match: re.Match[str]) -> str:
            start, end = match.span()
            beside = "[" in text[max(0, start - 1) : start] or "]" in text[end : end + 1]
            return PLAIN_MARK if bare or beside else MARK

        return self._pattern.sub(mark, text)

    def replaced_in_json(self, text: str) -> str:
        """Return a text without it; one that is JSON stays JSON."""
        if not self._pattern.search(text):
            return text
        if text[:1] in ("{", "["):
            try:
                return json.dumps(self._mapped(json.loads(text)), ensure_ascii=False)
            except (ValueError, RecursionError):
                pass  # a text that starts like JSON
        return self.replaced(text)

    def _mapped(self, value: object) -> Any:  # noqa: ANN401  (what JSON can hold)
        if isinstance(value, str):
            return self.replaced(value)
        if isinstance(value, dict):
            return {self.replaced(key): self._mapped(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self._mapped(item) for item in value]
        return value


def _pattern(text: str) -> str:
    """Return the pattern of a text as notes and JSON have it."""
    parts = re.split(r"(\s+)", text)
    return "".join(
        (_ANY_SPACE if part.count("\n") > 1 else _LINE_BREAK)
        if number % 2
        else "".join(map(_character, part))
        for number, part in enumerate(parts)
    )


def _character(char: str) -> str:
    if char == "\\":
        return r"\\{1,8}"
    if char == "'":
        return rf"(?:{_ESCAPES}'|'')"  # YAML doubles it
    if char.isascii():
        return char if char.isalnum() else _ESCAPES + re.escape(char)
    number = ord(char)
    codes = [f"u{number:04x}"]
    if number >= _SURROGATES:
        high, low = divmod(number - _SURROGATES, 0x400)
        codes = [rf"u{0xD800 + high:04x}\\{{1,8}}u{0xDC00 + low:04x}", f"u{number:08x}"]
    if number <= 0xFF:  # noqa: PLR2004  (YAML)
        codes.append(f"x{number:02x}")
    return rf"(?:{re.escape(char)}|(?i:\\{{1,8}}(?:{'|'.join(codes)})))"
