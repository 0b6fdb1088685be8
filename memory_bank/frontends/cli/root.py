"""The root command: finds subcommands by file name and imports only the one that runs."""

from __future__ import annotations

import sys
from typing import Any

import click

from memory_bank.base.version import __version__
from memory_bank.frontends import declared
from memory_bank.frontends.cli import overview
from memory_bank.frontends.cli.console import Console
from memory_bank.frontends.cli.derived import DerivedCommand
from memory_bank.frontends.cli.help import Group, Helped
from memory_bank.frontends.cli.overview import PROGRAM
from memory_bank.frontends.cli.shared_options import named_bank, shared_options


class RootGroup(Group):
    """The group of all commands."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  (click's)
        """Return the names of the commands without importing them."""
        return declared.words()

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002  (click's)
        """Make one command, without importing its operation."""
        return _command(cmd_name) if cmd_name in declared.words() else None

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002  (click's)
        """Write the list of commands."""
        formatter.write(overview.text(formatter.width, long=False))

    def _bare(self, ctx: click.Context) -> Any:  # noqa: ANN401  (an exit code)
        if ctx.invoked_subcommand is None:
            from memory_bank.frontends.cli import bank_state

            if bank_state.show(named_bank(ctx), Console(sys.stdout)):
                return 0
        return super()._bare(ctx)


def _command(name: str) -> Helped:
    found = declared.topic(name)
    if found is None:
        return DerivedCommand(declared.described(name))
    topic, names = found
    commands = {
        one.removeprefix(f"{name} "): DerivedCommand(declared.described(one)) for one in names
    }
    return Group(
        name,
        help=topic.summary,
        why=topic.why,
        examples=[(line, what) for line, what in topic.examples],
        default=commands.get(topic.default.removeprefix(f"{name} ")),
        commands=commands,
        params=shared_options() if topic.options else [],
    )


def _show_version(ctx: click.Context, _: click.Parameter, asked: bool) -> None:  # noqa: FBT001
    if asked and not ctx.resilient_parsing:
        Console(sys.stdout).line(f"{PROGRAM} {__version__}")
        ctx.exit()


def root() -> RootGroup:
    """Make the root command."""
    version = click.Option(
        ["--version"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=_show_version,
        help="Show the version",
    )
    return RootGroup(
        PROGRAM,
        help="Project memory as Markdown files in your own git repository.",
        params=[*shared_options(), version],
    )
