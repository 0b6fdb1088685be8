"""The names that the user gives to banks: in the user's settings, and of the user's own banks."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from memory_bank import config, layout, setting_files
from memory_bank.errors import BadInput, BadSetting
from memory_bank.filenames import relative


class NamedBank(NamedTuple):
    """A bank with a name of the user."""

    name: str
    path: str
    """The folder of notes, or a project with a bank."""
    own: bool
    """Whether it is in the user's data folder: made by `init`, not added."""
    exists: bool


def added(environ: Mapping[str, str] | None = None) -> dict[str, Path]:
    """Return the banks that the user's settings name; raise BadSetting."""
    file = config.user_file(os.environ if environ is None else environ)
    table = setting_files.read(file)[1].get(config.BANKS, {})
    if not isinstance(table, dict):
        raise BadSetting(f"{file}: banks is no section", "write [banks], and name = path below it")
    for name, path in table.items():
        reason = relative(path) if isinstance(path, str) else "is no text"
        if reason:
            raise BadSetting(f"{file}: banks.{name}: the path {reason}", "correct or remove it")
    return {name: Path(path).expanduser() for name, path in table.items()}


def own(environ: Mapping[str, str] | None = None) -> dict[str, Path]:
    """Return the banks in the user's data folder."""
    folder = layout.user_folder("data", environ)
    try:
        names = sorted(one.name for one in folder.iterdir() if one.is_dir())
    except OSError:
        return {}
    hidden = {layout.MODELS}
    return {name: folder / name for name in names if name not in hidden and name[0] != "."}


def banks() -> tuple[NamedBank, ...]:
    """Return all banks with a name, sorted by it; raise BadSetting."""
    mine = added()
    found = [NamedBank(name, str(path), False, path.is_dir()) for name, path in mine.items()]
    others = {name: path for name, path in own().items() if name not in mine}
    found += [NamedBank(name, str(path), True, True) for name, path in others.items()]
    return tuple(sorted(found))


def path_of(given: str) -> str:
    """Return the folder of a bank that is given by its name; anything else is returned unchanged.

    A name precedes a folder of that name in the working directory, which `./name` means: a
    repository must not take the place of the user's bank.
    """
    if not given or given[0] in ".~" or {"/", os.sep} & set(given):
        return given
    found = added().get(given) or own().get(given)
    return str(found) if found else given


def check_free(name: str, path: Path | None = None) -> None:
    """Raise BadInput if a name is that of a bank other than the one at `path`."""
    other = added().get(name) or (own().get(name) if path else None)
    if other is not None and other != path:
        raise BadInput(f"{name!r} is the name of another bank, {other}", "choose another name")
