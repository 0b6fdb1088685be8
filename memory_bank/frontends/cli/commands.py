"""The commands of other programs.

`__main__` answers `hook` and `merge-driver` without this module, which is for their help.
"""

from __future__ import annotations

from typing import Annotated

from memory_bank.base.operation import Param, operation
from memory_bank.base.screen import Call
from memory_bank.frontends import merge_driver


@operation(
    "hook",
    why="""
    Programs such as Claude Code start it for each event of a session, with the event as JSON on
    stdin. It stores prompts and the use of tools in this
    machine's private state, without secrets and without what stands in <private>…</private>, and
    adds what the project's memory knows to the start of a session and to a prompt.

    Exits with 0 whatever happens, so that it never stops an agent: `memory-bank doctor` says what
    failed. Without a bank, or where the settings memory.enabled or sessions.capture are false, it
    does nothing.
    """,
    examples=(("memory-bank hook claude-code Stop < event.json", "answer one event"),),
)
def hook(
    call: Call,  # noqa: ARG001  (a hook prints for itself)
    *,
    client: Annotated[str, Param(argument=True)],
    event: Annotated[str, Param(argument=True)] = "",
) -> int:
    """Answer one event of an agent's program."""
    from memory_bank.agents.hook import run  # start-up: help loads each command

    return run([client, event])


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
)
def merge(
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
