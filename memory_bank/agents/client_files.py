"""Programs of agents: their files with servers and hooks, which this program changes."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from memory_bank.agents import clients
from memory_bank.agents.json_file import JsonFile, TomlFile
from memory_bank.bank import written_files
from memory_bank.bank.bank import Bank
from memory_bank.bank.written_files import PROGRAM, FileEdit
from memory_bank.base import NamedTuple
from memory_bank.base.errors import BadInput, Hint, MemoryBankError
from memory_bank.base.filenames import FOLDER

GUARD = f"command -v {PROGRAM} >/dev/null 2>&1"
"""The start of each command of the bundle, which does nothing where this program is not."""

_SERVER = f"{GUARD} || exit 0; exec {PROGRAM} serve mcp"

START_SERVER = f"{_SERVER} --toolsets first"
"""The command by which the bundle starts the server."""

Form = Literal["groups", "flat"]
"""`groups`: an event has groups of handlers; `flat`: handlers."""

EDITORS: Mapping[str, JsonFile | TomlFile] = {
    "json": JsonFile(),
    "json with comments": JsonFile(comments=True, byte_order_mark=False),
    "json with commas": JsonFile(comments=True, trailing_commas=True),
    "toml": TomlFile(),
}
"""The forms of files by the names that tables of clients have: those with commas have comments."""


@dataclass(frozen=True, slots=True)
class Program:
    """A program with a file of the user's own and one of the project."""

    name: str
    title: str
    docs: str
    """The documentation of its format."""
    user_file: str
    """The user's own file; `~`, `$CONFIG` (settings of programs) and `$XDG` are filled in."""
    project_file: str = ""
    """The file below the project; empty if the program has none."""
    plugin_file: str = field(default="", kw_only=True)
    """The file of the bundle's plug-in, below the project, if the program runs plug-ins."""
    home: str = field(default="", kw_only=True)
    """The variable that names the folder of the user's own file."""
    next_project: str = field(default="restart it", kw_only=True)
    """The steps of the user, including trust, before the program uses what the project's file
    has."""
    next_user: str = field(default="restart it", kw_only=True)

    def next_step(self, scope: str) -> str:
        """Return the steps of the user before the program uses what was added."""
        return self.next_project if scope == "project" else self.next_user


@dataclass(frozen=True, slots=True)
class HookClient(Program):
    """A program, and the format of its file with hooks."""

    events: tuple[str, ...] = field(kw_only=True)
    form: Form = "groups"
    plugin: Path | None = None
    """A file of JavaScript that is installed in place of handlers."""
    editor: JsonFile | TomlFile = EDITORS["json"]
    command_keys: tuple[str, ...] = ("command",)
    """Keys of a handler that hold the command."""
    extra: Mapping[str, object] = field(default_factory=dict)
    """Other keys of a handler."""
    timeouts: Mapping[str, object] = field(default_factory=dict)
    """The key of the time limit with its value, for all events."""
    short: Mapping[str, object] = field(default_factory=dict)
    """Events with another time limit."""
    top: Mapping[str, object] = field(default_factory=dict)
    """Keys beside `hooks` that the file must have."""
    off: str = ""
    """The key that turns all hooks off if it is true."""


@dataclass(frozen=True, slots=True)
class McpClient(Program):
    """A program and the format of its configuration."""

    key: str = "mcpServers"
    editor: JsonFile | TomlFile = EDITORS["json with commas"]
    extra: Mapping[str, object] = field(default_factory=dict)
    """Keys of an entry other than `command` and `args`."""
    folder: str = ""
    """The program's variable for the project's folder; empty if it starts servers there."""
    per_project: str = ""
    """The key in the user's own file below which each project's folder has servers of its own."""
    finds_bank: bool = True
    """Whether the server can find the bank: it is started in the project, or told its folder."""


class ClientPlace(NamedTuple):
    """The hooks or the server of this program in one file of a client."""

    client: str
    part: str
    """`hooks` or `server`."""
    scope: str
    """Whose file it is: `user`, `project`, `bundle`; `local` for a project in the user's file."""
    file: str
    installed: bool = True
    name: str = ""
    """The server's."""
    events: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    """Events of this program for which the file has no hook."""
    command: str = ""
    runs: bool = True
    """Whether the command's program was found."""
    problem: str = ""
    """Why the file can't be read, or why the program may not run the hooks."""


@dataclass(frozen=True, slots=True)
class ClientChange(FileEdit):
    """A planned change of a program's file."""

    client: Program
    scope: str
    name: str = ""
    """The server's; empty for hooks."""
    entry: Mapping[str, object] | None = None
    """The new entry of the server."""
    elsewhere: tuple[ClientPlace, ...] = ()
    """Other files in which the client has the same."""
    kept: tuple[str, ...] = ()
    """Keys of a removed entry that a person added; they stay in the file."""
    bundle: Path | None = field(default=None, kw_only=True)
    """The file of the project's bundle for which nothing is changed; None if there is none."""


def hook_client(name: str) -> HookClient:
    """Return how the hooks of a client are set up; raise BadInput."""
    module = clients.find(name, clients.HOOKS)
    return HookClient(
        module.NAME, module.TITLE, events=tuple(module.EVENTS), **_read_table(module.HOOKS)
    )


def mcp_client(name: str) -> McpClient:
    """Return how servers are added to a client; raise BadInput."""
    module = clients.find(name, clients.SERVERS)
    return McpClient(module.NAME, module.TITLE, **_read_table(module.SERVER))


def describe_part(name: str, part: str) -> HookClient | McpClient:
    """Return how the hooks of a client are set up, or how servers are added; raise BadInput."""
    return hook_client(name) if part == clients.HOOKS else mcp_client(name)


def _read_table(table: Mapping[str, Any]) -> dict[str, Any]:
    return {key: EDITORS[value] if key == "editor" else value for key, value in table.items()}


def client_file(program: Program, bank: Bank | None, scope: str) -> Path:
    """Return a program's file of a scope; raise BadInput if there is none."""
    if scope == "user":
        return user_file(program)
    if not program.project_file:
        raise BadInput(f"{program.title} reads no file of a project", Hint.USE_USER_SCOPE)
    if bank is None or bank.layout.root.name != FOLDER:
        raise BadInput("this bank is not in a project's .memories", Hint.USE_USER_SCOPE)
    hint = Hint.REMOVE_LINK_OR_USE_USER_SCOPE
    return written_files.project_file(bank.layout.project, program.project_file, hint)


def user_file(
    program: Program, environ: Mapping[str, str] = os.environ, platform: str = sys.platform
) -> Path:
    """Return the user's own file of a program on a platform."""
    if folder := environ.get(program.home or "-"):
        return Path(folder, Path(program.user_file).name)
    home = Path.home()
    xdg = config = Path(environ.get("XDG_CONFIG_HOME") or home / ".config")
    if platform == "win32":
        xdg = config = Path(environ.get("APPDATA") or home / "AppData/Roaming")
    elif platform == "darwin":
        # Zed keeps its settings in ~/.config here too, whatever XDG_CONFIG_HOME says
        xdg, config = home / ".config", home / "Library/Application Support"
    first, _, rest = program.user_file.partition("/")
    return {"~": home, "$CONFIG": config, "$XDG": xdg}[first] / rest


def find_command(scope: str) -> list[str]:
    """Return the command of this program: with this machine's path, or one for all of a project."""
    return [PROGRAM] if scope == "project" else written_files.find_program()


def find_bundle_file(client: str, part: str, project: Path | None) -> Path | None:
    """Return the file by which a bundle gives a client its hooks or its server; None if none does.

    It is in the project, or in a plug-in in the user's own folder of the client.
    """
    if client not in clients.list_clients(part):
        return None
    for file in _list_bundle_files(client, part, project):
        with suppress(MemoryBankError):
            if is_bundled(written_files.read_text(file), client, part):
                return file
    return None


def is_bundled(text: str | None, client: str, part: str) -> bool:
    """Tell whether a file's text has the bundle's hooks of a client, or its server."""
    if not text:
        return False
    return (
        _SERVER in text if part == clients.SERVERS else GUARD in text and f"hook {client}" in text
    )


def _list_bundle_files(client: str, part: str, project: Path | None) -> Iterator[Path]:
    """Yield the files that may be the bundle's."""
    program = describe_part(client, part)
    names = [
        plugin_file for plugin_file in (program.plugin_file, program.project_file) if plugin_file
    ]
    if project is not None:
        yield from (project / name for name in names)
    if program.plugin_file:
        # the first part of its path is the program's folder in a project
        home = user_file(hook_client(client)).parent
        yield home / Path(*Path(program.plugin_file).parts[1:])
