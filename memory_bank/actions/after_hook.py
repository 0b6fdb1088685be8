"""What follows a hook, in a process for which no agent waits."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from pathlib import Path

from memory_bank.errors import BadInput
from memory_bank.repo import git
from memory_bank.sessions.queue import EventQueue


def git_state(root: str) -> str:
    """Return the git state of a bank's work tree as JSON, as the queue keeps it; else empty."""
    tree = git.worktree(Path(root))
    if tree is None:
        return ""
    commit, first = git.head(tree), git.root_commit(tree)
    if not (commit and first):
        return ""
    return json.dumps([first, git.branch(tree), commit])


def run(state: str, session_id: str, kind: str, tokens: tuple[int, int]) -> None:
    """Store a session's tokens, compress what waits, and end the session at its end."""
    queue = EventQueue(Path(state))
    try:
        with suppress(BadInput):  # it has stored nothing
            if any(tokens):
                queue.update(session_id, input_tokens=tokens[0], output_tokens=tokens[1])
            if kind == "end":
                queue.update(session_id, ended_at=time.time())
    finally:
        queue.close()
