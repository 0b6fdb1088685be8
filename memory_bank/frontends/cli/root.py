"""The root command: imports only the subcommand that runs; without one it shows the bank.

A line is run with click, whose errors become ours.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import click
from click.exceptions import Exit
from click.shell_completion import shell_complete

from memory_bank.base import __version__, lazy_pattern, shorten
from memory_bank.base.errors import MemoryBankError, NoBank
from memory_bank.base.rendering import count
from memory_bank.base.screen import BadUsage
from memory_bank.frontends import declared
from memory_bank.frontends.cli import derived, overview
from memory_bank.frontends.cli.console import Console
from memory_bank.frontends.cli.derived import RIGHTS, DerivedCommand, named_bank, shared_options
from memory_bank.frontends.cli.help import Group, HelpCommand
from memory_bank.frontends.cli.overview import COMPLETE, PROGRAM

if TYPE_CHECKING:
    from memory_bank.bank.bank import Bank
    from memory_bank.base.operation import Topic


class RootGroup(Group):
    """The group of all commands."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  (click's)
        """Return the names of the commands that people type, without importing them."""
        return [name for name, _, _ in declared.list_commands()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002  (click's)
        """Make one command, without importing its operation."""
        return _make_command(cmd_name) if cmd_name in declared.list_words() else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, also by another tool's word or a former name."""
        return super().resolve_command(ctx, derived.translate_command(args, declared.list_words()))

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002  (click's)
        """Write the list of commands."""
        formatter.write(overview.text(formatter.width, long=False))

    def _bare(self, ctx: click.Context) -> Any:  # noqa: ANN401  (an exit code)
        if ctx.invoked_subcommand is None and _show_bank(named_bank(ctx), Console(sys.stdout)):
            return 0
        return super()._bare(ctx)


class TopicGroup(Group):
    """A first word of several commands; the module of the one that runs is imported only."""

    def __init__(self, topic: Topic) -> None:
        """Take what the topic declares."""
        self._summaries = declared.list_subcommands(topic.name)
        super().__init__(
            topic.name,
            help=topic.summary,
            why=topic.why,
            examples=topic.examples,
            default=topic.default.removeprefix(f"{topic.name} "),
            params=shared_options() if topic.options else [],
        )

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  (click's)
        """Return the second words."""
        return sorted(self._summaries)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002  (click's)
        """Make one command."""
        if cmd_name not in self._summaries:
            return None
        return DerivedCommand(declared.load(f"{self.name} {cmd_name}"))

    def list_summaries(self, ctx: click.Context) -> list[tuple[str, str]]:
        """Return a row for each command, of which none is imported."""
        return [(name, self._summaries[name]) for name in self.list_commands(ctx)]


def _make_command(name: str) -> HelpCommand:
    topic = declared.find_topic(name)
    return DerivedCommand(declared.load(name)) if topic is None else TopicGroup(topic)


def _show_version(ctx: click.Context, _: click.Parameter, is_asked: bool) -> None:  # noqa: FBT001
    if is_asked and not ctx.resilient_parsing:
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


_SHOWN = 3
"""Changed notes that the bare command lists."""

_COMMANDS = (
    ("Ask", f'{PROGRAM} recall "why is it like this?"'),
    ("Write", f'{PROGRAM} remember "what was learned" --type fact'),
    ("Read", f"{PROGRAM} serve web --open"),
    ("Help", f"{PROGRAM} --help"),
)


def _show_bank(path: str | None, console: Console) -> bool:
    """Print the state of a bank; return False if there is none and no folder was named."""
    from memory_bank.bank.bank import open_bank

    try:
        with open_bank(path) as bank:
            _show_overview(bank, console)
    except NoBank:
        if path:
            raise
        return False
    return True


def _show_overview(bank: Bank, console: Console) -> None:
    from memory_bank.memory import overview

    home, counts = overview.read_home(bank), overview.stats(bank)
    console.line(
        (bank.layout.project.name, "bold"),
        (f"  {count(home.notes, 'note')} in {bank.layout.root.name}", "dim"),
    )
    if home.lately.changes:
        console.line("")
        console.line(("Changed this week", "bold"))
    for change in home.lately.changes[:_SHOWN]:
        day, title = change.changed_at[:10], change.title
        room = max(console.columns - len(day) - 4, 10)
        title = shorten(title, room)
        console.line(f"  {title:<{room}}  ", (day, "dim"))
    if home.lately.total > _SHOWN:
        more = home.lately.total - _SHOWN
        console.line((f"  {more:,} more: {PROGRAM} notes --since 7d", "dim"))
    broken = [
        count(number, word)
        for number, word in (
            (counts.broken_links, "broken link"),
            (counts.unindexed, "file that is not indexed"),
        )
        if number
    ]
    if broken:
        console.line("")
        console.line(("Needs attention", "bold"))
        console.line("  ! ", ", ".join(broken), (f"  {PROGRAM} doctor", "path"))
    console.line("")
    for name, command in _COMMANDS:
        console.line((f"{name:<8}", "dim"), (command, "path"))


class ClickFailed(MemoryBankError):
    """An error of click other than wrong usage."""


def run_line(args: list[str]) -> int:
    """Run a command line and return its exit code.

    Raises BadUsage for wrong options, Failed, KeyboardInterrupt.
    """
    if COMPLETE in os.environ:
        return shell_complete(root(), {}, PROGRAM, COMPLETE, os.environ[COMPLETE])
    try:
        with root().make_context(PROGRAM, list(args)) as ctx:
            code = ctx.command.invoke(ctx)
    except Exit as error:
        return error.exit_code
    except click.Abort as error:
        raise KeyboardInterrupt from error
    except click.UsageError as error:
        path = error.ctx.command_path if error.ctx else PROGRAM
        if isinstance(error, click.NoSuchOption):
            similar = [name for name in error.possibilities or () if name not in RIGHTS]
            error = click.NoSuchOption(error.option_name, possibilities=similar, ctx=error.ctx)
        message = " ".join(error.format_message().split())  # click lists choices in lines
        message = message[:1].lower() + message[1:].rstrip(".")
        hint = f"see `{path} -h`"
        if isinstance(error, click.NoSuchOption) and any(map(_is_dashed_text, args)):
            hint = "write `--` before a text that starts with '-'"
        if choices := _CHOICES.search(message):
            names = choices[1].replace("'", "")
            message, hint = message[: choices.start()], f"choose one of: {names}"
        raise BadUsage(message, hint) from error
    except click.ClickException as error:
        raise ClickFailed(error.format_message()) from error
    return code if isinstance(code, int) else 0


_CHOICES = lazy_pattern(r"(?s) is not (?:one of )?('.+)\Z")


def _is_dashed_text(argument: str) -> bool:
    """Return whether an argument is a text, such as a list item, that click takes for an option."""
    return argument.startswith("-") and len(argument.split()) > 1
