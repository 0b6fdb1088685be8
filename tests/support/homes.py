"""Folders of settings, state, data and caches that are not the user's own."""

from pathlib import Path

import pytest


def name_homes(home: Path) -> dict[str, str]:
    """Return the variables of the environment that put all of a user's folders below a folder."""
    kinds = ("CONFIG", "STATE", "DATA", "CACHE")
    return {f"XDG_{kind}_HOME": str(home / kind.lower()) for kind in kinds}


def live_at(home: Path, patch: pytest.MonkeyPatch) -> None:
    """Put all of the user's folders below a folder."""
    for name, folder in name_homes(home).items():
        patch.setenv(name, folder)
