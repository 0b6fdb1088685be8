"""What an agent does next after an error: hints of ours, which no note had a part in."""

from __future__ import annotations

from memory_bank.hints import Hint

HINTS = {
    Hint.MAKE_BANK: "run `memory-bank init` in your project",
    Hint.MAKE_OR_NAME_BANK: (
        "run `memory-bank init` in your project, or name a bank with --bank DIR"
    ),
    Hint.LIST_NOTES: "find its name with search_memories",
    Hint.LIST_GHOSTS: "name it as notes link to it, or use search_memories",
    Hint.LIST_TRASH: "name it as it was: delete_memory told the path",
    Hint.READ_AGAIN: "read it again with read_memory",
    Hint.READ_AND_REPEAT: (
        "read it again with read_memory, then repeat the change on what it says now"
    ),
    Hint.CHOOSE_ANOTHER_NAME: "choose another name, or use edit_memory on it",
    Hint.DELETE_INSTEAD: "to remove a note, use delete_memory",
    Hint.LOOK_AND_REPEAT: "read the notes again with read_memory, then try again",
    Hint.RESOLVE_CONFLICT: (
        "resolve it whole in one edit_memory: keep what holds, leave none of the lines of <<<<<<<,"
        " ======= and >>>>>>>; one in front matter is for a person to resolve"
    ),
    Hint.WRITE_ELSEWHERE: (
        "write where it is kept instead; only a person may allow it, on the command line or in the"
        " settings"
    ),
    Hint.INSTALL_MINILM: "a person may run `memory-bank embedder install minilm`",
    Hint.TEST_EMBEDDER: "a person may run `memory-bank embedder test`",
    Hint.TEST_SERVER: "is the server running? a person may run `memory-bank embedder test`",
    Hint.CHECK_BANK: "a person may run `memory-bank doctor`",
}
"""Steps that an agent has a tool for, or a person beside it; the others are said as they are.

Each may stand outside of a quote. Any other hint may name what a file says, so it is quoted.
"""
