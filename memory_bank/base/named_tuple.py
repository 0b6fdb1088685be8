"""Named tuples whose annotations stay text, which `typing` would compile at each start.

A process defines more than a hundred of them, and that was most of what a start cost.
"""

from __future__ import annotations

from collections import namedtuple
from typing import TYPE_CHECKING, Any

__all__ = ["NamedTuple"]

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
