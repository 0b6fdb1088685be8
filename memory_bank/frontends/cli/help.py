"""Two lengths of help: `-h` fits one screen, `--help` adds reasons and examples."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from inspect import cleandoc
from textwrap import fill, indent
from typing import Any

import click

from memory_bank.base.errors import did_you_mean, similar_names
from memory_bank.frontends.cli import overview
from memory_bank.frontends.cli.console import Console

Example = tuple[str, str]
"""A command line, and what it is for."""

Row = tuple[str, str]

_LONG = "memory_bank.long_help"

_INDENT = 2
"""Columns before an example."""

_NAMES = 26
"""Columns of the longest option name that has its help on the same line."""


class HelpCommand(click.Command):
    """A command with short and long help; `why` and `examples` are in the long one."""

    def __init__(
        self,
        name: str | None,
        *,
        why: str = "",
        examples: Sequence[Example] = (),
        **settings: Any,  # noqa: ANN401  (click's)
    ) -> None:
        """Take the arguments of a click command, and the texts of the long help."""
        super().__init__(name, add_help_option=False, **settings)
        self.why = cleandoc(why)
        self.examples = examples
        self.params += [_make_help_option("-h", long=False), _make_help_option("--help", long=True)]

    @property
    def summary(self) -> str:
        """One line that says what the command does."""
        return (self.help or "").partition("\n")[0].rstrip(".")

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write usage, summary and options; reasons and examples in the long form."""
        long = is_long(ctx)
        self.format_usage(ctx, formatter)
        formatter.write_paragraph()
        formatter.write_text(self.summary + ".")
        if long and self.why:
            for paragraph in self.why.split("\n\n"):
                formatter.write(f"\n{_fill_paragraph(paragraph, formatter.width)}\n")
        self.format_commands(ctx, formatter)
        _write_section(formatter, "Options", self.list_options(ctx))
        if long:
            self.format_examples(formatter)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the subcommands of a group; a plain command has none."""

    def format_examples(self, formatter: click.HelpFormatter) -> None:
        """Write the examples: a comment, then the command line."""
        for number, (line, text) in enumerate(self.examples):
            formatter.write("\nExamples:\n" if not number else "")
            formatter.write(f"  # {text}\n  {line}\n")

    def list_options(self, ctx: click.Context) -> list[Row]:
        """Return the options with their help; `-h` and `--help` share the last row."""
        options = [param for param in self.get_params(ctx) if isinstance(param, click.Option)]
        records = [option.get_help_record(ctx) for option in options]
        rows = [row for row in records if row is not None and row[0] not in {"-h", "--help"}]
        return [*rows, ("-h, --help", "Show short help; --help adds details and examples")]


class Group(HelpCommand, click.Group):
    """A command with subcommands; without one it prints its help and fails."""

    def __init__(
        self,
        name: str,
        *,
        default: str = "",
        **settings: Any,  # noqa: ANN401  (click's)
    ) -> None:
        """Take the arguments of a click group, and the texts of the long help.

        Without a subcommand, `default` runs if there is one.
        """
        self._default = default
        super().__init__(
            name,
            **settings,
            callback=click.pass_context(self._bare),
            invoke_without_command=True,
            subcommand_metavar="COMMAND [ARGS]...",
        )

    def _bare(self, ctx: click.Context) -> Any:  # noqa: ANN401  (an exit code)
        if ctx.invoked_subcommand is not None:
            return None
        if self._default and (command := self.get_command(ctx, self._default)):
            return ctx.invoke(command)
        print_help(ctx, Console(sys.stderr))
        return ctx.exit(2)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; the error for an unknown one suggests similar names."""
        name = args[0]
        if self.get_command(ctx, name) is None and not ctx.resilient_parsing:
            raise click.UsageError(self.unknown_command(ctx, args), ctx)
        return super().resolve_command(ctx, args)

    def unknown_command(self, ctx: click.Context, args: Sequence[str]) -> str:
        """Return the error message for a command line that starts with an unknown name."""
        similar = similar_names(args[0], self.list_commands(ctx), least=0.5)
        return f"there is no command {args[0]!r}{did_you_mean(map(repr, similar))}"

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write one line for each command."""
        _write_section(formatter, "Commands", self.list_summaries(ctx))

    def list_summaries(self, ctx: click.Context) -> list[Row]:
        """Return a row for each command: its name and what it does."""
        commands = ((name, self.get_command(ctx, name)) for name in self.list_commands(ctx))
        return [
            (name, command.summary)
            for name, command in commands
            if isinstance(command, HelpCommand)
        ]


def _fill_paragraph(text: str, width: int) -> str:
    """Wrap a paragraph, but never inside the name of an option; a marked block stays as it is."""
    if text.startswith("\b\n"):
        return indent(text[2:], " " * _INDENT)
    return fill(" ".join(text.split()), width, break_on_hyphens=False)


def _write_section(formatter: click.HelpFormatter, heading: str, rows: Sequence[Row]) -> None:
    formatter.write(f"\n{heading}:\n")
    formatter.current_indent += _INDENT
    formatter.write_dl(rows, col_max=_NAMES)
    formatter.current_indent -= _INDENT


def _make_help_option(name: str, *, long: bool) -> click.Option:
    def show(ctx: click.Context, _: click.Parameter, is_given: bool) -> None:  # noqa: FBT001  (click's)
        if is_given and not ctx.resilient_parsing:
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


def is_long(ctx: click.Context) -> bool:
    """Return whether the long help was asked for."""
    return bool(ctx.meta.get(_LONG))


def print_help(ctx: click.Context, console: Console) -> None:
    """Print a command's help, with bold headings on a terminal."""
    ctx.terminal_width = overview.help_width(console)
    overview.show(ctx.get_help(), console)
