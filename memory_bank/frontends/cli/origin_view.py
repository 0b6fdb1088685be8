"""Show where a text comes from, in the columns of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memory_bank.trust.provenance import TextSource


COLUMNS = ("trust", "commit", "date", "author", "agent", "request")

_COMMIT = 10
"""Digits of an abbreviated commit."""


def cells(source: TextSource) -> tuple[str, ...]:
    """Return the cells of COLUMNS."""
    request = f"#{source.pull_request}" if source.pull_request else ""
    return (
        source.trust, source.commit[:_COMMIT], source.date[:_COMMIT], source.author or "-",
        source.agent or "-", request or "-",
    )  # fmt: skip
