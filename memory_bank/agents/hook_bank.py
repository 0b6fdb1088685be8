"""Find the bank of a hook's event, and the settings that decide what happens.

A hook runs for each step of an agent, so what was found is kept in a file of the user's state and
read without loading the settings, until one of the files that it depends on has changed.
"""

from __future__ import annotations

import json
import os
import zlib
from contextlib import suppress

from memory_bank.base import NamedTuple, __version__, filenames
from memory_bank.base.filenames import project_name, replace_private, user_state

_Stamp = tuple[str, int, int, int]
"""A path with its time of change, size and number; zeros if there is no such file."""


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


def find_hook_bank(folder: str) -> HookBank | None:
    """Return the bank of a working directory; None without a bank.

    Raises BadSetting, StorageFailed.
    """
    plain = not any(name.startswith("MEMORY_BANK") for name in os.environ)
    real = os.path.realpath(folder)
    root = filenames.find_bank_above(real)
    if plain and root is not None:
        if filenames.find_link(os.path.abspath(folder), root):
            return None
        if (bank := _read_kept(root)) is not None:
            return bank
    if plain and root is None and not os.path.exists(user_settings()):
        return None
    return _find_and_keep(folder, keep=plain and root is not None)


def _find_and_keep(folder: str, *, keep: bool) -> HookBank | None:
    """Find the bank with all that the settings say, and keep what was found."""
    from pathlib import Path

    from memory_bank.bank.bank_id import bank_id
    from memory_bank.base import paths
    from memory_bank.base.errors import NoBank
    from memory_bank.base.settings import load

    environ = os.environ.get("MEMORY_BANK")
    user = load()
    try:
        if environ:
            place = paths.locate(environ)
        elif user.memory.storage_strategy == "project":
            place = paths.find(Path(folder))
        else:
            place = paths.layout_at(paths.user_bank_folder(paths.project_name(Path(folder))))
    except NoBank:
        return None
    stamps = _read_stamps(str(place.root))
    settings = load(place.root)
    identity = bank_id(place)
    bank = HookBank(
        str(place.root),
        str(place.state(identity)),
        project_name(folder if place.root.name != filenames.FOLDER else str(place.project)),
        settings.memory.enabled and settings.sessions.capture,
        settings.secrets.allow,
        settings.sessions.ask_at_stop,
        settings.sessions.prompt_tokens,
        settings.compression.max_batch_tokens,
    )
    if keep and place.remembered().startswith(identity.encode()):  # it won't change at a commit
        _keep(bank, stamps)
    return bank


def user_settings() -> str:
    """Return the path of the user's settings."""
    home = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    return os.path.join(home, "memory-bank", "config.toml")


def _read_stamps(root: str) -> list[_Stamp]:
    """Return the stamps of all files that what is kept depends on."""
    project = os.path.dirname(root)
    git = os.path.join(filenames.find_tree(project) or project, ".git")
    settings = os.path.join(root, filenames.SETTINGS)
    files = (user_settings(), settings, git, os.path.join(git, "config"))
    return [_read_stamp(file) for file in files]


def _read_stamp(file: str) -> _Stamp:
    try:
        stat = os.stat(file)
    except OSError:
        return file, 0, 0, 0
    if os.path.isdir(file):  # its time changes with each commit
        return file, 0, 0, stat.st_ino
    return file, stat.st_mtime_ns, stat.st_size, stat.st_ino


def _name_file(root: str) -> str:
    name = f"{zlib.crc32(os.fsencode(root)):08x}.json"
    return os.path.join(user_state(), "hooks", name)


def _read_kept(root: str) -> HookBank | None:
    """Return what was kept about a bank, if nothing that it depends on has changed."""
    try:
        with open(_name_file(root), encoding="utf-8") as file:
            version, stamps, values = json.load(file)
        bank = HookBank(*values)
    except (OSError, ValueError, TypeError):
        return None
    if version != __version__ or bank.root != root or not os.path.isdir(bank.state):
        return None
    if [tuple(stamp) for stamp in stamps] != _read_stamps(root):
        return None
    return bank._replace(allowed=tuple(bank.allowed))


def _keep(bank: HookBank, stamps: list[_Stamp]) -> None:
    """Write a file for `_read_kept`; without it, the next hook takes longer."""
    name = _name_file(bank.root)
    with suppress(OSError, UnicodeEncodeError):
        os.makedirs(os.path.dirname(name), mode=0o700, exist_ok=True)
        replace_private(name, json.dumps([__version__, stamps, bank]).encode())
