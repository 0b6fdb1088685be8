"""What the bundle that came with a project already gives an agent's program."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from memory_bank.agents import client_files, clients
from memory_bank.agents.client_files import Program
from memory_bank.bank import program_files
from memory_bank.bank.program_files import PROGRAM
from memory_bank.base.errors import MemoryBankError

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
    program: Program = (
        client_files.hook_client(client)
        if part == clients.HOOKS
        else client_files.mcp_client(client)
    )
    names = [
        plugin_file for plugin_file in (program.plugin_file, program.project_file) if plugin_file
    ]
    if project is not None:
        yield from (project / name for name in names)
    if program.plugin_file:
        # the first part of its path is the program's folder in a project
        home = client_files.user_file(client_files.hook_client(client)).parent
        yield home / Path(*Path(program.plugin_file).parts[1:])
