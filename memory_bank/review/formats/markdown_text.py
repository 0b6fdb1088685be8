"""Untrusted text in GitHub Markdown: as code, in which GitHub finds no mention, link or HTML."""

from __future__ import annotations

import re
from html import escape
from typing import cast

from memory_bank.base.rendering import unhidden

_LONGEST = 300
"""Characters of a text inside a line."""

_TICKS = re.compile("`+")


def shown(text: str) -> str:
    """Return a text with invisible characters escaped and line ends as newlines."""
    return cast("str", unhidden(text.replace("\r\n", "\n").replace("\r", r"\x0d")))


def one_line(text: str, most: int = _LONGEST) -> str:
    """Return a text on one line, cut to a number of characters."""
    line = shown(text[: most + 1]).replace("\n", " ").replace("\t", " ").strip()
    return line if len(line) <= most else f"{line[: most - 1]}…"


def code(text: str) -> str:
    """Return a text as a code span of one line; no text in it ends the span."""
    line = one_line(text) or " "
    ticks = "`" * (_longest_run(line) + 1)
    # one space on each side is no part of a code span, and keeps ticks apart
    return f"{ticks} {line} {ticks}" if "`" in line else f"{ticks}{line}{ticks}"


def html_code(text: str) -> str:
    """Return a text as a code element of one line, for HTML such as the summary of details."""
    return f"<code>{escape(one_line(text))}</code>"


def _longest_run(text: str) -> int:
    """Return the length of the longest run of backticks."""
    return max(map(len, _TICKS.findall(text)), default=0)
