"""Name banks, so that they are found by name in any folder."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

from memory_bank.bank.config_file import with_setting, without_setting
from memory_bank.base import paths, settings
from memory_bank.base.errors import BadInput, BadName, Hint
from memory_bank.base.paths import NamedBank
from memory_bank.notes import files
from memory_bank.notes.identity import etag

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,63}")


def add(name: str, path: str | Path) -> NamedBank:
    """Name a folder of notes, or a project with a bank, in the user's settings.

    Nothing is written to the folder. Raises BadName, BadInput if the name is that of another bank
    or there is no such folder, BadSetting if the settings can't be changed.
    """
    if not _NAME.fullmatch(name):
        raise BadName(f"{name!r} can't name a bank", "use letters, digits, '-' and '_'")
    folder = Path(path).expanduser().resolve()
    if not folder.is_dir():
        raise BadInput(f"{folder} is not a folder", Hint.MAKE_FOLDER)
    paths.check_free(name, folder)
    try:
        str(folder).encode()
    except UnicodeEncodeError as error:
        raise BadInput(f"the path of {name!r} is no UTF-8 text", "move the folder") from error
    _change(lambda text: with_setting(text, settings.BANKS, name, str(folder)))
    return NamedBank(name, str(folder), own=False, exists=True)


def remove(name: str) -> NamedBank:
    """Remove a name from the user's settings; the folder stays. Raises BadInput, BadSetting."""
    path = paths.added().get(name)
    if path is None and (own := paths.own().get(name)):
        raise BadInput(
            f"{name!r} was not added: it is a bank of your own, {own}",
            "delete that folder to remove the bank with its notes",
        )
    if path is None:
        raise BadInput(f"there is no bank {name!r}", Hint.LIST_BANKS)
    _change(lambda text: without_setting(text, settings.BANKS, name))
    return NamedBank(name, str(path), own=False, exists=path.is_dir())


def _change(edit: Callable[[str], str]) -> None:
    """Change the text of the user's settings; every other character stays."""
    file = settings.user_file(os.environ)
    settings.read_file(file)  # raises BadSetting
    data = files.read(file)
    text = (data or b"").decode("utf-8")
    if (new := edit(text)) != text:
        expected = files.ABSENT if data is None else etag(data)
        files.replace(file.resolve(), new.encode(), expected)
