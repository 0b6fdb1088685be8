"""`memory-bank stats`: count notes, tags, types and links."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memory_bank.base.operation import operation
from memory_bank.base.screen import Call

if TYPE_CHECKING:
    from memory_bank.memory.overview import Stats


_TAGS = 12


@operation(
    "stats",
    why="""
    Counts notes, their bytes, types and tags, and what may need attention: broken links, ghosts
    (link targets that are not notes), orphans (notes without links), files that are not indexed.
    """,
    examples=(
        ("memory-bank stats", "for a person"),
        ("memory-bank stats --json | jq .count", "for a program"),
    ),
    group="Look after",
)
def command(call: Call) -> int:
    """Count notes, tags, types and links."""
    from memory_bank.memory import overview

    with call.open() as bank:
        call.answer(overview.stats(bank), lambda found: _show(call, found))
        call.warn(bank.problem)
    return 0


def _show(call: Call, found: Stats) -> None:
    tags = [f"{tag} {number}" for tag, number in found.tags.items()]
    more = f", and {len(tags) - _TAGS} more" if len(tags) > _TAGS else ""
    rows = [
        ("notes", f"{found.count:,}"),
        ("archived", f"{found.archived:,}"),
        ("size", f"{found.total_size} ({found.total_bytes:,} bytes)"),
        ("passages", f"{found.passages:,}"),
        ("types", ", ".join(f"{name} {number}" for name, number in found.types.items()) or "-"),
        ("tags", (", ".join(tags[:_TAGS]) + more) or "-"),
        ("ghosts", f"{found.ghosts:,}"),
        ("broken links", f"{found.broken_links:,}"),
        ("orphans", f"{found.orphans:,}"),
        ("not indexed", f"{found.unindexed:,}"),
    ]
    call.console.table(("what", "how many"), rows)
