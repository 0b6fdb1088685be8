"""What to do after an error, in the words of each front end: commands, an agent's tools, or pages.

A hint that has no words here is given in its own, which name none of them. Texts for agents name
tools in backticks; a sentence that names a tool which is not served is left out.
"""

from __future__ import annotations

from collections.abc import Container, Mapping

from memory_bank.base import lazy_pattern
from memory_bank.base.errors import Hint, MemoryBankError

COMMAND_HINTS = {
    Hint.MAKE_BANK: "run `memory-bank init` in your project",
    Hint.MAKE_FOLDER: "create it, or run `memory-bank init` in your project",
    Hint.MAKE_OR_NAME_BANK: (
        "run `memory-bank init` in your project, or name a bank with --bank DIR"
    ),
    Hint.NAME_BANK: "name it with --bank DIR",
    Hint.NAME_THAT_BANK: "if you mean that bank, name it: --bank {bank}, or MEMORY_BANK",
    Hint.LIST_RULES: "see `memory-bank lint --list`",
    Hint.LIST_NOTES: "see `memory-bank notes`",
    Hint.SEARCH_IDS: (
        "find its id with `memory-bank session search`; ids are texts like obs-3f2a9c1b7d04"
    ),
    Hint.LIST_GHOSTS: "see `memory-bank links --ghosts`",
    Hint.LIST_TRASH: "see `memory-bank trash`",
    Hint.CHECK_BANK: "see `memory-bank doctor`",
    Hint.WRITE_ELSEWHERE: (
        "write where the secret is stored instead; if it must be in the note, a person can give"
        " --allow-secret on the command line, or add to the settings: [secrets] allow = [{hashes}]"
    ),
    Hint.LIST_EMBEDDERS: "see `memory-bank embedder list`",
    Hint.TEST_EMBEDDER: "run `memory-bank embedder list` to see what it lacks",
    Hint.TEST_SERVER: "is the server running?",
    Hint.LIST_IMPORTERS: "see `memory-bank import -h`",
    Hint.NAME_ANOTHER_FILE: "name another file with --token-file",
    Hint.USE_USER_SCOPE: "use --scope user",
    Hint.REMOVE_LINK_OR_USE_USER_SCOPE: "remove the link, or use --scope user",
    Hint.NAME_SERVER: "choose another name for this server, for example --name {name}-2",
    Hint.REMOVE_BY_HAND: "remove it by hand, or name another one with --name",
    Hint.EDIT_HOOKS_BY_HAND: (
        "repair it, or add the hooks yourself: the command of each event is"
        " `memory-bank hook CLIENT EVENT`"
    ),
    Hint.MAKE_SHARED: "its operator runs `memory-bank shared init`",
    Hint.MAKE_SHARED_ANEW: (
        "its operator runs `memory-bank shared drop` and `shared init`, and all publish again"
    ),
    Hint.FORCE_PUBLISH: "fetch it and publish a commit that follows it, or add --force",
}
"""For a person at the command line: hints for which there is a command or an option."""

_READ_AGAIN = "read it again with `read_memory`"

_AGENT_HINTS = {
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
"""For an agent: hints that name one of its tools or a command for a person, the best first."""

PAGE_HINTS = {
    Hint.LIST_NOTES: "search for it, or follow a link from the start page",
    Hint.SEARCH_IDS: "search for it, or look for it among the sessions",
    Hint.READ_AGAIN: "load the note again",
    Hint.READ_AND_REPEAT: "load the note again, then repeat the change on what it says now",
}
"""For a browser: hints that name a page."""

_TOOL = lazy_pattern(r"`(__IMPORTANT|[a-z]+(?:_[a-z]+)*)`")

_SENTENCE_END = lazy_pattern(r"(?<=[.?!])\s+")


def hint_text(hint: str | None) -> str | None:
    """Return the command line's wording of a hint in a record."""
    return COMMAND_HINTS[Hint(hint)] if hint in COMMAND_HINTS else hint


def find_hint(error: MemoryBankError) -> str:
    """Return the hint of an error; empty if there is none."""
    return error.hint_in(COMMAND_HINTS)


def choose_hints(served: Container[str]) -> Mapping[Hint, str]:
    """Return the wording of hints for an agent that has the tools `served`.

    A hint without a wording here is given in its own words, which name no tool.
    """
    usable = {
        hint: [text for text in texts if names_only(text, served)]
        for hint, texts in _AGENT_HINTS.items()
    }
    return {hint: texts[0] for hint, texts in usable.items() if texts}


def names_only(text: str, served: Container[str]) -> bool:
    """Return whether all tools that a text names are served."""
    return all(name in served for name in _TOOL.findall(text))


def drop_unserved(text: str, served: Container[str]) -> str:
    """Return a text without the sentences that name a tool which is not served."""
    return " ".join(part for part in _SENTENCE_END.split(text) if names_only(part, served))
