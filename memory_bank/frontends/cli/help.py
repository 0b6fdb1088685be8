"""Two lengths of help: `-h` fits one screen, `--help` adds reasons and examples."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from difflib import get_close_matches
from inspect import cleandoc
from textwrap import fill
from typing import Any

import click

from memory_bank.frontends.cli.console import Console

Example = tuple[str, str]
"""A command line, and what it is for."""
Row = tuple[str, str]

_LONG = "memory_bank.long_help"
_INDENT = 2
_NARROWEST, _WIDEST = 50, 80
_NAMES = 26
"""Columns that names of options take at most before their help moves to the next line."""


class Helped(click.Command):
    """A command with both helps; `why` and `examples` are for the long one."""

    def __init__(
        self,
        name: str | None,
        *,
        why: str = "",
        examples: Sequence[Example] = (),
        **settings: Any,  # noqa: ANN401  (click's)
    ) -> None:
        """Take what a click command takes, and what only the long help tells."""
        super().__init__(name, add_help_option=False, **settings)
        self.why = cleandoc(why)
        self.examples = examples
        self.params += [_help_option("-h", long=False), _help_option("--help", long=True)]

    @property
    def summary(self) -> str:
        """The one line that says what the command does."""
        return (self.help or "").partition("\n")[0].rstrip(".")

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write usage, what it does and the options; in the long form more."""
        long = bool(ctx.meta.get(_LONG))
        self.format_usage(ctx, formatter)
        formatter.write_paragraph()
        formatter.write_text(self.summary + ".")
        if long and self.why:
            for paragraph in self.why.split("\n\n"):
                formatter.write(f"\n{_filled(paragraph, formatter.width)}\n")
        self.format_commands(ctx, formatter)
        _section(formatter, "Options", self.option_rows(ctx))
        if long:
            self.format_examples(formatter)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands of a group; a plain command has none."""

    def format_examples(self, formatter: click.HelpFormatter) -> None:
        """Write the examples: what for, then the command line."""
        for number, (line, what) in enumerate(self.examples):
            formatter.write("\nExamples:\n" if not number else "")
            formatter.write(f"  # {what}\n  {line}\n")

    def option_rows(self, ctx: click.Context) -> list[Row]:
        """Return the options with their help, both helps in one row at the end."""
        options = [param for param in self.get_params(ctx) if isinstance(param, click.Option)]
        records = [option.get_help_record(ctx) for option in options]
        rows = [row for row in records if row is not None and row[0] not in {"-h", "--help"}]
        return [*rows, ("-h, --help", "Short help; --help tells more, with examples")]


class Command(Helped):
    """A command of the command line."""


class Group(Helped, click.Group):
    """A command with commands of its own; called without one, it shows its help and fails."""

    def __init__(self, name: str, **settings: Any) -> None:  # noqa: ANN401  (click's)
        """Take what a click group takes, and what only the long help tells."""
        super().__init__(
            name,
            **settings,
            callback=click.pass_context(_bare),
            invoke_without_command=True,
            subcommand_metavar="COMMAND [ARGS]...",
        )

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or say which one may have been meant."""
        name = args[0]
        if self.get_command(ctx, name) is None and not ctx.resilient_parsing:
            raise click.UsageError(no_such("command", name, self.list_commands(ctx)), ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write one line a command."""
        rows = []
        for name in self.list_commands(ctx):
            command = self.get_command(ctx, name)
            if isinstance(command, Helped):
                rows.append((name, command.summary))
        _section(formatter, "Commands", rows)


def no_such(what: str, name: str, known: Sequence[str]) -> str:
    """Say that there is no such thing, and name near ones."""
    near = " or ".join(repr(word) for word in get_close_matches(name, known, cutoff=0.5))
    return f"there is no {what} {name!r}" + (f"; did you mean {near}?" if near else "")


def _bare(ctx: click.Context) -> None:
    if ctx.invoked_subcommand is None:
        print_help(ctx, Console(sys.stderr))
        ctx.exit(2)


def _filled(text: str, width: int) -> str:
    """Fold a paragraph, but never inside the name of an option."""
    return fill(" ".join(text.split()), width, break_on_hyphens=False)


def _section(formatter: click.HelpFormatter, heading: str, rows: Sequence[Row]) -> None:
    formatter.write(f"\n{heading}:\n")
    formatter.current_indent += _INDENT
    formatter.write_dl(rows, col_max=_NAMES)
    formatter.current_indent -= _INDENT


def _help_option(name: str, *, long: bool) -> click.Option:
    def show(ctx: click.Context, _: click.Parameter, asked: bool) -> None:  # noqa: FBT001  (click's)
        if asked and not ctx.resilient_parsing:
            ctx.meta[_LONG] = long
            print_help(ctx, Console(sys.stdout))
            ctx.exit()

    return click.Option(
        [name, f"_{'long' if long else 'short'}_help"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=show,
        help="Show help",
    )


def print_help(ctx: click.Context, page: Console) -> None:
    """Print a command's help, its headings bold in a terminal."""
    ctx.terminal_width = max(_NARROWEST, min(page.columns, _WIDEST))
    for line in ctx.get_help().splitlines():
        heading, colon, rest = line.partition(":")
        if colon and not rest and not line.startswith(" "):
            page.line((line, "bold"))
        elif heading == "Usage":
            page.line((f"{heading}:", "bold"), rest)
        else:
            page.line(line)
