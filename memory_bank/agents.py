"""Sanitise the name of an agent's program, which a client can choose freely."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

MOST_CHARACTERS = 64
"""Longest name of an agent."""

# Invisible characters that Python considers printable: fillers, variation selectors.
_INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0"
    "\U000e0100-\U000e01ef]"
)


def agent_name(text: str) -> str:
    """Return the first 64 printable characters of a name, on one line.

    Control and format characters, surrogates and other invisible characters are left out; a run of
    white space becomes one space. The result may be empty.
    """
    kept = "".join(islice(_printable(text), MOST_CHARACTERS))
    return kept.rstrip()


def _printable(text: str) -> Iterator[str]:
    begun = gap = False
    for character in text:
        if character.isspace():
            gap = begun
        elif character.isprintable() and not _INVISIBLE.match(character):
            if gap:
                yield " "
            yield character
            begun, gap = True, False
