"""Show the settings that hold; nothing secret is in what is shown."""

from __future__ import annotations

import re
from dataclasses import dataclass

from memory_bank.config import Key, Settings, describe

_HIDDEN = "***"
_PASSWORD = re.compile(r"(?<=://)[^/@\s]*@")


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting as it holds now."""

    name: str
    """Section and key, joined by a dot."""
    value: object
    default: object
    origin: str
    """`default`, `file:line`, or the name of a variable."""
    help: str
    private: bool
    """Whether only the user's own file or environment may set it."""
    choices: tuple[str, ...] | None = None


def settings_of(settings: Settings) -> tuple[Setting, ...]:
    """Return every setting with its value and where it comes from; keys are never shown."""
    return tuple(
        Setting(
            name=f"{section}.{key}",
            value=_told(getattr(settings.section(section), key), meta),
            default=default,
            origin=settings.origins.get(f"{section}.{key}", "default"),
            help=meta.told,
            private=meta.private,
            choices=meta.choices or None,
        )
        for section, key, default, meta in describe()
    )


def _told(value: object, meta: Key) -> object:
    """Return a value as it may be shown: no key, and no password in an address."""
    if meta.secret and value:
        return _HIDDEN
    return _PASSWORD.sub(f"{_HIDDEN}@", value) if isinstance(value, str) else value
