"""The command line's wording of hints: what a person can do after an error."""

from __future__ import annotations

from memory_bank.base.errors import Hint, MemoryBankError

HINTS = {
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
"""Hints for which there is a command or an option; all others are printed unchanged."""


def hint_text(hint: str | None) -> str | None:
    """Return the command line's wording of a hint in a record."""
    return HINTS[Hint(hint)] if hint in HINTS else hint


def find_hint(error: MemoryBankError) -> str:
    """Return the hint of an error; empty if there is none."""
    return error.hint_in(HINTS)
