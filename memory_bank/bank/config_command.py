"""`memory-bank config`: show the effective settings and the origin of each."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Annotated

from memory_bank.bank.config_file import Setting, settings_of
from memory_bank.base.errors import NoBank, did_you_mean, similar_names
from memory_bank.base.operation import Param, operation
from memory_bank.base.screen import Call, place
from memory_bank.base.settings import Settings, describe, load, user_file


def _keys(start: str) -> list[str]:
    return [name for s, k, *_ in describe() if (name := f"{s}.{k}").startswith(start)]


@operation(
    "config",
    why="""
    Settings come from four places, each overriding those before it: the defaults, the user file,
    the bank's file, and the environment (MEMORY_BANK_EMBEDDER, MEMORY_BANK_SEARCH_LIMIT …). This
    command shows the effective values; to change a setting, edit one of the files named at the
    end. Settings that name hosts, keys or paths are read only from the user file or the
    environment, so that no repository can choose them. Keys are never shown.
    """,
    examples=(
        ("memory-bank config", "all settings, and where they come from"),
        ("memory-bank config memory.embedder", "one value, for a script"),
    ),
    group="Look after",
)
def config(
    call: Call,
    *,
    key: Annotated[tuple[str, ...], Param(argument=True, metavar="[KEY]", complete=_keys)] = (),
) -> int:
    """Show the settings, and which files to edit."""
    settings, mine = _loaded(call)
    files = {"bank": mine, "user": user_file(os.environ)}
    edit = f"{files['user']} (all your banks)"
    if mine:
        edit = f"{place(mine)} (this bank) or {edit}"
    if len(key) > 1 or key[:1] == ("set",) or (key and "=" in key[0]):
        raise call.usage_error(f"settings are changed in a file: edit {edit}")
    found = settings_of(settings)
    if key:
        found = (_one(call, found, key[0]),)
    if call.json:
        call.console.document(found[0] if key else {"settings": found, "files": files})
    elif key:
        call.console.line(_shown(found[0]))
    else:
        rows = [(one.name, _shown(one), _origin(one), one.help) for one in found]
        call.console.table(("setting", "value", "from", "what it is"), rows)
        call.remark(f"to change a setting, edit {edit}")
    return 0


def _loaded(call: Call) -> tuple[Settings, Path | None]:
    """Return the settings and the bank's file; outside a bank the user's settings."""
    try:
        with call.open() as bank:
            return bank.settings, bank.layout.config
    except NoBank:
        if call.named_bank:
            raise
        call.remark("there is no bank here: these are your own settings")
        return load(), None


def _one(call: Call, found: tuple[Setting, ...], name: str) -> Setting:
    """Return the setting of a name; its section may be left out if that is unambiguous."""
    wanted = name.lower()
    fitting = [one for one in found if wanted in {one.name, one.name.partition(".")[2]}]
    if len(fitting) != 1:
        near = similar_names(name, [one.name for one in found], least=0.5)
        raise call.usage_error(f"there is no setting {name!r}{did_you_mean(map(repr, near))}")
    return fitting[0]


def _shown(one: Setting) -> str:
    value = one.value
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _origin(one: Setting) -> str:
    file = re.fullmatch(r"(.+):(\d+)", one.origin)
    return place(file[1], int(file[2])) if file else one.origin
