"""What a hook adds to an agent's session: context at its start and to a prompt, and a question."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from memory_bank.agents.capture import queue_of
from memory_bank.agents.hook_bank import HookBank
from memory_bank.base.text import estimate

if TYPE_CHECKING:
    from memory_bank.agents.hook_context import Prepared
    from memory_bank.bank.hits import RecalledNote


QUESTION = """\
Before you stop: this session changed files, and nothing of what you learned is saved yet. Save it \
now in your own words, for the agent that works here next, then stop:
- a decision, or a fact that is not plain from the code: `remember`
- what matters only for this work: `session_note`
- if you have these tools, too (session_id {session}): what you did step by step, what failed and \
why: `store_observation`; what was asked, learned, completed, and the next steps: `end_session` \
with `summary`
These are tools of the MCP server memory-bank; without them use the command `memory-bank remember`.
If nothing is worth saving, stop now; you are not asked again."""
"""What an agent is asked once, before it stops."""

_MOST_NOTES = 5

_LEAST_WORDS = 3
"""A shorter prompt, such as `go on`, asks for nothing that a note answers."""

_MOST_PROMPT = 2_000
"""Characters of a prompt that are searched for."""

_DAY = 10
"""Characters of the date in a timestamp."""

_HEAD = "Notes of this project's memory that may help:"


class Quoting(Protocol):
    """How a front-end quotes a text that is data."""

    @property
    def notice(self) -> str:
        """The sentence that explains the quotes."""

    def quote(self, text: str, about: Mapping[str, object]) -> str:
        """Return a text between marks, with attributes."""

    def introduced(self, text: str) -> str:
        """Return a text between marks, after the sentence that explains them."""


def git_of(bank: HookBank) -> str:
    """Return the state of git in a bank's work tree, as the queue keeps it."""
    from memory_bank.sessions.queue_rows import git_text
    from memory_bank.sessions.state import git_state

    return git_text(git_state(Path(bank.root)))


def question(bank: HookBank, session_id: str) -> str:
    """Return what to ask an agent that is about to stop; empty if nothing, or not again."""
    if not (bank.capture and bank.ask_at_stop):
        return ""
    queue = queue_of(bank)
    try:
        if not queue.ask(session_id):
            return ""
    finally:
        queue.close()
    return QUESTION.format(session=json.dumps(session_id))


def is_question(prompt: str) -> bool:
    """Tell whether a prompt is our question, which some programs report as a prompt."""
    return prompt.lstrip().startswith(QUESTION.partition("{")[0])


def start_context(
    found: HookBank, session_id: str, quotes: Quoting, prepared: Prepared | None = None
) -> str:
    """Return what an agent is told when its session starts, quoted; empty if that is nothing."""
    if prepared is not None:
        told = prepared.quoted and quotes.introduced(prepared.quoted)
        return f"{prepared.before}{told}{prepared.after}"
    from memory_bank.bank.bank import open_bank
    from memory_bank.sessions.context import inject_context

    with open_bank(found.root) as bank:
        context = inject_context(bank, found.project, session_id, quote=quotes.introduced)
    return "" if context.empty else context.context


def prompt_context(found: HookBank, prompt: str, session_id: str, quotes: Quoting) -> str:
    """Return the notes that answer a prompt, quoted, each once in a session; may be empty.

    They fit `sessions.prompt_tokens`; a note that is only a weak match is left out. Access counts
    stay as they are, since nobody asked for these notes.
    """
    if found.prompt_tokens <= 0 or len(prompt.split()) < _LEAST_WORDS:
        return ""
    from memory_bank.bank.bank import open_bank
    from memory_bank.base.setting_sections import BANK
    from memory_bank.memory.recall import recall

    with open_bank(found.root) as bank:
        # by words: loading the table of vectors would take as long as all the rest
        answer = recall(
            bank, prompt[:_MOST_PROMPT], _MOST_NOTES, "lexical", count_access=False, scope=BANK
        )
    queue = queue_of(found)
    try:
        own = queue.session(session_id)
        shown = [*queue.shown(session_id), own.path if own else ""]
        notes = [note for note in answer.notes if not note.weak and note.path not in shown]
        head = f"{_HEAD} {quotes.notice}"
        fitting = _fitting(notes, found.prompt_tokens - estimate(head), quotes)
        if not fitting:
            return ""
        queue.show(session_id, list(fitting))
    finally:
        queue.close()
    return "\n".join((head, *fitting.values()))


def _fitting(notes: Sequence[RecalledNote], most: int, quotes: Quoting) -> dict[str, str]:
    """Map the paths of notes to their quotes, best first, while these fit a number of tokens."""
    found = dict[str, str]()
    for note in notes:
        about: dict[str, object] = {
            "at": f"{note.path}:{note.line}",
            "type": note.type,
            "by": note.source_type,
            "created_at": note.created_at[:_DAY],
            "superseded_by": note.superseded_by or "",
            "stale": note.stale,
        }
        whole, part = quotes.quote(note.content, about), quotes.quote(note.snippet, about)
        text = next((text for text in (whole, part) if estimate(text) <= most), "")
        if text:
            most -= estimate(text)
            found[note.path] = text
    return found
