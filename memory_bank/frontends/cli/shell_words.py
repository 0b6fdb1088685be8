"""Split a command line as shells do, up to a cursor, and quote words for bash."""

from __future__ import annotations

import re
from typing import NamedTuple

_ESCAPED_IN = {'"': '"\\$`\n', "'": ""}

_ESCAPED_IN_FISH = {'"': '"\\$\n', "'": "'\\"}

_SPECIAL = re.compile(r"(?![\w@%+=:,./-])[\x00-\x7f]")

_BLANKS = " \t\n"

_SPECIAL_IN_DOUBLE = re.compile(r'["\\$`]')


class Typed(NamedTuple):
    """A command line up to the cursor, without its quotes."""

    words: tuple[str, ...]
    """The words before the one at the cursor."""
    last: str
    """The word at the cursor, as far as it is typed."""
    quote: str
    """The quote that is open at the cursor; empty if none is."""
    kept: int
    """Number of characters of `last` that bash keeps when it inserts a completion."""


def typed(line: str, *, breaks: str = "", is_fish: bool = False) -> Typed:
    """Split a command line; `breaks` are bash's COMP_WORDBREAKS.

    bash replaces only what follows the last of these, or the last quote.
    """
    escaped = _ESCAPED_IN_FISH if is_fish else _ESCAPED_IN
    words: list[str] = []
    last = quote = ""
    begun, kept = False, 0
    characters = iter(line)
    for char in characters:
        if char == "\\" and (not quote or escaped[quote]):
            following = next(characters, "")
            is_literal = quote and following not in escaped[quote]
            last += char + following if is_literal else following
            begun = True
        elif char == quote or (not quote and char in "'\""):
            quote = "" if quote else char
            begun, kept = True, len(last)
        elif quote or char not in _BLANKS:
            last += char
            begun, kept = True, len(last) if not quote and char in breaks else kept
        elif begun:
            words.append(last)
            last, begun, kept = "", False, 0
    return Typed(tuple(words), last, quote, kept)


def quoted(text: str, quote: str = "") -> str:
    """Return a text as bash reads it back, inside an open quote if one is given."""
    if quote == "'":
        return text.replace("'", r"'\''")
    special = _SPECIAL_IN_DOUBLE if quote else _SPECIAL
    return special.sub(lambda found: f"\\{found[0]}", text)
