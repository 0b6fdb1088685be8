"""Conditions of a query as the shared index takes them.

The engine applies those on repository, team, type, tag and date before ranking. Others are checked
on the notes that it finds, as far as these have what is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from memory_bank.manifest.filters import HIDING, Condition
from memory_bank.shared.engine import SharedPassage, Where

REPO, TEAM = "repo", "team"
ACROSS = frozenset({REPO, TEAM})
"""Keys of conditions on repositories."""

_VALUES: dict[str, Callable[[SharedPassage], Sequence[str]]] = {
    REPO: lambda one: (one.repo,),
    TEAM: lambda one: one.teams,
    "type": lambda one: (one.type,),
    "tag": lambda one: one.tags,
    HIDING: lambda one: (one.status,),
    "in": lambda one: (one.path,),
}
"""The values of a note that a condition is compared with."""


class Translated(NamedTuple):
    """What the engine is asked, what is checked then, and conditions that can't be met."""

    where: Where
    checks: tuple[Callable[[SharedPassage], bool], ...]
    unknown: tuple[str, ...]
    """Keys of conditions on what the shared index does not know."""


def translated(conditions: Iterable[Condition], *, without_repo: str, hidden: bool) -> Translated:
    """Translate the conditions of a query; `hidden` lets archived notes be found."""
    where = Where(without_repo=without_repo, hidden=hidden)
    checked: list[Condition] = []
    unknown: list[str] = []
    for one in conditions:
        if one.key == HIDING:
            where = where._replace(hidden=True)
        if (added := _added(where, one)) is not None:
            where = added
        elif isinstance(one.value, datetime) or one.key in _VALUES:
            checked.append(one)
        elif not one.negated:
            unknown.append(one.key)
    checks = tuple(_check_of(one) for one in checked)
    return Translated(where, checks, tuple(unknown))


def meets(conditions: Iterable[Condition], repo: str, teams: Sequence[str]) -> bool:
    """Tell whether a repository meets the conditions on repositories and teams."""
    values = {REPO: (repo,), TEAM: teams}
    return all(
        _matches(one, values[one.key]) is not one.negated for one in conditions if one.key in values
    )


def _added(where: Where, one: Condition) -> Where | None:
    """Add a condition to those of the engine; None if it can't be."""
    if one.negated:
        return None
    if isinstance(one.value, datetime):
        when = one.value.timestamp()
        if one.key == "since" and where.since is None:
            return where._replace(since=when)
        return where._replace(before=when) if one.key == "before" and not where.before else None
    return _named(where, one.key, _values(one))


def _named(where: Where, key: str, values: tuple[str, ...]) -> Where | None:
    if key == REPO and not where.repos:
        return where._replace(repos=values)
    if key == TEAM and not where.teams:
        return where._replace(teams=values)
    if key == "type" and not where.types:
        return where._replace(types=values)
    single = key == "tag" and len(values) == 1
    return where._replace(tags=(*where.tags, *values)) if single else None


def _check_of(one: Condition) -> Callable[[SharedPassage], bool]:
    def check(passage: SharedPassage) -> bool:
        if isinstance(one.value, datetime):
            when = one.value.timestamp()
            late = max(passage.created, passage.updated) >= when
            met = late if one.key == "since" else passage.created < when
        else:
            met = _matches(one, _VALUES[one.key](passage))
        return met is not one.negated

    return check


def _matches(one: Condition, found: Sequence[str]) -> bool:
    """Tell whether one of the values of a condition is among those found."""
    wanted = _values(one)
    if one.key == REPO:
        return any(name == it or name.endswith(f"/{it}") for name in found for it in wanted)
    if one.key == "in":
        return any(path.startswith(f"{it.strip('/')}/") for path in found for it in wanted)
    folded = {value.casefold() for value in found}
    return any(value.casefold() in folded for value in wanted)


def _values(one: Condition) -> tuple[str, ...]:
    parts = (part.strip() for part in str(one.value).split(","))
    return tuple(part.lstrip("#") or part for part in parts if part)
