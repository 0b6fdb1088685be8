"""Two branches that change one note in different places merge with plain git."""

from collections.abc import Callable
from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank
from memory_bank.memory.edit import append, edit
from memory_bank.memory.remember import remember
from memory_bank.memory.show import show
from tests.git.history_builder import commit_all

Git = Callable[..., str]


@pytest.mark.parametrize("kept", ["", "updated_at: 2026-01-02T00:00:00Z\n"])
def test_two_edits_of_different_sections_merge_cleanly(
    project: Path, opening: Callable[..., Bank], git: Git, kept: str
) -> None:
    note = project / ".memories/facts/ports.md"
    head = f"---\nid: 0123456789ab\ntype: fact\ncreated_at: 2026-01-01T00:00:00Z\n{kept}---\n"
    parts = [f"## {name}\n\nThe first text of {name}.\n" for name in ("HTTP", "Between", "SSH")]
    note.write_text(head + "# Ports\n\n" + "\n".join(parts))
    commit_all(project, "Ports")
    bank = opening(project)
    git(project, "checkout", "-q", "-b", "topic")
    edit(bank, "facts/ports", "HTTP is 8080.", section="HTTP")
    remember(bank, show(bank, "facts/ports").body)
    git(project, "commit", "-qam", "HTTP")
    git(project, "checkout", "-q", "main")
    append(bank, "facts/ports", "SSH is 2222.")
    remember(bank, show(bank, "facts/ports").body)
    git(project, "commit", "-qam", "SSH")
    git(project, "merge", "-q", "-m", "Both", "topic")
    assert git(project, "status", "--porcelain") == ""
    merged = show(bank, "facts/ports")
    assert "HTTP is 8080." in merged.content
    assert "SSH is 2222." in merged.content
    assert merged.content.startswith(head)
    assert merged.updated_at > "2026-01-02"
