"""The MCP server's words for agents: hints after errors, and texts that name only served tools.

Texts name tools in backticks. A sentence that names a tool which is not served is left out.
"""

from __future__ import annotations

from collections.abc import Container, Mapping

from memory_bank.base import lazy_pattern
from memory_bank.base.errors import Hint

_READ_AGAIN = "read it again with `read_memory`"

_HINTS = {
    Hint.MAKE_BANK: ("run `memory-bank init` in your project",),
    Hint.MAKE_OR_NAME_BANK: (
        "run `memory-bank init` in your project, or name a bank with --bank DIR",
    ),
    Hint.LIST_NOTES: (
        "find its name with `search_memories`",
        "find its name with `recall`",
        "find its name with `search`",
    ),
    Hint.SEARCH_IDS: ("find its id with `search`; ids are texts like obs-3f2a9c1b7d04",),
    Hint.LIST_GHOSTS: (
        "name it as notes link to it, or use `search_memories`",
        "name it as notes link to it, or use `recall`",
        "name it as notes link to it",
    ),
    Hint.LIST_TRASH: ("give the path that `delete_memory` returned",),
    Hint.READ_AGAIN: (_READ_AGAIN,),
    Hint.READ_AND_REPEAT: (f"{_READ_AGAIN}, then repeat the change on the new text",),
    Hint.CHOOSE_ANOTHER_NAME: (
        "choose another name, or use `edit_memory` on it",
        "choose another name",
    ),
    Hint.DELETE_INSTEAD: ("to remove a note, use `delete_memory`",),
    Hint.LOOK_AND_REPEAT: ("read the notes again with `read_memory`, then try again",),
    Hint.RESOLVE_CONFLICT: (
        (
            "resolve it completely in one `edit_memory`: keep the right lines, and remove the lines"
            " <<<<<<<, ======= and >>>>>>>; a person must resolve one in front matter"
        ),
    ),
    Hint.WRITE_ELSEWHERE: (
        (
            "write where the secret is stored instead; only a person may allow it, on the command"
            " line or in the settings"
        ),
    ),
    Hint.CHANGE_INCLUDED: (
        (
            "change the file itself with your other tools if the user wants that, or write a note"
            " that links to it"
        ),
    ),
    Hint.TEST_EMBEDDER: ("a person may run `memory-bank embedder list`",),
    Hint.TEST_SERVER: ("is the server running?",),
    Hint.CHECK_BANK: ("a person may run `memory-bank doctor`",),
}
"""Hints that name a tool of the agent or a command for a person, the best first."""


def choose_hints(served: Container[str]) -> Mapping[Hint, str]:
    """Return the wording of hints for an agent that has the tools `served`.

    A hint without a wording here is given in its own words, which name no tool.
    """
    usable = {
        hint: [text for text in texts if names_only(text, served)] for hint, texts in _HINTS.items()
    }
    return {hint: texts[0] for hint, texts in usable.items() if texts}


_TOOL = lazy_pattern(r"`(__IMPORTANT|[a-z]+(?:_[a-z]+)*)`")

_SENTENCE_END = lazy_pattern(r"(?<=[.?!])\s+")


def names_only(text: str, served: Container[str]) -> bool:
    """Return whether all tools that a text names are served."""
    return all(name in served for name in _TOOL.findall(text))


def drop_unserved(text: str, served: Container[str]) -> str:
    """Return a text without the sentences that name a tool which is not served."""
    return " ".join(part for part in _SENTENCE_END.split(text) if names_only(part, served))
