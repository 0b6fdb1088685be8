"""`memory-bank merge-driver`: merge a note for git."""

from __future__ import annotations

from typing import Annotated

from memory_bank.base.operation import Param, operation
from memory_bank.base.screen import Call
from memory_bank.frontends import merge_driver


@operation(
    "merge-driver",
    why="""
    git runs this for each note that two branches changed, once `memory-bank git install` has
    named it as their merge driver. It merges BASE, OURS and THEIRS into OURS: front matter by
    key, tags and references as sets, the text by sections; of two texts at the same place, both
    are kept. PATH is the note's path, for messages. The exit code is 1 if conflicts are left.

    A file that can't be read as a note is merged as `git merge-file` does.
    """,
    examples=(("memory-bank git install", "let git run it"),),
    group="Review",
)
def command(
    call: Call,
    *,
    marker_size: Annotated[str, Param("Length of conflict markers [7]", metavar="N")] = "",
    ours: Annotated[str, Param("Our side in conflict markers", metavar="NAME")] = "",
    theirs: Annotated[str, Param("Their side in conflict markers", metavar="NAME")] = "",
    files: Annotated[tuple[str, ...], Param(argument=True, metavar="BASE OURS THEIRS [PATH]")],
) -> int:
    """Merge a note that two branches changed; git runs it."""
    del call
    options = [f"--marker-size={marker_size}", f"--ours={ours}", f"--theirs={theirs}"]
    return merge_driver.run([*options, "--", *files])
