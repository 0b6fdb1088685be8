"""Find plug-ins by their file names, and import them; compile patterns at first use."""

from __future__ import annotations

import os
import re
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import cast

from memory_bank.base.errors import BadInput

_NOT_PLUGINS = frozenset({"__init__", "base"})


def names(kind: str) -> list[str]:
    """List the plug-ins of a kind (`embedders`, `frontends.cli.commands`), sorted.

    A plug-in is a module or a package whose name doesn't start with an underscore.
    """
    return list(_names(kind))


def load(kind: str, name: str) -> ModuleType:
    """Import one plug-in by name; raise BadInput, naming the others, when there is none."""
    if name not in names(kind):
        known = ", ".join(names(kind))
        one = kind.rpartition(".")[2].rstrip("s")
        raise BadInput(f"there is no {one} called {name!r}", "choose one of: {known}", known=known)
    return import_module(f"memory_bank.{kind}.{name}")


@cache
def _names(kind: str) -> tuple[str, ...]:
    spec = find_spec(f"memory_bank.{kind}")
    folders = spec.submodule_search_locations if spec else None
    files = [file for folder in folders or () for file in os.listdir(folder)]  # noqa: PTH208  (start-up)
    found = {file.removesuffix(".py") for file in files if "." not in file.removesuffix(".py")}
    return tuple(sorted(name for name in found - _NOT_PLUGINS if not name.startswith("_")))


def pattern(text: str, flags: int = 0) -> re.Pattern[str]:
    """Return a pattern that is compiled when one of its methods is first asked for.

    A module with many patterns takes tens of milliseconds to compile them all, of which most
    texts need few.
    """
    return cast("re.Pattern[str]", _Pattern(text, flags))


class _Pattern:
    """Stand in for a pattern; its methods are the compiled pattern's, kept after the first use."""

    def __init__(self, text: str, flags: int) -> None:
        self._given = text, flags

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)  # copying and pickling ask before there is a pattern
        found: object = getattr(re.compile(*self._given), name)
        setattr(self, name, found)
        return found
