"""What an agent does next after an error: hints of ours, which no note had a part in."""

from __future__ import annotations

_SEARCH = "find its name with search_memories"
_AS_IS = (
    *(
        "give the text to remember",
        "give the text to append",
        "give the text that the notes become",
    ),
    *("give either old or section", "give its path: A > B", "try again"),
    *("give more of the text around it, or the number expected", "give the note a name of its own"),
    'write KIND:ID, for example person:sarah, or {"kind": "person", "id": "sarah"}',
    "give it at least one letter or digit",
    *("name the note by its path below the bank", "use letters, digits, '-', '_', '.' and '/'"),
    "use 7d, 2w, 3 months, yesterday, or a date like 2026-05-08",
    "run `memory-bank init` in your project, or name a bank with --bank DIR",
)
HINTS = {hint: hint for hint in _AS_IS} | {
    "see `memory-bank notes`": _SEARCH,
    "list notes with `memory-bank notes`": _SEARCH,
    "see `memory-bank links --ghosts`": "name it as notes link to it, or use search_memories",
    "see `memory-bank restore`": "name it as it was: delete_memory told the path",
    "read the note again": "read it again with read_memory",
    "read it again, then repeat the change on what it says now": (
        "read it again with read_memory, then repeat the change on what it says now"
    ),
    "choose another name, or update that note": "choose another name, or use edit_memory on it",
    "to remove a note, delete it": "to remove a note, use delete_memory",
    "look at the notes and try again": "read the notes again with read_memory, then try again",
}
"""Hints that may stand outside of a quote, as an agent is told them: its tools, no commands.

Any other hint may name what a file says, so it is quoted.
"""
