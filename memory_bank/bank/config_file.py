"""The effective settings, with secrets masked; their command; and the change of one in a file."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Annotated

from memory_bank.base import NamedTuple, lazy_pattern, toml
from memory_bank.base.errors import BadSetting, did_you_mean, similar_names
from memory_bank.base.operation import Param, operation
from memory_bank.base.screen import Call, show_place
from memory_bank.base.setting_sections import Key
from memory_bank.base.settings import Settings, describe, load, user_file
from memory_bank.base.text import edit_lines
from memory_bank.notes.identity import hash_bytes
from memory_bank.notes.storage import files

_HIDDEN = "***"

_PASSWORD = lazy_pattern(r"(?<=://)[^/@\s]*@")


class Setting(NamedTuple):
    """One effective setting."""

    name: str
    """Section and key, joined by a dot."""
    value: object
    default: object
    origin: str
    """`default`, `file:line`, or the name of an environment variable."""
    help: str
    private: bool
    """Whether only the user's own file or environment may set it."""
    choices: tuple[str, ...] | None = None


def list_settings(settings: Settings) -> tuple[Setting, ...]:
    """Return every setting with its value and origin; keys are masked."""
    return tuple(
        Setting(
            name=f"{section}.{key}",
            value=_mask_value(getattr(settings.section(section), key), meta),
            default=default,
            origin=settings.origins.get(f"{section}.{key}", "default"),
            help=meta.told,
            private=meta.private,
            choices=meta.choices or None,
        )
        for section, key, default, meta in describe()
    )


def _mask_value(value: object, meta: Key) -> object:
    """Return a value with keys and the passwords of URLs masked."""
    if meta.secret and value:
        return _HIDDEN
    return _PASSWORD.sub(f"{_HIDDEN}@", value) if isinstance(value, str) else value


Value = str | list[str]


def change_file(file: Path, edit: Callable[[str], str]) -> bool:
    """Change the text of a settings file, and tell whether it became another one."""
    data = files.read(file)
    text = (data or b"").decode("utf-8")
    if (new := edit(text)) == text:
        return False
    files.replace(file, new.encode(), files.ABSENT if data is None else hash_bytes(data))
    return True


def set_setting(text: str, section: str, key: str, value: Value) -> str:
    """Return the text with `key = "value"` in a section; raise BadSetting if that is impossible."""
    before = toml.parse_toml(text)
    if before.get(section, {}).get(key) == value:
        return text
    sections = {**before, section: {**before.get(section, {}), key: value}}
    line = f"{key} = {json.dumps(value, ensure_ascii=False)}"

    def edit(plain: str) -> str:
        for candidate in (
            *_replace_example(plain, key, line),
            *toml.insert_value(plain, (section, key), value),
        ):
            with suppress(ValueError):
                if toml.parse_toml(candidate) == sections:
                    return candidate if candidate.endswith("\n") else f"{candidate}\n"
        raise BadSetting(
            f"{section}.{key} can't be set automatically in this file",
            "add {line} under [{section}] by hand",
            line=line,
            section=section,
        )

    return edit_lines(text, edit)


def _replace_example(text: str, key: str, line: str) -> Iterator[str]:
    """Yield the text with a line in place of each commented example, as `init` writes them."""
    for match in re.finditer(rf"^#[ \t]*{re.escape(key)}[ \t]*=[^\n#]*", text, re.MULTILINE):
        rest = text[match.end() :]
        yield f"{text[: match.start()]}{line}{'  ' if rest.startswith('#') else ''}{rest}"


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
    key: Annotated[tuple[str, ...], Param(argument=True, metavar="[KEY]")] = (),
) -> int:
    """Show the settings, and which files to edit."""
    settings, mine = _load_settings(call)
    files = {"bank": mine, "user": user_file(os.environ)}
    edit = f"{files['user']} (all your banks)"
    if mine:
        edit = f"{show_place(mine)} (this bank) or {edit}"
    if len(key) > 1 or key[:1] == ("set",) or (key and "=" in key[0]):
        raise call.usage_error(f"settings are changed in a file: edit {edit}")
    checked = list_settings(settings)
    if key:
        checked = (_find_setting(call, checked, key[0]),)
    if call.json:
        call.console.document(checked[0] if key else {"settings": checked, "files": files})
    elif key:
        call.console.line(_show_setting(checked[0]))
    else:
        rows = [
            (setting.name, _show_setting(setting), _origin(setting), setting.help)
            for setting in checked
        ]
        call.console.table(("setting", "value", "from", "what it is"), rows)
        call.remark(f"to change a setting, edit {edit}")
    return 0


def _load_settings(call: Call) -> tuple[Settings, Path | None]:
    """Return the settings and the bank's file; outside a bank the user's settings."""
    with call.open_if_there() as bank:
        if bank:
            return bank.settings, bank.layout.config
    call.remark("there is no bank here: these are your own settings")
    return load(), None


def _find_setting(call: Call, settings: tuple[Setting, ...], name: str) -> Setting:
    """Return the setting of a name; its section may be left out if that is unambiguous."""
    folded = name.lower()
    fitting = [
        setting for setting in settings if folded in {setting.name, setting.name.partition(".")[2]}
    ]
    if len(fitting) != 1:
        near = similar_names(name, [setting.name for setting in settings], least=0.5)
        raise call.usage_error(f"there is no setting {name!r}{did_you_mean(map(repr, near))}")
    return fitting[0]


def _show_setting(setting: Setting) -> str:
    value = setting.value
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _origin(setting: Setting) -> str:
    file = re.fullmatch(r"(.+):(\d+)", setting.origin)
    return show_place(file[1], int(file[2])) if file else setting.origin
