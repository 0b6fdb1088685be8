"""Options and arguments that several commands share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import click

from memory_bank.base.text import agent_name
from memory_bank.frontends.cli import shell_completion
from memory_bank.frontends.cli.command import ALLOW_SECRET

Function = Callable[..., Any]

Decorator = Callable[[Function], Function]


def note(name: str = "name", **settings: Any) -> Decorator:  # noqa: ANN401  (click's)
    """Take a note's name."""
    return click.argument(name, shell_complete=shell_completion.notes, **settings)


def notes(name: str = "names", metavar: str = "NAME...") -> Decorator:
    """Take one or more notes' names."""
    return note(name, nargs=-1, required=True, metavar=metavar)


def text(metavar: str = "[TEXT]") -> Decorator:
    """Take a text; `-` or a pipe means stdin, no text on a terminal opens an editor."""
    return click.argument("text", required=False, metavar=metavar)


def tags(what: str) -> Decorator:
    """Take tags, separated by commas or by giving the option again."""
    return click.option(
        "--tags",
        metavar="A,B",
        multiple=True,
        callback=_split,
        shell_complete=shell_completion.tags,
        help=what,
    )


def kind(what: str) -> Decorator:
    """Take a note's type."""
    return click.option(
        "--type", "kind", metavar="TYPE", shell_complete=shell_completion.types, help=what
    )


def since(function: Function) -> Function:
    """Take the time after which a note must have been written or changed."""
    what = "Written or changed since: 7d, last week, 2026-05-08"
    return click.option("--since", metavar="WHEN", help=what)(function)


def before(function: Function) -> Function:
    """Take the time before which a note must have been written."""
    return click.option("--before", metavar="WHEN", help="Written before: as --since")(function)


def include_archived(function: Function) -> Function:
    """Take whether to include archived notes."""
    return click.option("--include-archived", is_flag=True, help="Include archived notes")(function)


def if_match(function: Function) -> Function:
    """Take the etag that the note must have."""
    what = "Change the note only if it still has this etag (see show --json)"
    return click.option("--if-match", metavar="ETAG", help=what)(function)


def allow_secret(function: Function) -> Function:
    """Take whether to write a text that looks like a secret."""

    def keep(ctx: click.Context, _: click.Parameter, value: object) -> None:
        if value:
            ctx.meta[ALLOW_SECRET] = True

    what = "Write the text even if it looks like a secret"
    return click.option(
        "--allow-secret", is_flag=True, expose_value=False, callback=keep, help=what
    )(function)


def agent(function: Function) -> Function:
    """Take the name of the agent that makes a change."""
    what = "The agent that makes the change, if an agent does"
    option = click.option("--agent", metavar="NAME", callback=_agent_name, help=what)
    return option(function)


def fail_on(function: Function) -> Function:
    """Take the lowest severity of a finding that makes the exit code 1."""
    what = "Exit with 1 for findings of this severity or a higher one; default: error"
    choice = click.Choice(["error", "warning", "info", "never"])
    return click.option("--fail-on", type=choice, metavar="SEVERITY", help=what)(function)


def limit(default: int | None, what: str) -> Decorator:
    """Take the number of results."""
    return click.option("--limit", metavar="N", type=int, default=default, help=what)


def _agent_name(ctx: click.Context, param: click.Parameter, given: str | None) -> str | None:
    if given is not None and not agent_name(given) and not ctx.resilient_parsing:
        raise click.BadParameter("the name has no visible character", ctx, param)
    return given


def _split(ctx: click.Context, param: click.Parameter, given: Sequence[str]) -> tuple[str, ...]:
    tags = tuple(tag.strip() for words in given for tag in words.split(","))
    if "" in tags and not ctx.resilient_parsing:
        raise click.BadParameter("a tag is empty", ctx, param)
    return tags
