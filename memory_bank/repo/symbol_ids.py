"""Give symbols and tests ids that stay when they move, and are the same on each machine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from blake3 import blake3

SYMBOL, TEST = "sym-", "test-"
"""Starts of the ids of symbols and of tests."""
DIGITS = 12


class Named(NamedTuple):
    """What an id is made of."""

    number: int
    """The number of its row."""
    language: str
    name: str
    """The qualified name of a symbol, the title of a test."""
    path: str
    id: str
    """The id that it has; empty if none."""


def ids(prefix: str, rows: Sequence[Named]) -> Iterator[tuple[Named, str]]:
    """Yield rows with their ids; all rows of the same language and name must be given.

    An id is the hash of language and name; if several files have that name, also of the path, and
    for the second and later ones in a file also of their order there.
    """
    ordered = sorted(rows, key=lambda row: (row.language, row.name, row.path, row.number))
    for (language, name), same in groupby(ordered, key=lambda row: (row.language, row.name)):
        files = [list(some) for _, some in groupby(same, key=lambda row: row.path)]
        for some in files:
            for order, row in enumerate(some):
                parts = [language, name]
                parts += [row.path] if len(files) > 1 else []
                parts += [f"#{order + 1}"] if order else []
                yield row, prefix + digest(parts)


def digest(parts: Iterable[str]) -> str:
    """Return the digits of an id."""
    return blake3("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:DIGITS]
