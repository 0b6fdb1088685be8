"""`memory-bank mcp`: add this server to the configuration of agents' programs."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Annotated

from memory_bank.agents import clients, file_change
from memory_bank.agents.file_change import DryRun, Yes
from memory_bank.agents.install import SERVER, ConfigChange, install, needs_bank, uninstall
from memory_bank.base.operation import Param, operation, topic
from memory_bank.base.screen import FOUND, Call, place

_NAMES = clients.names(clients.SERVERS)

_CLIENT = f"The program: {', '.join(_NAMES)}"


_Client = Annotated[str, Param(_CLIENT, metavar="NAME", choices=_NAMES)]
_Scope = Annotated[str | None, Param("The project's file or your own", choices=clients.SCOPES)]
_Name = Annotated[str | None, Param("The server's name [memory-bank]", metavar="NAME")]


@operation(
    "mcp install",
    grows=True,
    why="""
    Adds this server to the configuration of a program: to the project's file, which is in git and
    applies to everybody who has the project, or to your own, for all your projects. The default for
    --scope is the project's file if the program reads and trusts one; see docs/mcp.md.

    The server finds the bank of the project in which the program works. With --bank, the entry in
    your own file names that bank for all of them.

    Shows the change and asks before making it. Everything else in the file stays the same,
    including comments. A file that the program could not read is not changed. Prints whether
    another scope already has this server, and what to do before the program starts it.
    """,
    examples=(
        ("memory-bank mcp install --client claude-code", "for everybody in this project"),
        ("memory-bank mcp install --client codex --yes", "for yourself, without being asked"),
        ("memory-bank mcp install --client zed --dry-run", "show the change only"),
    ),
)
def _install(
    call: Call,
    *,
    client: _Client,
    scope: _Scope = None,
    name: _Name = None,
    yes: Yes = False,
    dry_run: DryRun = False,
) -> int:
    """Add this server to a program's configuration."""
    named = call.named_bank is not None
    with call.open_if_there(needed=needs_bank(client, scope)) as bank:
        change = install(bank, client, scope=scope, name=name or SERVER, named=named)
    for other in change.elsewhere:
        where = f"{other.scope} scope: {other.name!r} in {place(other.file)}"
        call.remark(f"{change.client.title} already has this server in the {where}; one is enough")
    about = _about(change)
    return file_change.installed(call, change, about, yes=yes, dry_run=dry_run)


@operation(
    "mcp uninstall",
    grows=True,
    why="""
    Removes this server from the configuration of a program. Everything else in the file stays,
    including keys that you added to its entry; a file that install created is deleted if nothing
    else is in it. Refuses an entry that starts another program. Shows the change and asks before
    making it.
    """,
    examples=(("memory-bank mcp uninstall --client cursor", "from this project"),),
)
def _uninstall(
    call: Call, *, client: _Client, scope: _Scope = None, name: _Name = None, yes: Yes = False
) -> int:
    """Remove this server from a program's configuration."""
    with call.open() if needs_bank(client, scope) else nullcontext() as bank:
        change = uninstall(bank, client, scope=scope, name=name or SERVER)
    what = f"server {change.name}"
    code = file_change.removed(call, change, _about(change), what, yes=yes)
    if change.kept and code == FOUND and not call.json:
        kept = ", ".join(change.kept)
        call.console.line(f"kept the keys that were added to {change.name}: {kept}")
    return code


def _about(change: ConfigChange) -> dict[str, object]:
    """Return a change as JSON, without the other servers of the file, which may be private."""
    others = [{"scope": o.scope, "file": o.file, "name": o.name} for o in change.elsewhere]
    return {
        "name": change.name, "entry": change.entry, "elsewhere": others, "kept": change.kept
    }  # fmt: skip


topic(
    "mcp",
    "Set up agents' programs such as Claude Code or Cursor.",
    group="Agents",
    why="""
    Programs that support the Model Context Protocol start `memory-bank serve mcp` themselves if
    their configuration has an entry for it. install adds the entry, uninstall removes it.
    """,
    examples=(("memory-bank mcp install --client claude-code", "in a project"),),
)
