"""`memory-bank hooks` and `memory-bank mcp`: change the files of agents' programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from contextlib import nullcontext
from typing import Annotated

from memory_bank.agents import clients, hook_install, install
from memory_bank.agents.client_files import ClientChange
from memory_bank.agents.hook_install import HookPlace, HookStatus
from memory_bank.agents.install import SERVER, ConfigChange, needs_bank
from memory_bank.bank import program_files
from memory_bank.base.errors import BadInput
from memory_bank.base.operation import Param, operation, topic
from memory_bank.base.rendering import count
from memory_bank.base.screen import FOUND, NOTHING, Call, Piece, place

_Yes = Annotated[bool, Param("Change the file without asking")]
_DryRun = Annotated[bool, Param("Show the change, change no file")]

_MOST_LINES = 16
"""Lines of a difference that are shown before a question; of more, their number."""

_WORDS = {"+": "added", "-": "removed"}

_HEADERS = 2
"""Header lines of a unified diff."""

_LOOK = "the change with --dry-run"


def _installed(
    call: Call, change: ClientChange, about: Mapping[str, object], *, yes: bool, dry_run: bool
) -> int:
    """Add something to a program's file if the user agrees, and say what is to be done next."""
    if dry_run and change.changed and not call.json:
        _show_change(call, change)
    has_ended = not dry_run and _made(call, change, yes=yes)
    _answer(call, change, about, "already there:", done=has_ended)
    if change.bundle and not call.json:
        call.remark("a second one would do everything twice; --force adds it to your own file")
    elif (has_ended or not change.changed) and not call.json:
        step = change.client.next_step(change.scope)
        call.console.line(("next: ", "bold"), f"{change.client.title}: {step}")
    return FOUND if has_ended or dry_run or not change.changed else NOTHING


def _removed(
    call: Call, change: ClientChange, about: Mapping[str, object], text: str, *, yes: bool
) -> int:
    """Take something out of a program's file if the user agrees."""
    has_ended = _made(call, change, yes=yes)
    _answer(call, change, about, f"{change.client.title} has no {text} in", done=has_ended)
    if change.bundle and not call.json:
        call.remark("the whole team uses it; memory-bank agents bundle --remove takes it out")
    return FOUND if has_ended else NOTHING


_Force = Annotated[bool, Param("Also where the project's bundle has it")]


def _answer(
    call: Call, change: ClientChange, about: Mapping[str, object], text: str, *, done: bool
) -> None:
    where = (place(change.file), "place")
    if call.json:
        entries = {"client": change.client.name, "scope": change.scope, "file": change.file}
        entries |= {"bundle": change.bundle} if change.bundle else {}
        entries |= {key: value for key, value in about.items() if value}
        call.console.document({**entries, "changed": done})
    elif change.bundle:
        call.console.line("this project's bundle has it: ", (place(change.bundle), "place"))
    elif not change.changed:
        call.console.line(f"{text} ", where)
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
        _show_change(call, change, _LOOK)
        if not call.agreed(f"Change {place(change.file)}?"):
            call.remark("nothing was changed")
            return False
    change.write()
    if change.after is None and change.scope == "project":
        program_files.remove_empty(change.file.parent)
    return True


def _show_change(call: Call, change: ClientChange, look: str = "") -> None:
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
        said_text = ", ".join(
            f"{count(signs[sign], 'line')} {word}" for sign, word in _WORDS.items() if signs[sign]
        )
        console.line(f"  {said_text}; you see {look}")
    else:
        for line in lines:
            style = {"+": "good", "-": "bad"}.get(line[:1], "dim")
            console.line((line, style))
    console.flush()


def _client(part: str) -> Param:
    names = clients.names(part)
    return Param(f"The program: {', '.join(names)}", metavar="NAME", choices=names)


_HookClient = Annotated[str, _client(clients.HOOKS)]
_HookScope = Annotated[str, Param("The project's file or your own [user]", choices=clients.SCOPES)]


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
def _install_hooks(
    call: Call,
    *,
    client: _HookClient,
    scope: _HookScope = "user",
    force: _Force = False,
    yes: _Yes = False,
    dry_run: _DryRun = False,
) -> int:
    """Let a program report its sessions."""
    with call.open_if_there(needed=scope == "project") as bank:
        change = hook_install.install(bank, client, scope=scope, force=force)
    for path in change.elsewhere:
        call.remark(f"{change.client.title} has these hooks in {place(path)}, too; one is enough")
    about = {"events": change.events, "elsewhere": change.elsewhere}
    return _installed(call, change, about, yes=yes, dry_run=dry_run)


@operation(
    "hooks uninstall",
    grows=True,
    why="""
    Removes the hooks of this program from a file of a program. Everything else in the file stays; a
    file in which nothing else is left is deleted. Shows the change and asks before making it.
    """,
    examples=(("memory-bank hooks uninstall --client cursor", "from your own file"),),
)
def _uninstall_hooks(
    call: Call, *, client: _HookClient, scope: _HookScope = "user", yes: _Yes = False
) -> int:
    """Let a program no longer report its sessions."""
    with call.open_if_there(needed=scope == "project") as bank:
        change = hook_install.uninstall(bank, client, scope=scope)
    return _removed(call, change, {}, "hooks", yes=yes)


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
    client: Annotated[str | None, _client(clients.HOOKS)] = None,
) -> int:
    """Show which programs report their sessions."""
    with call.open_if_there() as bank:
        hook_status = hook_install.status(bank, client or "")
    call.answer(hook_status, lambda hook_status: _show(call, hook_status))
    return 0


def _show(call: Call, hook_status: HookStatus) -> None:
    received = {
        str(current_received["client"]): current_received
        for current_received in hook_status.received
    }
    shown_clients = set[str]()
    for current_place in hook_status.places:
        if current_place.installed or current_place.problem or current_place.scope == "user":
            call.console.line(*_described(current_place))
        if current_place.missing:
            call.console.line(f"  without {', '.join(current_place.missing)}: install them again")
        last = received.get(current_place.client)
        if last and current_place.client not in shown_clients:
            shown_clients.add(current_place.client)
            call.console.line(f"  last event: {last['event']} at {last['created_at']}")


def _described(current_place: HookPlace) -> list[Piece]:
    if not current_place.installed:
        how = f"not installed: memory-bank hooks install --client {current_place.client}"
        state: Piece = (current_place.problem or how, "warn" if current_place.problem else "dim")
        return [
            f"{current_place.client} ({current_place.scope}): ",
            state,
            "  ",
            (place(current_place.file), "place"),
        ]
    events = f"{len(current_place.events)} events"
    if current_place.client == "codex":
        events += ", trust unknown: see /hooks"
    state = ("installed", "good")
    if current_place.problem or not current_place.runs:
        state = (current_place.problem or f"{current_place.command} was not found", "bad")
    line: list[Piece] = [
        f"{current_place.client} ({current_place.scope}): ",
        state,
        f"  {events}  ",
    ]
    return [*line, (place(current_place.file), "place")]


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


_Server = Annotated[str, _client(clients.SERVERS)]
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
def _install_server(
    call: Call,
    *,
    client: _Server,
    scope: _Scope = None,
    name: _Name = None,
    force: _Force = False,
    yes: _Yes = False,
    dry_run: _DryRun = False,
) -> int:
    """Add this server to a program's configuration."""
    is_named = call.named_bank is not None
    with call.open_if_there(needed=needs_bank(client, scope)) as bank:
        change = install.install(
            bank, client, scope=scope, name=name or SERVER, named=is_named, force=force
        )
    for entry in change.elsewhere:
        where = f"{entry.scope} scope: {entry.name!r} in {place(entry.file)}"
        call.remark(f"{change.client.title} already has this server in the {where}; one is enough")
    about = _about(change)
    return _installed(call, change, about, yes=yes, dry_run=dry_run)


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
def _uninstall_server(
    call: Call, *, client: _Server, scope: _Scope = None, name: _Name = None, yes: _Yes = False
) -> int:
    """Remove this server from a program's configuration."""
    with call.open() if needs_bank(client, scope) else nullcontext() as bank:
        change = install.uninstall(bank, client, scope=scope, name=name or SERVER)
    text = f"server {change.name}"
    code = _removed(call, change, _about(change), text, yes=yes)
    if change.kept and code == FOUND and not call.json:
        kept_text = ", ".join(change.kept)
        call.console.line(f"kept the keys that were added to {change.name}: {kept_text}")
    return code


def _about(change: ConfigChange) -> dict[str, object]:
    """Return a change as JSON, without the other servers of the file, which may be private."""
    entries = [{"scope": o.scope, "file": o.file, "name": o.name} for o in change.elsewhere]
    return {
        "name": change.name, "entry": change.entry, "elsewhere": entries, "kept": change.kept
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
