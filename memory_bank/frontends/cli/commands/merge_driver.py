"""`memory-bank merge-driver`: merge a note for git."""

from __future__ import annotations

import click

from memory_bank.frontends import merge_driver
from memory_bank.frontends.cli.call import Call
from memory_bank.frontends.cli.command import as_command

GROUP = "Review"


@as_command(
    "merge-driver",
    why="""
    git runs this for each note that two branches changed, once `memory-bank git install` has
    named it as their merge driver. It merges BASE, OURS and THEIRS into OURS: front matter by
    key, tags and references as sets, the text by sections; of two texts at the same place, both
    are kept. PATH is the note's path, for messages. The exit code is 1 if conflicts are left.

    A file that can't be read as a note is merged as `git merge-file` does.
    """,
    examples=(("memory-bank git install", "let git run it"),),
)
@click.option("--marker-size", metavar="N", default="", help="Length of conflict markers [7]")
@click.option("--ours", metavar="NAME", default="", help="Our side in conflict markers")
@click.option("--theirs", metavar="NAME", default="", help="Their side in conflict markers")
@click.argument("files", metavar="BASE OURS THEIRS [PATH]", nargs=-1, required=True)
def command(call: Call, *, files: tuple[str, ...], marker_size: str, ours: str, theirs: str) -> int:
    """Merge a note that two branches changed; git runs it."""
    del call
    options = [f"--marker-size={marker_size}", f"--ours={ours}", f"--theirs={theirs}"]
    return merge_driver.run([*options, "--", *files])
