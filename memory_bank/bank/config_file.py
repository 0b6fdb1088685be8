"""The effective settings, with secrets masked; and the change of one setting in a TOML file."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from memory_bank.base import toml
from memory_bank.base.errors import BadSetting
from memory_bank.base.setting_sections import Key
from memory_bank.base.settings import Settings, describe
from memory_bank.base.text import edit_lines
from memory_bank.notes.identity import etag
from memory_bank.notes.storage import files

_HIDDEN = "***"

_PASSWORD = re.compile(r"(?<=://)[^/@\s]*@")


@dataclass(frozen=True, slots=True)
class Setting:
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


def settings_of(settings: Settings) -> tuple[Setting, ...]:
    """Return every setting with its value and origin; keys are masked."""
    return tuple(
        Setting(
            name=f"{section}.{key}",
            value=_masked(getattr(settings.section(section), key), meta),
            default=default,
            origin=settings.origins.get(f"{section}.{key}", "default"),
            help=meta.told,
            private=meta.private,
            choices=meta.choices or None,
        )
        for section, key, default, meta in describe()
    )


def _masked(value: object, meta: Key) -> object:
    """Return a value with keys and the passwords of URLs masked."""
    if meta.secret and value:
        return _HIDDEN
    return _PASSWORD.sub(f"{_HIDDEN}@", value) if isinstance(value, str) else value


Value = str | list[str]


def change(file: Path, edit: Callable[[str], str]) -> bool:
    """Change the text of a settings file, and tell whether it became another one."""
    data = files.read(file)
    text = (data or b"").decode("utf-8")
    if (new := edit(text)) == text:
        return False
    files.replace(file, new.encode(), files.ABSENT if data is None else etag(data))
    return True


def with_setting(text: str, section: str, key: str, value: Value) -> str:
    """Return the text with `key = "value"` in a section; raise BadSetting if that is impossible."""
    before = toml.loads(text)
    if before.get(section, {}).get(key) == value:
        return text
    wanted = {**before, section: {**before.get(section, {}), key: value}}
    if found := _first(text, lambda plain: _set(plain, section, key, value), wanted):
        return found
    raise BadSetting(
        f"{section}.{key} can't be set automatically in this file",
        "add {line} under [{section}] by hand",
        line=f"{key} = {json.dumps(value)}",
        section=section,
    )


def _set(text: str, section: str, key: str, value: Value) -> Iterator[str]:
    yield from toml.changed(text, (section, key), value)
    name = re.escape(section)
    new = f"[{section}]\n{key} = {json.dumps(value, ensure_ascii=False)}\n"
    # below the commented header that `init` writes, whose keys a user may uncomment later
    for found in re.finditer(rf"^#[ \t]*\[{name}\][^\n]*(?:\n|\Z)", text, re.MULTILINE):
        yield _with_end(text[: found.end()]) + new + text[found.end() :]
    yield _with_end(text) + ("\n" if text.strip() else "") + new


def _with_end(text: str) -> str:
    return text if not text or text.endswith("\n") else f"{text}\n"


def without_setting(text: str, section: str, key: str) -> str:
    """Return the text without the line of a setting in a section; raise BadSetting."""
    before = toml.loads(text)
    wanted = {**before, section: {k: v for k, v in before[section].items() if k != key}}
    if found := _first(text, lambda plain: toml.changed(plain, (section, key), None), wanted):
        return found
    raise BadSetting(
        f"{section}.{key} can't be removed automatically from this file", "remove it by hand"
    )


def _first(text: str, edit: Callable[[str], Iterator[str]], wanted: Mapping[str, object]) -> str:
    """Return the first edited text that reads as wanted; an empty one if none does."""
    empty = {section: values for section, values in wanted.items() if values == {}}

    def chosen(plain: str) -> str:
        for candidate in edit(plain):
            with suppress(ValueError):
                if {**empty, **toml.loads(candidate)} == wanted:
                    return candidate
        return ""

    return edit_lines(text, chosen)
