"""`memory-bank init`: create a bank."""

from __future__ import annotations

import shlex

import click

from memory_bank import actions
from memory_bank.frontends.cli.call import Call
from memory_bank.frontends.cli.command import as_command
from memory_bank.frontends.cli.console import place

GROUP = "Start"


@as_command(
    "init",
    why="""
    Creates `.memories/` with a settings file, in which every line is a comment, and a `.gitignore`
    for derived and private files. Both belong in git. Existing files are not changed.

    With --user the bank is created in your own data folder instead: for notes that belong to no
    project, or to a project whose repository you can't change. Use it with --bank.
    """,
    examples=(
        ("memory-bank init", "in the working directory"),
        ("memory-bank init ~/work/shop", "in another project"),
        ("memory-bank init --user recipes", "a bank of your own"),
    ),
)
@click.argument("folder", required=False, metavar="[DIR]", type=click.Path(file_okay=False))
@click.option("--user", metavar="NAME", default="", help="Create a bank of your own, of this name")
def command(call: Call, *, folder: str | None, user: str) -> int:
    """Create a bank in a project, or one of your own."""
    if user and folder:
        raise call.usage_error("give a folder or --user NAME, not both")

    def render(made: actions.setup.Made) -> None:
        shown = place(made.bank)
        verb = "created" if made.created else "already exists:"
        call.console.line(f"{verb} ", (shown, "place"))
        for file in made.created:
            call.console.line("  ", (place(file), "place"))
        at = f"--bank {shlex.quote(shown)} " if user or folder else ""
        call.console.line(
            "next: ", (f'memory-bank {at}remember "what should be known later"', "bold")
        )

    call.answer(actions.setup.init(folder, user=user), render)
    return 0
