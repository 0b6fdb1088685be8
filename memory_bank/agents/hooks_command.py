"""`memory-bank hooks`: let agents' programs report their sessions to this program."""

from __future__ import annotations

from typing import Annotated

from memory_bank.agents import clients, file_change
from memory_bank.agents.file_change import DryRun, Yes
from memory_bank.agents.hook_install import HookPlace, HookStatus, install, status, uninstall
from memory_bank.base.operation import Param, operation, topic
from memory_bank.base.screen import Call, Piece, place

_NAMES = clients.names(clients.HOOKS)

_CLIENT = f"The program: {', '.join(_NAMES)}"


_SCOPE = "The project's file or your own [user]"


_Client = Annotated[str, Param(_CLIENT, metavar="NAME", choices=_NAMES)]
_Scope = Annotated[str, Param(_SCOPE, choices=clients.SCOPES)]


@operation(
    "hooks install",
    grows=True,
    why="""
    Adds `memory-bank hook` to the hooks of a program: to your own file, for all projects, where it
    does nothing without a bank; with --scope project to the project's file, which is in git and
    applies to everybody who has the project.

    Shows the change and asks before making it. Everything else in the file stays the same, other
    hooks included. Doing it again changes nothing, or only what is out of date.
    """,
    examples=(
        ("memory-bank hooks install --client claude-code", "in all your projects"),
        ("memory-bank hooks install --client codex --yes", "without being asked"),
        ("memory-bank hooks install --client gemini --dry-run", "show the change only"),
    ),
)
def _install(
    call: Call,
    *,
    client: _Client,
    scope: _Scope = "user",
    yes: Yes = False,
    dry_run: DryRun = False,
) -> int:
    """Let a program report its sessions."""
    with call.open_if_there(needed=scope == "project") as bank:
        change = install(bank, client, scope=scope)
    for other in change.elsewhere:
        call.remark(f"{change.client.title} has these hooks in {place(other)}, too; one is enough")
    about = {"events": change.events, "elsewhere": change.elsewhere}
    return file_change.installed(call, change, about, yes=yes, dry_run=dry_run)


@operation(
    "hooks uninstall",
    grows=True,
    why="""
    Removes the hooks of this program from a file of a program. Everything else in the file stays; a
    file in which nothing else is left is deleted. Shows the change and asks before making it.
    """,
    examples=(("memory-bank hooks uninstall --client cursor", "from your own file"),),
)
def _uninstall(call: Call, *, client: _Client, scope: _Scope = "user", yes: Yes = False) -> int:
    """Let a program no longer report its sessions."""
    with call.open_if_there(needed=scope == "project") as bank:
        change = uninstall(bank, client, scope=scope)
    return file_change.removed(call, change, {}, "hooks", yes=yes)


@operation(
    "hooks status",
    grows=True,
    why="""
    Shows for each program whether its hooks report to this program, in which file, for which
    events, whether the command was found, and the last event that this bank received from it.
    Whether a program trusts the hooks, only the program knows: in Codex, see /hooks.
    """,
    examples=(("memory-bank hooks status", "all programs"),),
)
def _status(
    call: Call,
    *,
    client: Annotated[str | None, Param(_CLIENT, metavar="NAME", choices=_NAMES)] = None,
) -> int:
    """Show which programs report their sessions."""
    with call.open_if_there() as bank:
        found = status(bank, client or "")
    call.answer(found, lambda found: _show(call, found))
    return 0


def _show(call: Call, found: HookStatus) -> None:
    received = {str(one["client"]): one for one in found.received}
    shown = set[str]()
    for one in found.places:
        if one.installed or one.problem or one.scope == "user":
            call.console.line(*_described(one))
        if one.missing:
            call.console.line(f"  without {', '.join(one.missing)}: install them again")
        last = received.get(one.client)
        if last and one.client not in shown:
            shown.add(one.client)
            call.console.line(f"  last event: {last['event']} at {last['created_at']}")


def _described(one: HookPlace) -> list[Piece]:
    if not one.installed:
        state: Piece = (one.problem or "not installed", "warn" if one.problem else "dim")
        return [f"{one.client} ({one.scope}): ", state, "  ", (place(one.file), "place")]
    events = f"{len(one.events)} events"
    if one.client == "codex":
        events += ", trust unknown: see /hooks"
    state = ("installed", "good")
    if one.problem or not one.runs:
        state = (one.problem or f"{one.command} was not found", "bad")
    line: list[Piece] = [f"{one.client} ({one.scope}): ", state, f"  {events}  "]
    return [*line, (place(one.file), "place")]


topic(
    "hooks",
    "Let agents' programs report their sessions.",
    group="Agents",
    why="""
    Programs such as Claude Code start a command at each event of a session: its hook. install adds
    `memory-bank hook` to the hooks of a program, so that its sessions are recorded; uninstall
    removes it, status shows where it is.
    """,
    examples=(("memory-bank hooks install --client claude-code", "once, for all projects"),),
)
