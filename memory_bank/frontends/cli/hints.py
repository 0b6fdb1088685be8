"""What a person at the command line does next after an error."""

from __future__ import annotations

from memory_bank.errors import MemoryBankError
from memory_bank.hints import Hint

HINTS = {
    Hint.MAKE_BANK: "run `memory-bank init` in your project",
    Hint.MAKE_FOLDER: "make it, or run `memory-bank init`",
    Hint.MAKE_OR_NAME_BANK: (
        "run `memory-bank init` in your project, or name a bank with --bank DIR"
    ),
    Hint.NAME_THAT_BANK: "if you mean that bank, name it: --bank {bank}, or MEMORY_BANK",
    Hint.LIST_NOTES: "see `memory-bank notes`",
    Hint.LIST_GHOSTS: "see `memory-bank links --ghosts`",
    Hint.LIST_TRASH: "see `memory-bank restore`",
    Hint.CHECK_BANK: "see `memory-bank doctor`",
    Hint.WRITE_ELSEWHERE: (
        "write where it is kept instead; a person who wants it there may give --allow-secret on"
        " the command line, or add to the settings: [secrets] allow = [{hashes}]"
    ),
    Hint.LIST_EMBEDDERS: "see `memory-bank embedder list`",
    Hint.INSTALL_MINILM: "run: memory-bank embedder install minilm",
    Hint.TEST_EMBEDDER: "`memory-bank embedder test` tries it",
    Hint.TEST_SERVER: "is the server running? `memory-bank embedder test` asks it again",
    Hint.LIST_IMPORTERS: "see `memory-bank import -h`",
    Hint.NAME_ANOTHER_FILE: "name another with --token-file",
    Hint.USE_USER_SCOPE: "use --scope user",
    Hint.REMOVE_LINK_OR_USE_USER_SCOPE: "remove the link, or use --scope user",
    Hint.NAME_SERVER: "give this one a name of its own, for example --name {name}-2",
    Hint.REMOVE_BY_HAND: "remove it by hand, or name another one with --name",
    Hint.EDIT_BY_HAND: (
        "repair it, or make the change yourself: `mcp install --print` shows the entry"
    ),
}
"""Steps that the command line has a command or an option for; the others are said as they are."""


def worded(hint: str | None) -> str | None:
    """Return the hint of a record in the words of the command line."""
    return HINTS[Hint(hint)] if hint in HINTS else hint


def hint_of(error: MemoryBankError) -> str:
    """Return what to do next after an error; empty when nothing is known."""
    return error.hint_in(HINTS)
