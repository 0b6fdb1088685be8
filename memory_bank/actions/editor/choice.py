"""Choices for completion at the cursor in a note, and their comparison with the typed text."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal, NamedTuple

MAX_CHOICES = 200
"""Choices of one answer; the editor asks again as more is typed."""
Kind = Literal["note", "title", "alias", "heading", "block", "file", "symbol", "value"]


class Choice(NamedTuple):
    """A text that may replace the one between two offsets."""

    label: str
    kind: Kind
    text: str
    """The new text; closing brackets included where they are missing."""
    start: int
    end: int
    detail: str = ""
    typed: str = ""
    """The text that is compared with the typed one."""


class Choices(NamedTuple):
    """The choices at the cursor."""

    found: tuple[Choice, ...] = ()
    complete: bool = True
    """False if typing more may bring others."""


def matching(typed: str) -> Callable[[str], object]:
    """Return a function that tells whether a name has the typed letters in their order.

    Spaces are left out.
    """
    letters = [char for char in typed.casefold() if not char.isspace()]
    # atomic, so that time is linear
    match = re.compile("".join(f"(?>.*?{re.escape(char)})" for char in letters), re.DOTALL).match
    return lambda name: match(name.casefold())
