"""The names of symbols in links: `symbol:NAME`, `symbol:file#NAME`."""

from __future__ import annotations

from memory_bank.manifest.link_table import LinkRow

SYMBOL = "symbol:"
"""Start of a link to a symbol."""


def symbol_of(row: LinkRow) -> str:
    """Return the name of the symbol that a link gives; empty if it gives none."""
    if not row.ghost.lower().startswith(SYMBOL):
        return ""
    inner = f"#{row.heading}" if row.heading else ""
    return f"{row.ghost[len(SYMBOL) :].strip()}{inner}"
