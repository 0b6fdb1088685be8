"""Detect secrets by the formats that their issuers document: a fixed mark, then random characters."""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right
from collections.abc import Iterator
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from memory_bank.base.plugins import pattern


class Format(NamedTuple):
    """One kind of secret: a text that is always in it, and its pattern.

    The pattern's group 1, where there is one, is the part that was drawn at random.
    """

    kind: str
    mark: str
    pattern: str
    near: str = ""
    """A word required within 80 characters, in lower case, if the format alone proves nothing."""


@cache
def table() -> dict[str, Any]:
    """Return the data file: formats, and words that are no secret."""
    found = tomllib.loads(Path(__file__).with_name("secrets.toml").read_text(encoding="utf-8"))
    found["allowlist"]["stopwords"] = frozenset(found["allowlist"]["stopwords"])
    return found


@cache
def formats() -> tuple[Format, ...]:
    """Return the formats."""
    return tuple(
        Format(row["description"], row["keywords"][0], row["regex"], row.get("near", ""))
        for row in table()["rules"]
    )


_RUN = pattern(r"[A-Za-z0-9_.:/+~=$%@-]{16,}")
"""What can hold any of the forms: a few parts in a hundred of most texts, looked through alone."""

_NEAR = 80

_MOST = 20_000
"""Maximum matches of one format that are examined in one text."""


class FormatMatch(NamedTuple):
    """A match of a format, and its random part."""

    kind: str
    start: int
    end: int
    body: str


def matches(text: str) -> Iterator[FormatMatch]:
    """Find all matches of the formats, in time linear in the text."""
    starts, ends, runs, size = list[int](), list[int](), list[str](), 0
    for run in _RUN.finditer(text):
        starts.append(run.start())
        ends.append(size)
        runs.append(run[0])
        size += len(run[0]) + 1
    joined = "\n".join(runs)
    for one in formats():
        if one.mark not in joined:
            continue
        for found in islice(_fitting(joined, one), _MOST):
            number = bisect_right(ends, found.start()) - 1
            moved = starts[number] - ends[number]
            start, end = found.start() + moved, found.end() + moved
            around = text[max(0, start - _NEAR) : end + _NEAR].lower() if one.near else ""
            if not one.near or re.search(one.near, around):
                yield FormatMatch(one.kind, start, end, found[1])


def _fitting(text: str, one: Format) -> Iterator[re.Match[str]]:
    """Try a pattern only where its mark stands, if it starts with it: `str.find` is fastest."""
    fits = compiled(one.pattern)
    if not one.pattern.replace("\\", "").startswith(one.mark):
        yield from fits.finditer(text)
        return
    at = text.find(one.mark)
    while at >= 0:
        found = fits.match(text, at)
        if found is not None:
            yield found
        at = text.find(one.mark, found.end() if found else at + len(one.mark))


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Return the pattern, which matches only at the start of a word."""
    return re.compile(rf"(?<![A-Za-z0-9])(?:{pattern})")
