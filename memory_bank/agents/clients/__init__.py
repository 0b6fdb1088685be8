"""Programs of agents; all that is known of one stands in its file."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

from memory_bank.base import plugins
from memory_bank.base.errors import BadInput

KIND = "agents.clients"

SCOPES = ("project", "user")
"""Whose files a client's set-up changes."""

HOOKS, SERVERS, TRANSCRIPTS, INSTRUCTIONS = "HOOKS", "SERVER", "read_transcript", "instructions"
"""What the module of a client may have."""

_KNOWN = {
    HOOKS: "hooks that are known",
    SERVERS: "servers that are known",
    TRANSCRIPTS: "transcripts that can be read",
}


def list_clients(part: str) -> tuple[str, ...]:
    """Return the clients whose modules have a part."""
    clients = plugins.list_plugins(KIND)
    return tuple(name.replace("_", "-") for name in clients if hasattr(_load(name), part))


def list_installable() -> tuple[str, ...]:
    """Return the clients that can be set up."""
    return tuple(sorted({*list_clients(HOOKS), *list_clients(SERVERS)}))


def load(name: str) -> ModuleType | None:
    """Return the module of a client; None for an unknown one."""
    name = name.replace("-", "_")
    return _load(name) if plugins.has(KIND, name) else None


def find(name: str, part: str) -> ModuleType:
    """Return the module of a client that has a part; raise BadInput."""
    module = load(name.strip().casefold())
    if module is None or not hasattr(module, part):
        text = ", ".join(list_clients(part))
        raise BadInput(f"{name[:60]!r} has no {_KNOWN[part]}", "choose one of: {known}", known=text)
    return module


def load_texts(client: str, project: Path) -> dict[Path, str]:
    """Return the text that a client loads of each file of instructions, by the file's real path.

    Of a client that is not known to load any, nothing.
    """
    module = load(client)
    if module is None or not hasattr(module, INSTRUCTIONS):
        return {}
    instructions: dict[Path, str] = module.instructions(project)
    return instructions


def _load(name: str) -> ModuleType:
    return plugins.load(KIND, name)
