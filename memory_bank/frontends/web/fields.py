"""Fields of a form or an address, which anybody may have typed."""

from __future__ import annotations

_DIGITS = 9
"""More digits are not read: Python refuses to read thousands of them."""


def number_in(given: str, default: int, most: int = 10**_DIGITS) -> int:
    """Return the whole number that a field has, at most `most`; the default for anything else."""
    if not given.isascii() or not given.isdigit():
        return default
    return min(int(given), most) if len(given) <= _DIGITS else most
