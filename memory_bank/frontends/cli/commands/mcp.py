"""`memory-bank mcp`: make agents' programs start this server."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from difflib import unified_diff
from typing import TYPE_CHECKING, Any

import click

from memory_bank.actions.clients import NAMES, SCOPES
from memory_bank.errors import BadInput
from memory_bank.frontends.cli.call import NOTHING, Call
from memory_bank.frontends.cli.command import as_command
from memory_bank.frontends.cli.console import place
from memory_bank.frontends.cli.help import Group
from memory_bank.frontends.cli.text_input import interactive

if TYPE_CHECKING:
    from memory_bank.actions.clients.install import Change

GROUP = "Agents"

_HEADERS = 2
"""Lines of a diff before its first place."""


def _shared(function: Callable[..., Any]) -> Callable[..., Any]:
    """Take what tells which entry of which file is meant."""
    for decorate in (
        click.option("--yes", is_flag=True, help="Change the file without asking"),
        click.option("--name", metavar="NAME", help="What the server is called [memory-bank]"),
        click.option("--scope", type=click.Choice(SCOPES), help="The project's file, or your own"),
        click.option(
            "--client", required=True, type=click.Choice(NAMES), metavar="NAME", help=_CLIENT
        ),
    ):
        function = decorate(function)
    return function


_CLIENT = f"The program: {', '.join(NAMES)}"


@as_command(
    "install",
    why="""
    Adds this server to the configuration of a program: to the project's file, which is in git and
    holds for everybody who has the project, or to your own, which holds the paths of this machine.
    Without --scope it is the project's file where the program reads one and trusts it; see
    docs/mcp.md.

    Shows what would change and asks first. Everything else in the file stays as it is, comments
    included. A file that the program could not read is not touched. Says when another scope has
    this server already, and what to do before the program starts it.
    """,
    examples=(
        ("memory-bank mcp install --client claude-code", "for everybody in this project"),
        ("memory-bank mcp install --client codex --yes", "for yourself, without being asked"),
        ("memory-bank mcp install --client zed --print", "show the entry, change nothing"),
    ),
)
@_shared
@click.option("--print", "only_print", is_flag=True, help="Show the entry, change no file")
def _install(
    call: Call, *, client: str, scope: str | None, name: str | None, yes: bool, only_print: bool
) -> int:
    """Add this server to a program's configuration."""
    from memory_bank.actions.clients.install import SERVER, install

    with call.open() as bank:
        change = install(bank, client, scope=scope, name=name or SERVER, blank=only_print)
    if only_print:
        _print(call, change)
        return 0
    for other in change.elsewhere:
        where = f"{other.scope} scope: {other.name!r} in {place(other.file)}"
        call.remark(f"{change.client.title} already has this server in the {where}; one is enough")
    done = _made(call, change, yes=yes)
    if call.json:
        _answer(call, change, done=done)
    elif not change.changed:
        call.page.line("there already: ", (place(change.place.file), "place"))
    elif done:
        call.page.line("wrote ", (place(change.place.file), "place"))
        next_step = change.client.next_step(change.place.scope)
        call.page.line(("next: ", "bold"), f"{change.client.title}: {next_step}")
    return 0 if done or not change.changed else NOTHING


@as_command(
    "uninstall",
    why="""
    Takes this server out of the configuration of a program. Everything else in the file stays, keys
    that were added to its entry too; a file that install made is removed when nothing else is in
    it. An entry that starts another program is refused. Shows what would change and asks first.
    """,
    examples=(("memory-bank mcp uninstall --client cursor", "from this project"),),
)
@_shared
def _uninstall(call: Call, *, client: str, scope: str | None, name: str | None, yes: bool) -> int:
    """Take this server out of a program's configuration."""
    from memory_bank.actions.clients.install import SERVER, needs_bank, uninstall

    with call.open() if needs_bank(client, scope) else nullcontext() as bank:
        change = uninstall(bank, client, scope=scope, name=name or SERVER)
    done = _made(call, change, yes=yes)
    if call.json:
        _answer(call, change, done=done)
    elif not change.changed:
        call.page.line(
            f"{change.client.title} has no server {change.place.name} in ",
            (place(change.place.file), "place"),
        )
    elif done:
        verb = "removed " if change.after is None else "wrote "
        call.page.line(verb, (place(change.place.file), "place"))
        if change.kept:
            kept = ", ".join(change.kept)
            call.page.line(f"kept in the file what was added to {change.place.name}: {kept}")
    return 0 if done else NOTHING


def _print(call: Call, change: Change) -> None:
    if call.json:
        _answer(call, change, done=False)
        return
    call.page.write(change.after or "")
    call.remark(f"for {place(change.place.file)}")


def _answer(call: Call, change: Change, *, done: bool) -> None:
    """Print a change for a program; other servers of the file are nobody's business."""
    scope, file, _, name = change.place
    shown: dict[str, object] = {"client": change.client.name, "scope": scope, "file": file}
    shown |= {"name": name} | ({} if change.entry is None else {"entry": change.entry})
    if change.elsewhere:
        others = change.elsewhere
        shown["elsewhere"] = [{"scope": o.scope, "file": o.file, "name": o.name} for o in others]
    if change.kept:
        shown["kept"] = change.kept
    call.page.document({**shown, "changed": done})


def _made(call: Call, change: Change, *, yes: bool) -> bool:
    """Make a change once somebody agreed to it; tell whether it was made."""
    from memory_bank.actions.clients.install import write

    if not change.changed:
        return False
    if not yes and not _agreed(call, change):
        call.remark("nothing was changed")
        return False
    write(change)
    return True


def _agreed(call: Call, change: Change) -> bool:
    if call.json or not interactive():
        raise BadInput(
            f"{change.place.file} would be changed, and nobody is there to be asked",
            "add --yes to change it, or see the entry with `mcp install --print`",
        )
    before, after = (text.splitlines() for text in (change.before or "", change.after or ""))
    for line in list(unified_diff(before, after, n=0, lineterm=""))[_HEADERS:]:
        style = {"+": "good", "-": "bad"}.get(line[:1], "dim")
        call.aside.line((line, style))
    call.aside.flush()
    return click.confirm(f"Change {place(change.place.file)}?", err=True)


command = Group(
    "mcp",
    help="Set up agents' programs, as Claude Code or Cursor.",
    why="""
    Programs that speak the Model Context Protocol start `memory-bank serve mcp` themselves, once
    their configuration says so. install writes that, uninstall takes it out.
    """,
    examples=(("memory-bank mcp install --client claude-code", "in a project"),),
    commands={made.name or "": made for made in (_install, _uninstall)},
)
