"""Add this server to a client's configuration, or remove it; a bundle may have added it already."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from memory_bank.agents import client_files, clients
from memory_bank.agents.client_files import ClientChange, ClientPlace, McpClient
from memory_bank.bank import program_files
from memory_bank.bank.bank import Bank
from memory_bank.bank.program_files import PROGRAM
from memory_bank.base import NamedTuple, lazy_pattern
from memory_bank.base.errors import BadInput, Hint, MemoryBankError
from memory_bank.base.filenames import FOLDER

GUARD = f"command -v {PROGRAM} >/dev/null 2>&1"
"""The start of each command of the bundle, which does nothing where this program is not."""

_SERVER = f"{GUARD} || exit 0; exec {PROGRAM} serve mcp"

START_SERVER = f"{_SERVER} --toolsets first"
"""The command by which the bundle starts the server."""


def find_bundle_file(client: str, part: str, project: Path | None) -> Path | None:
    """Return the file by which a bundle gives a client its hooks or its server; None if none does.

    It is in the project, or in a plug-in in the user's own folder of the client.
    """
    if client not in clients.names(part):
        return None
    for file in _files(client, part, project):
        with suppress(MemoryBankError):
            if is_bundled(program_files.read_text(file), client, part):
                return file
    return None


def is_bundled(text: str | None, client: str, part: str) -> bool:
    """Tell whether a file's text has the bundle's hooks of a client, or its server."""
    if not text:
        return False
    return (
        _SERVER in text if part == clients.SERVERS else GUARD in text and f"hook {client}" in text
    )


def _files(client: str, part: str, project: Path | None) -> Iterator[Path]:
    """Yield the files that may be the bundle's."""
    program = client_files.set_up_of(client, part)
    names = [
        plugin_file for plugin_file in (program.plugin_file, program.project_file) if plugin_file
    ]
    if project is not None:
        yield from (project / name for name in names)
    if program.plugin_file:
        # the first part of its path is the program's folder in a project
        home = client_files.user_file(client_files.hook_client(client)).parent
        yield home / Path(*Path(program.plugin_file).parts[1:])


SERVER = program_files.PROGRAM
"""The default name of the server in a client's configuration."""

_BANK = "--bank"

_NAME = lazy_pattern(r"[A-Za-z0-9_-]{1,64}")

_ADDRESSES = ("url", "serverUrl", "httpUrl")

_PROGRAMS = {"memory-bank", "mb", "memory_bank", "markdown-memory-bank"}


class ServerEntry(NamedTuple):
    """A server in the configuration file of a client's scope."""

    scope: str
    file: Path
    keys: tuple[str, ...]
    """Of the servers."""
    name: str

    @property
    def path(self) -> tuple[str, ...]:
        """The keys of the server."""
        return (*self.keys, self.name)


def install(
    bank: Bank | None,
    client: str,
    *,
    scope: str = "user",
    name: str = SERVER,
    named: bool = False,
    force: bool = False,
) -> ClientChange:
    """Return the change that makes a client start this server.

    The entry in a project's file holds for everybody who has the project; one in the user's own
    file holds the path of this program, for all projects. It names a bank only if the user has
    `named` it: else the server finds the bank of the project in which it is started. Where the
    project's bundle has the server, nothing changes, unless the bank is `named` or `force` wants a
    second entry; the entry of a bundle stays in any case. Raises BadInput when the client can't
    read the file, has another server of this name, or gives the server no way to find a bank.
    """
    if not _NAME.fullmatch(name):
        raise BadInput(f"{name!r} can't name a server", "use letters, digits, '-' and '_'")
    mcp_client = client_files.mcp_client(client)
    bundle = find_bundle_file(
        mcp_client.name, clients.SERVERS, bank.layout.project if bank else None
    )
    with _found(mcp_client, bank, scope, name, Hint.NAME_SERVER) as (place, before, old):
        if bundle and (place.file == bundle or not (force or named)):
            return ClientChange(
                place.file, before, before, mcp_client, place.scope, name, bundle=bundle
            )
        folder = _folder(place, mcp_client, bank, named=named) or _kept_bank(place, mcp_client, old)
        entry = _entry(mcp_client, place.scope, folder)
        if (
            (theirs := _bank_of(old))
            and theirs != folder
            and not _is_found(theirs, mcp_client, folder)
        ):
            message = f"{place.file} has a server {name!r} for another bank, {theirs}"
            raise BadInput(message, Hint.NAME_SERVER, name=name)
        entry["args"] = [*_args(entry), *_options(old)]
        entry |= {key: _join_values(_list(old, key), entry[key]) for key in mcp_client.extra}
        after = before or ""
        for key, value in entry.items() if isinstance(old, Mapping) else ():
            after = mcp_client.editor.set_value(after, (*place.path, key), value)
        if not isinstance(old, Mapping):
            after = mcp_client.editor.set_value(after, place.path, entry)
    if before is None:
        after = after.removesuffix("\n") + "\n"
    elsewhere = tuple(_elsewhere(mcp_client, bank, place.scope))
    return ClientChange(place.file, before, after, mcp_client, place.scope, name, entry, elsewhere)


def uninstall(
    bank: Bank | None, client: str, *, scope: str = "user", name: str = SERVER
) -> ClientChange:
    """Return the change that removes this server from a client.

    Keys that a person added to the entry stay, and so does an entry of the project's bundle. A file
    in which nothing else is left, and which `install` made, is removed. The user's own file needs
    no bank. Raises BadInput.
    """
    mcp_client = client_files.mcp_client(client)
    with _found(mcp_client, bank, scope, name, Hint.REMOVE_BY_HAND) as (place, before, old):
        bundle = place.file if is_bundled(_text_of(old), mcp_client.name, clients.SERVERS) else None
        if bundle or not before or not isinstance(old, Mapping) or "command" not in old:
            return ClientChange(
                place.file, before, before, mcp_client, place.scope, name, bundle=bundle
            )
        ours = [key for key in ("command", "args", "type", *mcp_client.extra) if key in old]
        keys = tuple(key for key in old if key not in ours and old[key] not in ({}, []))
        if keys:
            after = mcp_client.editor.remove_keys(before, place.path, ours)
        else:
            after = mcp_client.editor.remove(before, place.path)
    content = None if not after and before.endswith("\n") else after
    return ClientChange(place.file, before, content, mcp_client, place.scope, name, kept=keys)


@contextmanager
def _found(
    client: McpClient, bank: Bank | None, scope: str, name: str, hint: Hint
) -> Iterator[tuple[ServerEntry, str | None, object]]:
    """Yield the place of a server, the text of its file and its entry, which is ours or None."""
    place = _place(client, scope, bank, name)
    text = program_files.read_text(place.file)
    with program_files.explain_errors(place.file):
        entry = client.editor.value_at(text or "", place.path)
        _check_ours(place, entry or {}, hint)
        yield place, text, entry


def _text_of(entry: object) -> str:
    """Return the words of an entry's command."""
    command = entry.get("command") if isinstance(entry, Mapping) else ""
    return " ".join(map(str, (command, *_args(entry))))


def has_server(client: str, bank: Bank) -> bool:
    """Tell whether a file of a client, not the bundle's, starts this server in a bank's project.

    That is false for a client whose files with servers are not known.
    """
    if client not in clients.names(clients.SERVERS):
        return False
    return any(_elsewhere(client_files.mcp_client(client), bank))


def list_places(client: str, bank: Bank | None) -> Iterator[ClientPlace]:
    """Yield where a client has this server for a bank, or for the bank of each project."""
    if bundle := find_bundle_file(client, clients.SERVERS, bank.layout.project if bank else None):
        yield ClientPlace(client, "server", "bundle", str(bundle), name=SERVER)
    for place in _elsewhere(client_files.mcp_client(client), bank):
        if place.file != str(bundle):
            yield place


def _list(entry: object, key: str) -> list[object]:
    values = entry.get(key) if isinstance(entry, Mapping) else None
    return values if isinstance(values, list) else []


def _join_values(theirs: list[object], ours: object) -> object:
    """Return our value of a key; what a person added to a list of ours stays in it."""
    if not isinstance(ours, list):
        return ours
    return [*theirs, *(our for our in ours if our not in theirs)]


def _place(client: McpClient, scope: str, bank: Bank | None, name: str) -> ServerEntry:
    return ServerEntry(scope, client_files.client_file(client, bank, scope), (client.key,), name)


def _elsewhere(client: McpClient, bank: Bank | None, chosen: str = "") -> Iterator[ClientPlace]:
    """Yield scopes other than the chosen with this server for the bank, but unreadable files."""
    entries = [_place(client, "user", bank, SERVER)]
    if client.per_project and bank is not None:
        keys = (client.per_project, str(bank.layout.project), client.key)
        entries.append(entries[0]._replace(scope="local", keys=keys))
    with suppress(BadInput):
        entries.append(_place(client, "project", bank, SERVER))
    banks = {"", client.folder}
    if bank is not None:
        banks |= {str(bank.layout.root), str(bank.layout.project)}
    for place in entries:
        servers: object = None
        with suppress(MemoryBankError):
            servers = client.editor.value_at(program_files.read_text(place.file) or "", place.keys)
        for name, entry in servers.items() if isinstance(servers, dict) else ():
            if place.scope != chosen and _starts_this(entry) and _bank_of(entry) in banks:
                command = str(entry.get("command", ""))
                import shutil  # start-up: a hook has no need of compressors

                runs = shutil.which(command) is not None
                yield ClientPlace(
                    *(client.name, "server", place.scope, str(place.file)),
                    name=str(name),
                    command=command,
                    runs=runs,
                )


def _folder(place: ServerEntry, client: McpClient, bank: Bank | None, *, named: bool) -> str:
    """Return the bank that a new entry names; empty if the server finds it."""
    if place.scope == "project":
        return client.folder
    if bank is None or not named:
        return ""
    root = str(bank.layout.root)
    with suppress(UnicodeEncodeError):
        root.encode()
        return root
    raise BadInput("the bank's path is no UTF-8 text", "move the bank elsewhere")


def _kept_bank(place: ServerEntry, client: McpClient, old: object) -> str:
    """Return the bank that an entry must keep, since the server could not find it."""
    if client.finds_bank or place.scope == "project":
        return ""
    if bank := _bank_of(old):
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


def _entry(client: McpClient, scope: str, folder: str) -> dict[str, object]:
    """Return the entry for a client: a command that works in any folder."""
    command, *first = [SERVER] if scope == "project" else program_files.find_program()
    bank = [_BANK, folder] if folder else []
    return {**client.extra, "command": command, "args": [*first, "serve", "mcp", *bank]}


def _check_ours(place: ServerEntry, entry: object, hint: str) -> None:
    """Raise BadInput if an entry does not start this program."""
    server = f"{place.file} has a server {place.name!r}"
    if not isinstance(entry, Mapping):
        raise BadInput(f"{server} that is no object with keys", hint, name=place.name)
    if any(key in entry for key in _ADDRESSES):
        raise BadInput(f"{server} that is reached by its address", hint, name=place.name)
    if "command" in entry and not _starts_this(entry):
        raise BadInput(
            f"{server} that starts another program, {entry['command']}", hint, name=place.name
        )


def _starts_this(entry: object) -> bool:
    """Tell whether an entry starts this program, directly or through uvx, python or a shell."""
    words = _text_of(entry).split()
    names = [re.split(r"[/\\]", word)[-1].removesuffix(".exe") for word in words]
    first = next((at for at, name in enumerate(names) if name in _PROGRAMS), len(names))
    return "serve mcp" in " ".join(names[first:])


def _bank_of(entry: object) -> str:
    """Return the bank of an entry; empty if it names none."""
    args = _args(entry)
    values = args[args.index(_BANK) + 1 :] if _BANK in args else []
    return str(values[0]) if values else ""


def _options(entry: object) -> list[object]:
    """Return an entry's options for `serve mcp` other than the bank, such as `--read-only`."""
    args = _args(entry)
    options = args[args.index("mcp") + 1 :] if "mcp" in args else []
    at = options.index(_BANK) if _BANK in options else len(options)
    return options[:at] + options[at + 2 :]


def _args(entry: object) -> list[object]:
    return _list(entry, "args")
