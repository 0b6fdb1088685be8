"""Find the bank of a hook's event, and the settings that decide what happens."""

from __future__ import annotations

import os
from typing import NamedTuple

from memory_bank.base import filenames
from memory_bank.base.filenames import project_name


class HookBank(NamedTuple):
    """A bank, and how its settings say that hooks use it."""

    root: str
    """The folder of notes."""
    state: str
    """Its private state on this machine."""
    project: str
    """The name under which its sessions are kept."""
    capture: bool
    """Whether anything is stored; also false where memory is turned off."""
    allowed: tuple[str, ...]
    """Hashes of values that are no secrets."""
    ask_at_stop: bool
    prompt_tokens: int
    max_batch_tokens: int


def find(folder: str) -> HookBank | None:
    """Return the bank of a working directory; None without a bank.

    Raises BadSetting, StorageFailed.
    """
    root = filenames.above(os.path.realpath(folder))
    if not any(name.startswith("MEMORY_BANK") for name in os.environ):
        if root is None and not os.path.exists(_user_settings()):
            return None  # start-up: most folders have no bank
        if root is not None and filenames.led_by(os.path.abspath(folder), root):
            return None
    from pathlib import Path

    from memory_bank.bank.bank_id import bank_id
    from memory_bank.base import paths
    from memory_bank.base.errors import NoBank
    from memory_bank.base.settings import load

    given = os.environ.get("MEMORY_BANK")
    user = load()
    try:
        if given:
            place = paths.locate(paths.path_of(given))
        elif user.memory.storage_strategy == "project":
            place = paths.find(Path(folder))
        else:
            place = paths.at(paths.named(paths.project_name(Path(folder))))
    except NoBank:
        return None
    settings = load(place.root)
    identity = bank_id(place)
    return HookBank(
        str(place.root),
        str(place.state(identity)),
        project_name(folder if place.root.name != filenames.FOLDER else str(place.project)),
        settings.memory.enabled and settings.sessions.capture,
        settings.secrets.allow,
        settings.sessions.ask_at_stop,
        settings.sessions.prompt_tokens,
        settings.compression.max_batch_tokens,
    )


def _user_settings() -> str:
    """Return the path of the user's settings."""
    home = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    return os.path.join(home, "memory-bank", "config.toml")
