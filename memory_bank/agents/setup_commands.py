"""`memory-bank agents`: add the hooks and the server to the files of agents' programs."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from difflib import unified_diff
from pathlib import Path
from typing import Annotated

from memory_bank.agents import client_files, clients, hook_install, server_install
from memory_bank.agents.client_files import (
    ClientChange,
    ClientPlace,
    HookClient,
    McpClient,
    find_bundle_file,
    is_bundled,
)
from memory_bank.agents.server_install import SERVER
from memory_bank.bank import written_files
from memory_bank.bank.bank import Bank
from memory_bank.base.errors import BadInput, Hint
from memory_bank.base.operation import Param, operation, topic
from memory_bank.base.rendering import count
from memory_bank.base.screen import FOUND, NOTHING, Call, Piece, show_place
from memory_bank.sessions.queue import EventQueue

HOOKS = "hooks"

PARTS = {HOOKS: clients.HOOKS, "server": clients.SERVERS}
"""What a program may get, and the function of its module that says how."""

_Client = Annotated[
    str, Param("The program", argument=True, metavar="CLIENT", choices=clients.list_installable())
]
_Scope = Annotated[str, Param("Your own file, or the project's [user]", choices=clients.SCOPES)]
_Only = Annotated[str | None, Param("Only its hooks, or only the server", choices=tuple(PARTS))]
_Name = Annotated[str, Param("The server's name [memory-bank]", metavar="NAME")]
_Yes = Annotated[bool, Param("Change the files without asking")]

_MOST_LINES = 16
"""Lines of a difference that are shown before a question; of more, their number."""

_WORDS = {"+": "added", "-": "removed"}

_HEADERS = 2
"""Header lines of a unified diff."""


def plan_change(
    bank: Bank | None,
    client: str,
    part: str,
    *,
    scope: str = "user",
    name: str = SERVER,
    named: bool = False,
    force: bool = False,
    remove: bool = False,
) -> ClientChange:
    """Return the change that gives a program hooks or the server `name`, or takes them out.

    What is in a project's file holds for everybody who has the project; what is in the user's own
    file holds the path of this program, for all projects. A `named` bank is the only one that the
    server serves: else it finds the bank of the project in which it is started.

    Where the project's bundle has the part, nothing changes, unless the bank is `named` or `force`
    wants a second one; the file of a bundle stays in any case. Of what is removed, keys that a
    person added stay, and all else in the file; one in which nothing is left is removed. Raises
    BadInput when the program can't read the file, has another server of this name, or gives the
    server no way to find a bank.
    """
    program, function = client_files.describe_part(client, PARTS[part]), PARTS[part]
    file = client_files.client_file(program, bank, scope)
    if isinstance(program, HookClient):
        name, named, hint = "", False, Hint.EDIT_HOOKS_BY_HAND
    else:
        hint = Hint.EDIT_BY_HAND
    before = written_files.read_text(file, hint)
    change = ClientChange(file, before, before, program, scope, name)
    with written_files.explain_errors(file, hint):
        text = before
        if isinstance(program, McpClient):
            text = server_install.read_command(program, file, before, name, remove=remove)
        if remove:
            bundle = file if is_bundled(text, client, function) else None
        else:
            bundle = find_bundle_file(client, function, bank.layout.project if bank else None)
        if bundle and (remove or bundle == file or not (force or named)):
            return replace(change, bundle=bundle)
        if remove:
            return _plan_removal(change, program)
        return _plan_addition(change, program, bank, named=named)


def _plan_addition(
    change: ClientChange, program: HookClient | McpClient, bank: Bank | None, *, named: bool
) -> ClientChange:
    before, scope, entry = change.before, change.scope, None
    places: Iterable[ClientPlace]
    if isinstance(program, HookClient):
        after = hook_install.add_hooks(program, before, scope)
        places = hook_install.list_places(program.name, bank)
    else:
        root = str(bank.layout.root) if bank and named else ""
        after, entry = server_install.add_entry(program, change, root)
        places = server_install.find_entries(program, bank)
    if before is None:
        after = after.removesuffix("\n") + "\n"
    elsewhere = tuple(place for place in places if place.scope != scope and place.installed)
    return replace(change, after=after, entry=entry, elsewhere=elsewhere)


def _plan_removal(change: ClientChange, program: HookClient | McpClient) -> ClientChange:
    if isinstance(program, HookClient):
        return replace(change, after=hook_install.remove_hooks(program, change.before))
    after, kept = server_install.remove_entry(program, change.before, change.name)
    return replace(change, after=after, kept=kept)


def list_parts(client: str) -> list[str]:
    """Return the parts that a program can get."""
    return [part for part, function in PARTS.items() if client in clients.list_clients(function)]


def join_steps(steps: Sequence[str]) -> str:
    """Return the user's next steps, without those that another one contains."""
    needed = [step for step in dict.fromkeys(steps) if not step.startswith("nothing")] or steps
    own_steps = [step for step in needed if not any(step in s != step for s in needed)]
    return "; ".join(own_steps)


@operation(
    "agents install",
    why="""
    Adds `memory-bank hook` to the hooks of a program, so that its sessions are recorded and it is
    told what the project knows, and the MCP server, by which it asks and writes. Both go to your
    own files, for all projects, and do nothing in one without a bank. With --scope project they go
    to the project's files, which are in git, for everybody who has the project.

    The server finds the bank of the project in which the program works. With --bank, only a server
    is added, for that bank.

    Shows each change and asks before making it. Everything else in the files stays, comments
    included. Doing it again changes nothing, or only what is out of date.
    """,
    examples=(
        ("memory-bank agents install claude-code", "in all your projects"),
        ("memory-bank agents install codex --yes", "without being asked"),
        ("memory-bank agents install zed --dry-run", "show the change only"),
    ),
)
def _install_parts(
    call: Call,
    *,
    client: _Client,
    scope: _Scope = "user",
    only: _Only = None,
    name: _Name = SERVER,
    force: Annotated[bool, Param("Also where the project's bundle has it")] = False,
    yes: _Yes = False,
    dry_run: Annotated[bool, Param("Show the change, change no file")] = False,
) -> int:
    """Let a program use the memory, and report its sessions."""
    named = call.named_bank is not None
    steps: list[str] = []
    rows = []
    code = FOUND
    with call.open_if_there(needed=scope == "project") as bank:
        for part in _choose_parts(client, "server" if named and not only else only):
            change = plan_change(
                bank, client, part, scope=scope, name=name, named=named, force=force
            )
            for entry in change.elsewhere:
                text = f"the server {entry.name!r}" if entry.name else "its hooks"
                where = f"{show_place(entry.file)} ({entry.scope})"
                call.remark(f"{change.client.title} has {text} in {where}, too; one is enough")
            if dry_run and change.changed and not call.json:
                _show_change(call, change)
            done = not dry_run and _make_change(call, change, yes=yes)
            twice = "a second one would do everything twice; --force adds it to your file"
            _show_result(call, change, "already there:", twice, done=done)
            rows.append(_list_fields(change, part, done=done))
            if not change.bundle and (done or not change.changed):
                steps.append(change.client.next_step(change.scope))
            if change.changed and not (done or dry_run):
                code = NOTHING
    if call.json:
        call.document({"client": client, "changes": rows})
    elif steps:
        text = f"{change.client.title}: {join_steps(steps)}"
        call.console.line(("next: ", "bold"), text)
    return code


@operation(
    "agents remove",
    why="""
    Removes the hooks and the server of this program from the files of a program. Everything else
    stays, including keys that you added to the server's entry; a file in which nothing else is left
    is deleted. Refuses an entry that starts another program. Shows each change and asks before
    making it.
    """,
    examples=(
        ("memory-bank agents remove cursor", "from your own files"),
        ("memory-bank agents remove cursor --scope project", "from those of this project"),
    ),
)
def _remove_parts(
    call: Call,
    *,
    client: _Client,
    scope: _Scope = "user",
    only: _Only = None,
    name: _Name = SERVER,
    yes: _Yes = False,
) -> int:
    """Remove hooks and server from a program's files."""
    rows = []
    code = NOTHING
    with call.open_if_there(needed=scope == "project") as bank:
        for part in _choose_parts(client, only):
            change = plan_change(bank, client, part, scope=scope, name=name, remove=True)
            done = _make_change(call, change, yes=yes)
            text = f"server {name}" if part != HOOKS else "hooks"
            shared = "the whole team uses it; memory-bank agents bundle --remove ends that"
            _show_result(call, change, f"{change.client.title} has no {text} in", shared, done=done)
            rows.append(_list_fields(change, part, done=done))
            if change.kept and done and not call.json:
                keys = ", ".join(change.kept)
                call.console.line(f"kept the keys that were added to {name}: {keys}")
            code = FOUND if done else code
    if call.json:
        call.document({"client": client, "changes": rows})
    return code


def _choose_parts(client: str, only: str | None) -> list[str]:
    parts = [part for part in list_parts(client) if only in (None, part)]
    if not parts:
        raise BadInput(f"{client} has no {only} that is known", "leave out --only")
    return parts


def _show_result(
    call: Call, change: ClientChange, unchanged: str, bundled: str, *, done: bool
) -> None:
    """Print what became of a change; `bundled` says why one that a bundle has is not made."""
    where = (show_place(change.file), "place")
    if call.json:
        return
    if change.bundle:
        call.console.line("the bundle has it already: ", (show_place(change.bundle), "place"))
        call.remark(bundled)
    elif not change.changed:
        call.console.line(f"{unchanged} ", where)
    elif done:
        call.console.line("removed " if change.after is None else "wrote ", where)


def _list_fields(change: ClientChange, part: str, *, done: bool) -> Mapping[str, object]:
    """Return a change as JSON, without the other servers of its file, which may be private."""
    names = ("scope", "file", "bundle", "name", "entry", "kept")
    fields = {"part": part, **{name: getattr(change, name) for name in names}}
    fields["elsewhere"] = [
        {"scope": entry.scope, "file": entry.file, "name": entry.name} for entry in change.elsewhere
    ]
    return {**{name: value for name, value in fields.items() if value}, "changed": done}


def _make_change(call: Call, change: ClientChange, *, yes: bool) -> bool:
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
        _show_change(call, change, "the change with --dry-run")
        if not call.confirm(f"Change {show_place(change.file)}?"):
            call.remark("nothing was changed")
            return False
    change.write(Path.home(), Path(os.environ.get(change.client.home or "-", "")))
    return True


def _show_change(call: Call, change: ClientChange, look: str = "") -> None:
    """Print the lines that change: to stderr on a terminal, which is asked next.

    With `look`, how to see them, only the number of many.
    """
    before, after = (text.splitlines() for text in (change.before or "", change.after or ""))
    console = call.stderr if call.interactive else call.console
    console.line((show_place(change.file), "place"))
    lines = list(unified_diff(before, after, n=0, lineterm=""))[_HEADERS:]
    signs = Counter(line[:1] for line in lines)
    if look and len(lines) > _MOST_LINES:
        numbers = ", ".join(
            f"{count(signs[sign], 'line')} {word}" for sign, word in _WORDS.items() if signs[sign]
        )
        console.line(f"  {numbers}; you see {look}")
    else:
        for line in lines:
            style = {"+": "good", "-": "bad"}.get(line[:1], "dim")
            console.line((line, style))
    console.flush()


@operation(
    "agents list",
    why="""
    Shows for each program in which files its hooks and its server are, whether their command was
    found, and the last event that this bank received from it. Whether a program trusts the hooks,
    only the program knows: in Codex, see /hooks.
    """,
    examples=(("memory-bank agents list", "all programs"),),
)
def _list_clients(call: Call) -> int:
    """List the programs that can use the memory, and which do."""
    with call.open_if_there() as bank:
        places, received = _list_places(bank), _read_last_events(bank) if bank else []
    document = {"places": places, "received": received}
    call.answer(document, lambda _: _show_places(call, places, received))
    return 0


def _list_places(bank: Bank | None) -> list[ClientPlace]:
    return [
        place
        for client in clients.list_installable()
        for part in list_parts(client)
        for place in (hook_install if part == HOOKS else server_install).list_places(client, bank)
    ]


def _read_last_events(bank: Bank) -> list[dict[str, str]]:
    """Return the last event of each client that a bank received, with its time."""
    queue = EventQueue(bank.layout.state(bank.id))
    try:
        return queue.received()
    finally:
        queue.close()


def _show_places(
    call: Call, places: Sequence[ClientPlace], received: Sequence[Mapping[str, str]]
) -> None:
    events = {event["client"]: event for event in received}
    for client in clients.list_installable():
        rows = [row for row in places if row.client == client and (row.installed or row.problem)]
        for row in rows:
            call.console.line(*_describe_row(row))
            if row.missing:
                call.console.line(f"  without {', '.join(row.missing)}: install them again")
        if not rows:
            command = (f"memory-bank agents install {client}", "bold")
            call.console.line(f"{client}: ", ("not installed: ", "dim"), command)
        elif event := events.get(client):
            call.console.line(f"  last event: {event['event']} at {event['created_at']}")


def _describe_row(row: ClientPlace) -> list[Piece]:
    state = ("installed", "good")
    if row.problem or not row.runs:
        state = (row.problem or f"{row.command} was not found", "bad")
    about = f"  {len(row.events)} events" if row.events else ""
    if row.client == "codex" and row.events:
        about += ", trust unknown: see /hooks"
    return [
        f"{row.client} {row.part} ({row.scope}): ",
        state,
        f"{about}  ",
        (show_place(row.file), "place"),
    ]


topic(
    "agents",
    "Let agents use the memory, and report their sessions.",
    group="Agents",
    why="""
    Programs such as Claude Code start a command at each event of a session, its hook, and a server
    of the Model Context Protocol by which the agent asks and writes. install adds both, remove
    takes them out, list shows where they are. bundle writes the files by which a whole team has
    them after a clone.
    """,
    examples=(
        ("memory-bank agents install claude-code", "once, for all your projects"),
        ("memory-bank agents bundle", "for a team: once, then commit the files"),
    ),
)
