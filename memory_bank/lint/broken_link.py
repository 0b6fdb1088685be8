"""Links to a missing heading or block."""

from collections.abc import Iterator

from memory_bank.lint.base import Context, Place
from memory_bank.manifest import link_table
from memory_bank.manifest.link_table import LinkRow

SUMMARY = "a link leads to a heading or block that its note does not have"
SEVERITY = "warning"


def check(bank: Context) -> Iterator[Place]:
    """Yield the broken links."""
    for row, problem in bank.once(broken):
        if not row.ambiguous:
            yield Place(row.source_key, row.line, problem)


def broken(bank: Context) -> Iterator[tuple[LinkRow, str]]:
    """Yield the broken and the ambiguous links, each with its problem."""
    rows = bank.once(links)
    for row, problem in zip(rows, link_table.problems(bank.manifest, rows), strict=True):
        if problem:
            yield row, problem


def links(bank: Context) -> list[LinkRow]:
    """Return the links of the bank, or of the notes whose findings are wanted."""
    if bank.paths is None:
        return link_table.all_links(bank.manifest)
    return link_table.links_of(bank.manifest, bank.paths)
