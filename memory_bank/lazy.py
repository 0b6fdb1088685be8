"""Import the modules of a package, and compile patterns, at first use.

A command that only lists notes needs no Markdown parser and no numpy. With
`__getattr__ = modules_of(__name__)` in a package (PEP 562), a user writes `from memory_bank import
models` at the top and `models.tokenizer.Splitter` in the code. Type checkers see the modules that
the package names under `TYPE_CHECKING`.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import cast

_PAUSES = (0.01, 0.1, 0.5, 1.0)
"""Seconds to wait for the import of another thread, one after another."""


def modules_of(package: str) -> Callable[[str], ModuleType]:
    """Return the `__getattr__` of a package; it raises AttributeError where no module is."""

    def imported(name: str) -> ModuleType:
        try:
            return _imported(f"{package}.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"{package}.{name}":
                raise  # what the module imports is missing
            raise AttributeError(f"module {package!r} has no attribute {name!r}") from None

    return imported


def _imported(name: str) -> ModuleType:
    """Import a module; again after a pause, if two threads wait for each other's imports.

    Python raises an error in one of two threads of which one imports a package that imports its
    module, as `html` does with `html.entities`, and the other one that module.
    """
    for pause in _PAUSES:
        try:
            return import_module(name)
        except RuntimeError as error:
            if type(error).__name__ != "_DeadlockError":
                raise
            time.sleep(pause)
    return import_module(name)


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
