"""Settings that are tables: their values, checked."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

_MOST = 200
"""Maximum number of entries of a table, and of items of a list in one."""
SEVERITIES = ("error", "warning", "info")
"""Severities of findings, the most severe first."""


class BadTable(ValueError):
    """A value in a table is wrong: the keys to it, the problem, and what to write."""

    def __init__(self, keys: tuple[str, ...], problem: str, hint: str) -> None:
        """Keep them."""
        super().__init__(problem)
        self.keys = keys
        self.problem = problem
        self.hint = hint


class TypeSchema(NamedTuple):
    """What the front matter of notes of a type must and may have: `[schema.TYPE]`."""

    required: tuple[str, ...] = ()
    """Keys that must have a value."""
    optional: tuple[str, ...] = ()
    """Keys that are known beside the required and our own ones."""
    strict: bool | None = None
    """Whether other keys are findings; None: as `schema.strict` says."""


def severities(table: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the severities of rules by their names; raise BadTable."""
    _check_size(table)
    for rule, severity in table.items():
        if severity not in SEVERITIES:
            hint = f"choose one of: {', '.join(SEVERITIES)}"
            raise BadTable((rule,), f"{shown(severity)} is no severity", hint)
    return MappingProxyType(dict(table))


def type_schemas(table: Mapping[str, Any]) -> Mapping[str, TypeSchema]:
    """Return the schemas by type; raise BadTable."""
    _check_size(table)
    return MappingProxyType({kind: _schema(kind, keys) for kind, keys in table.items()})


def _schema(kind: str, keys: object) -> TypeSchema:
    if not isinstance(keys, Mapping):
        what = f"{shown(keys)} is neither a setting of [schema] nor a table of a type"
        raise BadTable((kind,), what, f"write a table [schema.{kind}] with required = [...]")
    found: dict[str, Any] = {}
    for key, value in keys.items():
        if key not in TypeSchema._fields:
            known = ", ".join(TypeSchema._fields)
            raise BadTable((kind, key), f"unknown setting {key!r}", f"known: {known}")
        if key == "strict":
            if not isinstance(value, bool):
                raise BadTable((kind, key), f"{shown(value)} is not true or false", "as in TOML")
            found[key] = value
        else:
            found[key] = _names(kind, key, value)
    return TypeSchema(**found)


def _names(kind: str, key: str, value: object) -> tuple[str, ...]:
    """Return a list of keys of front matter."""
    hint = f'for example {key} = ["status", "tags"]'
    if not isinstance(value, list | tuple) or not all(isinstance(one, str) for one in value):
        raise BadTable((kind, key), f"{shown(value)} is not a list of texts", hint)
    if len(value) > _MOST:
        raise BadTable((kind, key), f"{len(value):,} items", f"at most {_MOST}")
    if any(not one.strip() for one in value):
        raise BadTable((kind, key), "the name of a key is empty", hint)
    return tuple(dict.fromkeys(value))


def _check_size(table: Mapping[str, Any]) -> None:
    if len(table) > _MOST:
        raise BadTable((), f"{len(table):,} entries", f"at most {_MOST}")


def shown(value: object) -> str:
    """Return a value of a setting for an error, cut if it is long."""
    try:
        text = repr(value)
    except ValueError:  # an integer of thousands of digits
        return "a number of so many digits"
    return text if len(text) <= _MOST else f"{text[:_MOST]}…"
