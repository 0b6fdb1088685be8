"""The toolset `maintenance`: update the index and check the bank. Not on by default."""

from __future__ import annotations

from memory_bank.frontends.mcp import text
from memory_bank.frontends.mcp.tool import ToolContext, tool
from memory_bank.frontends.serving.shared_bank import tell
from memory_bank.memory import maintenance
from memory_bank.review import doctor
from memory_bank.search.index import document_changes


@tool(text.synced, repeatable=True)
def sync_memories(call: ToolContext, *, rebuild: bool = False) -> document_changes.SyncReport:
    """Index and embed everything that remains; with rebuild, rebuild every index from the files.

    Never needed before a search, which looks for changes itself.
    """
    with call.shared.another() as bank:  # other calls continue meanwhile
        return maintenance.sync(bank, rebuild=rebuild, progress=tell)


@tool(text.health, reads=True, depth=2)
def check_memories(call: ToolContext) -> doctor.BankHealth:
    """List files not indexed, faults, merge conflicts, broken links, missing files, duplicates."""
    with call.shared.another() as bank:
        return doctor.doctor(bank, tell)
