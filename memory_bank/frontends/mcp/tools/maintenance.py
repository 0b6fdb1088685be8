"""Upkeep: bring the index up to the files, and say what is wrong. Not on by default."""

from __future__ import annotations

from memory_bank.actions import doctor, maintenance
from memory_bank.frontends.mcp import text
from memory_bank.frontends.mcp.tool import Call, tool
from memory_bank.serving.progress import tell


@tool("Index memories", text.synced, repeatable=True)
def sync_memories(call: Call, *, rebuild: bool = False) -> maintenance.SyncReport:
    """Index and embed all that is left; with rebuild, make every index anew from the files.

    Never needed before a search, which looks for changes by itself.
    """
    with call.shared.another() as bank:  # questions go on meanwhile
        return maintenance.sync(bank, rebuild=rebuild, progress=tell)


@tool("Check memories", text.health, reads=True, depth=2)
def check_memories(call: Call) -> doctor.Health:
    """List files not indexed, faults and merge conflicts, broken links, gone files, duplicates."""
    with call.shared.another() as bank:
        return doctor.doctor(bank, tell)
