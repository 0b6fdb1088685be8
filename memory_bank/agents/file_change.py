"""Change the file of another program after the user has seen how."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING

from memory_bank.base.errors import BadInput
from memory_bank.base.rendering import count
from memory_bank.base.screen import Call, place

if TYPE_CHECKING:
    from memory_bank.agents.hook_install import HookChange
    from memory_bank.agents.install import ConfigChange


_MOST_LINES = 16
"""Lines of a difference that are shown before a question; of more, their number."""

_WORDS = {"+": "added", "-": "removed"}

_HEADERS = 2
"""Header lines of a unified diff."""


def made(
    call: Call,
    change: ConfigChange | HookChange,
    write: Callable[[], None],
    *,
    yes: bool,
    look: str,
) -> bool:
    """Make a change by `write` if the user agrees; tell whether it was made.

    `look` says how to see it without a terminal. Raises BadInput there, unless `yes` is given.
    """
    if not change.changed:
        return False
    if not yes:
        if call.json or not call.interactive:
            raise BadInput(
                f"{change.file} would be changed, but confirmation needs a terminal",
                "add --yes to change it, or show {look}",
                look=look,
            )
        show(call, change, look)
        if not call.agreed(f"Change {place(change.file)}?"):
            call.remark("nothing was changed")
            return False
    write()
    return True


def show(call: Call, change: ConfigChange | HookChange, look: str = "") -> None:
    """Print the lines that change: to stderr on a terminal, which is asked next.

    With `look`, how to see them, only the number of many.
    """
    from difflib import unified_diff  # start-up: the list of commands shows no change

    before, after = (text.splitlines() for text in (change.before or "", change.after or ""))
    console = call.stderr if call.interactive else call.console
    console.line((place(change.file), "place"))
    lines = list(unified_diff(before, after, n=0, lineterm=""))[_HEADERS:]
    signs = Counter(line[:1] for line in lines)
    if look and len(lines) > _MOST_LINES:
        said = ", ".join(f"{count(signs[sign], 'line')} {word}" for sign, word in _WORDS.items()
                         if signs[sign])  # fmt: skip
        console.line(f"  {said}; you see {look}")
    else:
        for line in lines:
            style = {"+": "good", "-": "bad"}.get(line[:1], "dim")
            console.line((line, style))
    console.flush()


def outcome(call: Call, change: ConfigChange | HookChange) -> None:
    """Say which file was written, or removed."""
    verb = "removed " if change.after is None else "wrote "
    call.console.line(verb, (place(change.file), "place"))
