"""What every room uses: errors, settings, paths, SQLite, plug-ins.

Here is what nearly all modules use, since a process loads more than a hundred: named tuples whose
annotations stay text, which `typing` would compile at each start, and patterns that are compiled
when they are first used; what names the fields of their JSON, is closed, and cuts a text.
"""

from __future__ import annotations

import re
from collections import namedtuple
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, AnyStr, Self, TypeVar, cast

__all__ = ["Closable", "NamedTuple", "in_json", "lazy_pattern", "shorten", "with_schema_version"]

__version__ = "0.1.0"

if TYPE_CHECKING:
    from typing import NamedTuple
else:

    class _NamedTupleMeta(type):
        """Make a named tuple of the body of a class, as `typing` does, without other bases."""

        def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> type:
            if not bases:
                return super().__new__(cls, name, bases, body)
            fields = body.pop("__annotations__", {})
            defaults = [body.pop(field) for field in fields if field in body]
            module = body.pop("__module__")
            made = namedtuple(name, fields, defaults=defaults, module=module)  # noqa: PYI024
            made.__annotations__ = made.__new__.__annotations__ = fields
            for key, value in body.items():
                setattr(made, key, value)
            return made

    class NamedTuple(metaclass=_NamedTupleMeta):
        """As that of `typing`."""


class Closable:
    """What a `with` statement closes at its end."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close files and end processes."""


Record = TypeVar("Record")


def with_schema_version(version: str) -> Callable[[type[Record]], type[Record]]:
    """Let the JSON of a record begin with the version of its schema."""

    def add_version(kind: type[Record]) -> type[Record]:
        kind.schema_version = version  # type: ignore[attr-defined]
        return kind

    return add_version


def in_json(*names: str) -> Callable[[type[Record]], type[Record]]:
    """Let the JSON of a record have these fields, in their order, instead of all that are its own.

    They may be properties, or fields of a record in it: `record.field`.
    """

    def add_names(kind: type[Record]) -> type[Record]:
        kind.in_json = names  # type: ignore[attr-defined]
        return kind

    return add_names


def shorten(text: str, most: int) -> str:
    """Return a text of at most that many characters, with an ellipsis if it was longer."""
    return text if len(text) <= most else f"{text[: max(most - 1, 0)].rstrip()}…"[: max(most, 0)]


def lazy_pattern(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return a pattern that is compiled when one of its methods is first asked for.

    A module with many patterns takes tens of milliseconds to compile them all, of which most
    texts need few.
    """
    return cast("re.Pattern[AnyStr]", _Pattern(text, flags))


class _Pattern:
    """Stand in for a pattern; its methods are the compiled pattern's, kept after the first use."""

    def __init__(self, text: str | bytes, flags: int) -> None:
        self._given: tuple[Any, int] = text, flags

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)  # copying and pickling ask before there is a pattern
        answer: object = getattr(re.compile(*self._given), name)
        setattr(self, name, answer)
        return answer
