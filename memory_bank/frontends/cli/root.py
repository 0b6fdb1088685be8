"""The root command: finds subcommands by file name and imports only the one that runs."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from memory_bank.base import operation, plugins
from memory_bank.base.version import __version__
from memory_bank.frontends.cli.console import Console
from memory_bank.frontends.cli.derived import DerivedCommand
from memory_bank.frontends.cli.help import Group, Helped, Row
from memory_bank.frontends.cli.shared_options import shared_options

KIND = "frontends.cli.commands"

PROGRAM = "memory-bank"

_GROUPS = (
    "Start",
    "Write",
    "Find",
    "Code",
    "Review",
    "Organise",
    "Sessions",
    "Agents",
    "Share",
    "Look after",
)

_COLUMN, _NAMES = 12, 15

_WHY = """
A bank is a folder of Markdown files, `.memories/` in your project, kept in git with the code.
People write them in any editor; memory-bank finds them by words, by meaning and by links.
Everything else (indices, vectors, access counts) is derived from the files or private to this
machine.

Every command works in any folder of the project. Answers go to stdout, remarks and errors to
stderr; with --json both are JSON. Exit codes: 0 found or done, 1 nothing found, 2 wrong usage,
3 failed, 130 interrupted. Colours are used only on a terminal, and never with NO_COLOR.
"""

_EXAMPLES = (
    ("memory-bank init", "make a bank in this project"),
    ('memory-bank remember "We use tantivy: Whoosh is dead" --type decision', "write it down"),
    ("memory-bank recall why tantivy", "find it again"),
    ("memory-bank recall --help", "learn more about one command"),
)


class RootGroup(Group):
    """The group of all commands."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  (click's)
        """Return the names of the commands without importing them."""
        return [name.replace("_", "-") for name in plugins.names(KIND)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002  (click's)
        """Import one command."""
        if "_" in cmd_name or not plugins.has(KIND, cmd_name.replace("-", "_")):
            return None
        return _command(cmd_name)[0]

    def unknown_command(self, ctx: click.Context, args: Sequence[str]) -> str:
        """Return the error message, which names the command of another program's name."""
        from memory_bank.frontends.cli.other_names import suggested

        line = suggested(PROGRAM, args, self.list_commands(ctx))
        if line:
            return f"there is no command {args[0]!r}; type: {line}"
        return super().unknown_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands; the first of each group follows the group's name."""
        formatter.write("\n")
        for group, rows in self._grouped(ctx).items():
            for number, (name, summary) in enumerate(rows):
                head = group if not number else ""
                formatter.write(f"{head:<{_COLUMN}}{name:<{_NAMES}}{summary}\n")

    def _grouped(self, ctx: click.Context) -> dict[str, list[Row]]:
        found: dict[str, list[Row]] = {group: [] for group in _GROUPS}
        for name in self.list_commands(ctx):
            command, group = _command(name)
            found.setdefault(group, []).append((name, command.summary))
        return found


def _command(name: str) -> tuple[Helped, str]:
    """Import a command; return it with the name of its group in help."""
    plugins.load(KIND, name.replace("-", "_"))
    topic = operation.topics.get(name)
    if topic is None:
        return DerivedCommand(operation.declared[name]), operation.declared[name].group
    start = f"{name} "
    commands = {
        word.removeprefix(start): DerivedCommand(one)
        for word, one in operation.declared.items()
        if word.startswith(start)
    }
    made = Group(
        name,
        help=topic.summary,
        why=topic.why,
        examples=topic.examples,
        default=commands.get(topic.default.removeprefix(start)),
        commands=commands,
        params=shared_options() if topic.options else [],
    )
    return made, topic.group


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
        why=_WHY,
        examples=_EXAMPLES,
        params=[*shared_options(), version],
    )
