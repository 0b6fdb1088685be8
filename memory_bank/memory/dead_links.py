"""Tell at a write which links of the new text lead nowhere."""

from __future__ import annotations

from urllib.parse import quote

from memory_bank.bank.bank import Bank
from memory_bank.base import lazy_pattern
from memory_bank.base.documents import Link
from memory_bank.search.index import View
from memory_bank.search.manifest.link_rows import find_problems, read_links_of

_REFERENCE = "reference"

_MOST = 3
"""Links that are named; of others, how many."""

_SYMBOL = lazy_pattern(
    r"\w+\(\)|[^\W\d]\w*(?:(?:\.|::)[^\W\d]\w*)+(?<!\.md)|[a-z]+[A-Z]\w*|[^\W_]*_\w*"
)
"""Names that may be symbols of the code, which are not looked up."""


def describe_dead_links(bank: Bank, path: str, text: str) -> str:
    """Return on one line which links of a note's new text lead nowhere; empty if none does.

    A link leads nowhere if no note, file or person has its name, if its note lacks the heading or
    block, or if it may mean several notes.
    """
    if "[" not in text:
        return ""

    def read(view: View) -> dict[str, int]:
        rows = [
            row
            for row in read_links_of(view.manifest, [path])
            if row.kind != _REFERENCE and (row.target in text or quote(row.target) in text)
        ]
        lines: dict[str, int] = {}
        for row, problem in zip(rows, find_problems(view.manifest, rows), strict=True):
            if reason := problem or _describe_ghost(bank, row):
                lines.setdefault(reason, row.line)
        return lines

    reasons = [f"line {line}: {reason}" for reason, line in bank.read(read).items()]
    more = f", and {len(reasons) - _MOST} more" if len(reasons) > _MOST else ""
    return "; ".join(reasons[:_MOST]) + more


def _describe_ghost(bank: Bank, row: Link) -> str:
    """Return a message if a link leads to no note, file or symbol; else an empty text."""
    if row.dest is not None or ":" in row.ghost or _SYMBOL.fullmatch(row.ghost):
        return ""
    files = row.files(bank.roots.place(row.source_key))
    if any(map(bank.layout.project_has, files)):
        return ""
    return f"{row.target!r} leads to no note or file"
