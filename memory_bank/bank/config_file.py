"""The effective settings, with secrets masked; and the change of one setting in a TOML file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from memory_bank.base import toml
from memory_bank.base.errors import BadSetting
from memory_bank.base.setting_sections import Key
from memory_bank.base.settings import Settings, describe

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


_TEXT = r"\"(?:[^\"\\\r\n]|\\.)*\"|'[^'\r\n]*'"

_LIST = rf"\[(?:[^\[\]\"'#]|{_TEXT})*\]"
"""A list of texts without comments, which a new value would remove."""

_END = r"[ \t]*(?:#[^\r\n]*)?\r?$"

Value = str | list[str]


def with_setting(text: str, section: str, key: str, value: Value) -> str:
    """Return the text with `key = "value"` in a section; raise BadSetting if that is impossible.

    Each candidate is parsed, until one has the new value and no other change.
    """
    before = toml.loads(text)
    wanted = {**before, section: {**before.get(section, {}), key: value}}
    if before == wanted:
        return text
    for candidate in _candidates(text, section, key, json.dumps(value, ensure_ascii=False)):
        try:
            if toml.loads(candidate) == wanted:
                return candidate
        except ValueError:
            continue
    raise BadSetting(
        f"{section}.{key} can't be set automatically in this file",
        "add {line} under [{section}] by hand",
        line=f"{key} = {json.dumps(value)}",
        section=section,
    )


def _candidates(text: str, section: str, key: str, value: str) -> Iterator[str]:
    newline = "\r\n" if "\r\n" in text else "\n"
    name, table = rf"[\"']?{re.escape(key)}[\"']?", rf"[\"']?{re.escape(section)}[\"']?"
    head = rf"\[[ \t]*{table}[ \t]*\]"
    old = rf"^([ \t]*(?:{table}[ \t]*\.[ \t]*)?{name}[ \t]*=[ \t]*)(?:{_TEXT}|{_LIST})"
    for found in re.finditer(old, text, re.MULTILINE):
        yield text[: found.end(1)] + value + text[found.end() :]
    line = f"{key} = {value}{newline}"
    for found in re.finditer(rf"^[ \t]*{head}{_END}\n?", text, re.MULTILINE):
        yield _with_end(text[: found.end()], newline) + line + text[found.end() :]
    # below the commented header that `init` writes, whose keys a user may uncomment later
    for found in re.finditer(rf"^#[ \t]*{head}{_END}\n?", text, re.MULTILINE):
        above = _with_end(text[: found.end()], newline)
        yield f"{above}[{section}]{newline}{line}{text[found.end() :]}"
    gap = newline if text.strip() else ""
    yield f"{_with_end(text, newline)}{gap}[{section}]{newline}{line}"
    yield f"{section}.{line}{text}"


def _with_end(text: str, newline: str) -> str:
    return text if not text or text.endswith("\n") else text + newline


def without_setting(text: str, section: str, key: str) -> str:
    """Return the text without the line of a text in a section; raise BadSetting."""
    before = toml.loads(text)
    wanted = {**before, section: {k: v for k, v in before[section].items() if k != key}}
    name, table = rf"[\"']?{re.escape(key)}[\"']?", rf"[\"']?{re.escape(section)}[\"']?"
    line = rf"^[ \t]*(?:{table}[ \t]*\.[ \t]*)?{name}[ \t]*=[ \t]*(?:{_TEXT}){_END}\n?"
    for found in re.finditer(line, text, re.MULTILINE):
        candidate = text[: found.start()] + text[found.end() :]
        with suppress(ValueError):
            if {section: {}, **toml.loads(candidate)} == wanted:
                return candidate
    raise BadSetting(
        f"{section}.{key} can't be removed automatically from this file", "remove it by hand"
    )
