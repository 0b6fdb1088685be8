"""Import the modules of a package at first use.

A command that only lists notes needs no Markdown parser and no numpy. With
`__getattr__ = modules_of(__name__)` in a package (PEP 562), a user writes `from memory_bank import
models` at the top and `models.tokenizer.Splitter` in the code. Type checkers see the modules that
the package names under `TYPE_CHECKING`.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from types import ModuleType


def modules_of(package: str) -> Callable[[str], ModuleType]:
    """Return the `__getattr__` of a package; it raises AttributeError where no module is."""

    def imported(name: str) -> ModuleType:
        try:
            return import_module(f"{package}.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"{package}.{name}":
                raise  # what the module imports is missing
            raise AttributeError(f"module {package!r} has no attribute {name!r}") from None

    return imported
