"""The options `--bank` and `--json`, which all commands have."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from memory_bank.base.errors import MemoryBankError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_BANK, _JSON = "memory_bank.bank", "memory_bank.json"


def shared_options() -> list[click.Option]:
    """Return the options that the root and every command have."""
    return [
        click.Option(
            ["--bank"],
            metavar="DIR",
            expose_value=False,
            callback=_keep(_BANK),
            shell_complete=_banks,
            help="The bank, its project or its name [env: MEMORY_BANK]",
        ),
        click.Option(
            ["--json"],
            is_flag=True,
            expose_value=False,
            callback=_keep(_JSON),
            help="Print one JSON document; errors too, on stderr",
        ),
    ]


def _banks(_: click.Context, __: click.Parameter, start: str) -> list[CompletionItem]:
    """Return the names of banks that start with a text, and let the shell add folders."""
    from click.shell_completion import CompletionItem  # start-up

    from memory_bank.base import paths

    found: Sequence[str] = ()
    with suppress(MemoryBankError):  # a shell can't show errors during completion
        found = [one.name for one in paths.banks() if one.name.startswith(start)]
    return [*map(CompletionItem, found), CompletionItem(start, type="dir")]


def named_bank(ctx: click.Context) -> str | None:
    """Return the folder given by `--bank`, before or after the command, or by MEMORY_BANK.

    It may be given by the name of a bank. Raises BadSetting.
    """
    from memory_bank.base import paths

    given = ctx.meta.get(_BANK) or os.environ.get("MEMORY_BANK") or None
    return paths.path_of(given) if given else None


def _keep(key: str) -> Callable[[click.Context, click.Parameter, object], None]:
    def keep(ctx: click.Context, _: click.Parameter, value: object) -> None:
        if value:
            ctx.meta[key] = value

    return keep


def wants_json(ctx: click.Context) -> bool:
    """Tell whether `--json` was given."""
    return bool(ctx.meta.get(_JSON))
