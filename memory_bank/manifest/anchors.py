"""Find documents by their anchors."""

from __future__ import annotations

from collections.abc import Sequence

from memory_bank.manifest.manifest import DONE, PENDING, Manifest


def keys_with(manifest: Manifest, anchors: Sequence[str]) -> dict[str, str]:
    """Map those of some anchors that a live document has to its key; the first of several."""
    sql = (
        "SELECT anchor, key FROM anchors JOIN documents ON documents.id = document"
        f" WHERE state IN ({DONE}, {PENDING}) AND anchor IN ({{}})"
    )
    wanted = [anchor.casefold() for anchor in anchors]
    found: dict[str, str] = {}
    for anchor, key in sorted(manifest.chunked(sql, wanted)):
        found.setdefault(anchor, key)
    return {one: found[one.casefold()] for one in anchors if one.casefold() in found}
