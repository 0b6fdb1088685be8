"""A decorator that makes a command of a function, with the options `--bank` and `--json`."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import click

from memory_bank.frontends.cli.call import Call
from memory_bank.frontends.cli.help import Command, Example

_BANK = "memory_bank.bank"
_JSON = "memory_bank.json"
ALLOW_SECRET = "memory_bank.allow_secret"  # noqa: S105  (the name of an option)


def as_command(
    name: str, *, why: str, examples: Sequence[Example], form: type[Command] = Command
) -> Callable[[Callable[..., int]], Command]:
    """Make a command of a function that takes a `Call` and returns an exit code.

    The function's docstring is the one line that `-h` shows.
    """

    def make(function: Callable[..., int]) -> Command:
        @click.pass_context
        @wraps(function)
        def callback(ctx: click.Context, /, **values: Any) -> int:  # noqa: ANN401  (click's)
            return function(_call(ctx), **values)

        made = click.command(name, cls=form, why=why, examples=examples)(callback)
        made.params = [*made.params[:-2], *shared_options(), *made.params[-2:]]
        return made

    return make


def _call(ctx: click.Context) -> Call:
    return Call(
        ctx.command_path,
        bank=named_bank(ctx),
        json=bool(ctx.meta.get(_JSON)),
        allow_secret=bool(ctx.meta.get(ALLOW_SECRET)),
    )


def shared_options() -> list[click.Option]:
    """Return the options that the root and every command have."""
    return [
        click.Option(
            ["--bank"],
            metavar="DIR",
            expose_value=False,
            callback=_keep(_BANK),
            type=click.Path(file_okay=False),
            help="The bank, or a project with a bank [env: MEMORY_BANK]",
        ),
        click.Option(
            ["--json"],
            is_flag=True,
            expose_value=False,
            callback=_keep(_JSON),
            help="Print one JSON document; errors too, on stderr",
        ),
    ]


def named_bank(ctx: click.Context) -> str | None:
    """Return the folder given by `--bank`, before or after the command, or by MEMORY_BANK."""
    return ctx.meta.get(_BANK) or os.environ.get("MEMORY_BANK") or None


def _keep(key: str) -> Callable[[click.Context, click.Parameter, object], None]:
    def keep(ctx: click.Context, _: click.Parameter, value: object) -> None:
        if value:
            ctx.meta[key] = value

    return keep
