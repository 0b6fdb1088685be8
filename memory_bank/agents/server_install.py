"""The entry of this server in a client's configuration: add it, remove it, tell where it is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from memory_bank.agents import client_files, clients
from memory_bank.agents.client_files import ClientChange, ClientPlace, McpClient
from memory_bank.bank import written_files
from memory_bank.bank.bank import Bank
from memory_bank.base import lazy_pattern
from memory_bank.base.errors import BadInput, Hint, MemoryBankError
from memory_bank.base.filenames import FOLDER

SERVER = written_files.PROGRAM
"""The default name of the server in a client's configuration."""

_BANK = "--bank"

_NAME = lazy_pattern(r"[A-Za-z0-9_-]{1,64}")

_ADDRESSES = ("url", "serverUrl", "httpUrl")

_PROGRAMS = {"memory-bank", "mb", "memory_bank", "markdown-memory-bank"}


def read_command(
    client: McpClient, file: Path, text: str | None, name: str, *, remove: bool
) -> str:
    """Return the command of an entry, which starts this program; empty if there is none.

    Raises BadInput for a name that no server can have, and for an entry of another program.
    """
    if not (remove or _NAME.fullmatch(name)):
        raise BadInput(f"{name!r} can't name a server", "use letters, digits, '-' and '_'")
    entry = client.editor.value_at(text or "", (client.key, name))
    hint = Hint.REMOVE_BY_HAND if remove else Hint.NAME_SERVER
    _check_ours(file, name, entry or {}, hint)
    return _join_command(entry)


def add_entry(
    client: McpClient, change: ClientChange, bank: str
) -> tuple[str, Mapping[str, object]]:
    """Return a file's text with the entry of a server, and the entry.

    It names a `bank` if one is given. Raises BadInput if there is one for another bank, or if the
    server could not find a bank.
    """
    text, path = change.before or "", (client.key, change.name)
    old = client.editor.value_at(text, path)
    bank = client.folder if change.scope == "project" else bank or _keep_bank(client, old)
    try:
        bank.encode()
    except UnicodeEncodeError as error:
        raise BadInput("the bank's path is no UTF-8 text", "move the bank elsewhere") from error
    theirs = _read_bank(old)
    if theirs and theirs != bank and not _is_found(theirs, client, bank):
        message = f"{change.file} has a server {change.name!r} for another bank, {theirs}"
        raise BadInput(message, Hint.NAME_SERVER, name=change.name)
    entry = _make_entry(client, change.scope, bank)
    entry["args"] = [*_read_args(entry), *_read_options(old)]
    entry |= {key: _join_values(_read_list(old, key), entry[key]) for key in client.extra}
    if not isinstance(old, Mapping):
        return client.editor.set_value(text, path, entry), entry
    for key, value in entry.items():
        text = client.editor.set_value(text, (*path, key), value)
    return text, entry


def remove_entry(
    client: McpClient, text: str | None, name: str
) -> tuple[str | None, tuple[str, ...]]:
    """Return a file's text without a server, and the keys of it that stay, which a person added.

    None for a file in which nothing is left, and which `add_entry` made.
    """
    path = (client.key, name)
    old = client.editor.value_at(text or "", path)
    if not (text and isinstance(old, Mapping) and "command" in old):
        return text, ()
    ours = [key for key in ("command", "args", "type", *client.extra) if key in old]
    if kept := tuple(key for key in old if key not in ours and old[key] not in ({}, [])):
        return client.editor.remove_keys(text, path, ours), kept
    after = client.editor.remove(text, path)
    return None if not after and text.endswith("\n") else after, ()


def _join_command(entry: object) -> str:
    """Return the words of an entry's command, as one text."""
    command = entry.get("command") if isinstance(entry, Mapping) else ""
    return " ".join(map(str, (command, *_read_args(entry))))


def has_server(client: str, bank: Bank) -> bool:
    """Tell whether a file of a client, not the bundle's, starts this server in a bank's project.

    That is false for a client whose files with servers are not known.
    """
    if client not in clients.list_clients(clients.SERVERS):
        return False
    return any(find_entries(client_files.mcp_client(client), bank))


def list_places(client: str, bank: Bank | None) -> Iterator[ClientPlace]:
    """Yield where a client has this server for a bank, or for the bank of each project."""
    project = bank.layout.project if bank else None
    bundle = client_files.find_bundle_file(client, clients.SERVERS, project)
    if bundle:
        yield ClientPlace(client, "server", "bundle", str(bundle), name=SERVER)
    for place in find_entries(client_files.mcp_client(client), bank):
        if place.file != str(bundle):
            yield place


def find_entries(client: McpClient, bank: Bank | None) -> Iterator[ClientPlace]:
    """Yield the entries that start this server for a bank; files that can't be read have none."""
    user_file = client_files.user_file(client)
    files: list[tuple[str, Path, tuple[str, ...]]] = [("user", user_file, (client.key,))]
    if client.per_project and bank is not None:
        below = client.per_project, str(bank.layout.project)
        files.append(("local", user_file, (*below, client.key)))
    with suppress(BadInput):
        project_file = client_files.client_file(client, bank, "project")
        files.append(("project", project_file, (client.key,)))
    banks = {"", client.folder}
    if bank is not None:
        banks |= {str(bank.layout.root), str(bank.layout.project)}
    for scope, file, keys in files:
        servers: object = None
        with suppress(MemoryBankError):
            servers = client.editor.value_at(written_files.read_text(file) or "", keys)
        for name, entry in servers.items() if isinstance(servers, dict) else ():
            if _starts_this(entry) and _read_bank(entry) in banks:
                command = str(entry.get("command", ""))
                import shutil  # start-up: a hook has no need of compressors

                yield ClientPlace(
                    *(client.name, "server", scope, str(file)),
                    name=str(name),
                    command=command,
                    runs=shutil.which(command) is not None,
                )


def _read_list(entry: object, key: str) -> list[object]:
    values = entry.get(key) if isinstance(entry, Mapping) else None
    return values if isinstance(values, list) else []


def _join_values(theirs: list[object], ours: object) -> object:
    """Return our value of a key; what a person added to a list of ours stays in it."""
    if not isinstance(ours, list):
        return ours
    return [*theirs, *(our for our in ours if our not in theirs)]


def _keep_bank(client: McpClient, old: object) -> str:
    """Return the bank that an entry must keep, since the server could not find it."""
    if client.finds_bank:
        return ""
    if bank := _read_bank(old):
        return bank
    raise BadInput(
        f"{client.title} does not start servers in a project, so its entry must name a bank",
        Hint.NAME_BANK,
    )


def _is_found(theirs: str, client: McpClient, ours: str) -> bool:
    """Tell whether the server finds the bank that an entry names.

    A project's bank that is named in the user's own file is wrong in all other projects.
    """
    return not ours and (theirs == client.folder or Path(theirs).name == FOLDER)


def _make_entry(client: McpClient, scope: str, folder: str) -> dict[str, object]:
    """Return the entry for a client: a command that works in any folder."""
    command, *first = client_files.find_command(scope)
    bank = [_BANK, folder] if folder else []
    return {**client.extra, "command": command, "args": [*first, "serve", "mcp", *bank]}


def _check_ours(file: Path, name: str, entry: object, hint: str) -> None:
    """Raise BadInput if an entry does not start this program."""
    server = f"{file} has a server {name!r}"
    if not isinstance(entry, Mapping):
        raise BadInput(f"{server} that is no object with keys", hint, name=name)
    if any(key in entry for key in _ADDRESSES):
        raise BadInput(f"{server} that is reached by its address", hint, name=name)
    if "command" in entry and not _starts_this(entry):
        raise BadInput(f"{server} that starts another program, {entry['command']}", hint, name=name)


def _starts_this(entry: object) -> bool:
    """Tell whether an entry starts this program, directly or through uvx, python or a shell."""
    words = _join_command(entry).split()
    names = [re.split(r"[/\\]", word)[-1].removesuffix(".exe") for word in words]
    first = next((at for at, name in enumerate(names) if name in _PROGRAMS), len(names))
    return "serve mcp" in " ".join(names[first:])


def _read_bank(entry: object) -> str:
    """Return the bank of an entry; empty if it names none."""
    args = _read_args(entry)
    values = args[args.index(_BANK) + 1 :] if _BANK in args else []
    return str(values[0]) if values else ""


def _read_options(entry: object) -> list[object]:
    """Return an entry's options for `serve mcp` other than the bank, such as `--read-only`."""
    args = _read_args(entry)
    options = args[args.index("mcp") + 1 :] if "mcp" in args else []
    at = options.index(_BANK) if _BANK in options else len(options)
    return options[:at] + options[at + 2 :]


def _read_args(entry: object) -> list[object]:
    return _read_list(entry, "args")
