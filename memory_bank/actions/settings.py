"""The effective settings, with secrets masked."""

from __future__ import annotations

import re
from dataclasses import dataclass

from memory_bank.config import Settings, describe
from memory_bank.setting_sections import Key

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
