"""What the program says without a command: what is known, what changed, what to look at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memory_bank.base.errors import NoBank
from memory_bank.base.rendering import count
from memory_bank.frontends.cli.console import Console
from memory_bank.frontends.cli.overview import PROGRAM

if TYPE_CHECKING:
    from memory_bank.bank.bank import Bank

_SHOWN = 3

_COMMANDS = (
    ("Ask", f'{PROGRAM} recall "why is it like this?"'),
    ("Write", f'{PROGRAM} remember "what was learned" --type fact'),
    ("Read", f"{PROGRAM} serve web --open"),
    ("Help", f"{PROGRAM} --help"),
)


def show(named: str | None, console: Console) -> bool:
    """Print the state of a bank; False if there is none and no folder was named."""
    from memory_bank.bank.bank import open_bank

    try:
        with open_bank(named) as bank:
            _show(bank, console)
    except NoBank:
        if named:
            raise
        return False
    return True


def _show(bank: Bank, console: Console) -> None:
    from memory_bank.memory import overview

    found, counts = overview.home(bank), overview.stats(bank)
    console.line(
        (bank.layout.project.name, "bold"),
        (f"  {count(found.notes, 'note')} in {bank.layout.root.name}", "dim"),
    )
    if found.lately.changes:
        console.line("")
        console.line(("Changed this week", "bold"))
    for one in found.lately.changes[:_SHOWN]:
        day = one.changed_at[:10]
        room = max(console.columns - len(day) - 4, 10)
        title = one.title if len(one.title) <= room else f"{one.title[: room - 1]}…"
        console.line(f"  {title:<{room}}  ", (day, "dim"))
    if found.lately.total > _SHOWN:
        more = found.lately.total - _SHOWN
        console.line((f"  {more:,} more: {PROGRAM} notes --since 7d", "dim"))
    broken = [
        count(number, word)
        for number, word in (
            (counts.broken_links, "broken link"),
            (counts.unindexed, "file that is not indexed"),
        )
        if number
    ]
    if broken:
        console.line("")
        console.line(("Needs attention", "bold"))
        console.line("  ! ", ", ".join(broken), (f"  {PROGRAM} doctor", "path"))
    console.line("")
    for name, command in _COMMANDS:
        console.line((f"{name:<8}", "dim"), (command, "path"))
