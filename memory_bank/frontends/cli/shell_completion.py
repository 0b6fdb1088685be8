"""Shell completion of names, tags and types, from the index as it is."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import click

from memory_bank.base.errors import MemoryBankError
from memory_bank.base.setting_sections import OBSERVATION_TYPES
from memory_bank.frontends.cli.shared_options import named_bank

if TYPE_CHECKING:
    from memory_bank.bank.bank import Bank


_TYPES = (
    "plan", "journal", "fact", "observation", "reflection",
    "decision", "bugfix", "feature", "refactor", "discovery", "change", "session", "rule",
)  # fmt: skip


def notes(ctx: click.Context, _: click.Parameter, start: str) -> list[str]:
    """Return the note names that start with a text."""
    from memory_bank.memory import show

    return _known(ctx, start, show.known_names)


def trashed(ctx: click.Context, _: click.Parameter, start: str) -> list[str]:
    """Return the names of deleted notes that start with a text."""
    from memory_bank.memory import trash

    return _known(ctx, start, trash.known_names)


def tags(ctx: click.Context, _: click.Parameter, start: str) -> list[str]:
    """Return lists of tags, in which the last tag is completed."""
    from memory_bank.memory import show

    done, comma, last = start.rpartition(",")
    return [f"{done}{comma}{tag}" for tag in _known(ctx, last, show.known_tags)]


def types(_: click.Context, __: click.Parameter, start: str) -> list[str]:
    """Return the known types that start with a text."""
    return _starting(_TYPES, start)


def observation_types(_: click.Context, __: click.Parameter, start: str) -> list[str]:
    """Return lists of types of observations, in which the last type is completed."""
    done, comma, last = start.rpartition(",")
    return [f"{done}{comma}{kind}" for kind in _starting(OBSERVATION_TYPES, last)]


def observations(ctx: click.Context, _: click.Parameter, start: str) -> list[str]:
    """Return the ids of the newest observations that start with a text."""
    from memory_bank.sessions.observations import known_ids

    return _known(ctx, start, known_ids)


def symbols(ctx: click.Context, _: click.Parameter, start: str) -> list[str]:
    """Return the names of symbols that start with a text, from the table as it is."""
    from memory_bank.code.index.codebase import open_codebase
    from memory_bank.code.symbols import known_names

    try:
        with open_codebase(bank=named_bank(ctx)) as code:
            return _starting(known_names(code, start), start)
    except MemoryBankError:
        return []


def _known(ctx: click.Context, start: str, names: Callable[[Bank], Iterable[str]]) -> list[str]:
    from memory_bank.bank.bank import open_bank

    try:
        with open_bank(named_bank(ctx)) as bank:
            return _starting(names(bank), start)
    except MemoryBankError:
        return []  # a shell can't show errors during completion


def _starting(words: Iterable[str], start: str) -> list[str]:
    return [word for word in words if word.startswith(start) and word.isprintable()]
