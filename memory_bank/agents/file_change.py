"""Change the file of another program after the user has seen how."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Annotated

from memory_bank.agents.client_files import ClientChange
from memory_bank.base.errors import BadInput
from memory_bank.base.operation import Param
from memory_bank.base.rendering import count
from memory_bank.base.screen import FOUND, NOTHING, Call, place

Yes = Annotated[bool, Param("Change the file without asking")]
DryRun = Annotated[bool, Param("Show the change, change no file")]

_MOST_LINES = 16
"""Lines of a difference that are shown before a question; of more, their number."""

_WORDS = {"+": "added", "-": "removed"}

_HEADERS = 2
"""Header lines of a unified diff."""

_LOOK = "the change with --dry-run"


def installed(
    call: Call, change: ClientChange, about: Mapping[str, object], *, yes: bool, dry_run: bool
) -> int:
    """Add something to a program's file if the user agrees, and say what is to be done next."""
    if dry_run and change.changed and not call.json:
        show(call, change)
    done = not dry_run and _made(call, change, yes=yes)
    _answer(call, change, about, "already there:", done=done)
    if (done or not change.changed) and not call.json:
        step = change.client.next_step(change.scope)
        call.console.line(("next: ", "bold"), f"{change.client.title}: {step}")
    return FOUND if done or dry_run or not change.changed else NOTHING


def removed(
    call: Call, change: ClientChange, about: Mapping[str, object], what: str, *, yes: bool
) -> int:
    """Take something out of a program's file if the user agrees."""
    done = _made(call, change, yes=yes)
    _answer(call, change, about, f"{change.client.title} has no {what} in", done=done)
    return FOUND if done else NOTHING


def _answer(
    call: Call, change: ClientChange, about: Mapping[str, object], same: str, *, done: bool
) -> None:
    where = (place(change.file), "place")
    if call.json:
        told = {"client": change.client.name, "scope": change.scope, "file": change.file}
        told |= {key: value for key, value in about.items() if value}
        call.console.document({**told, "changed": done})
    elif not change.changed:
        call.console.line(f"{same} ", where)
    elif done:
        call.console.line("removed " if change.after is None else "wrote ", where)


def _made(call: Call, change: ClientChange, *, yes: bool) -> bool:
    """Make a change if the user agrees; tell whether it was made.

    Raises BadInput without a terminal, unless `yes` is given.
    """
    if not change.changed:
        return False
    if not yes:
        if call.json or not call.interactive:
            raise BadInput(
                f"{change.file} would be changed, but confirmation needs a terminal",
                "add --yes to change it",
            )
        show(call, change, _LOOK)
        if not call.agreed(f"Change {place(change.file)}?"):
            call.remark("nothing was changed")
            return False
    change.write()
    return True


def show(call: Call, change: ClientChange, look: str = "") -> None:
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
