"""`memory-bank promote`: make a tracked note of an observation or a summary."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from memory_bank.base.operation import Param, operation
from memory_bank.base.screen import Call

if TYPE_CHECKING:
    from memory_bank.memory.confirm import Promoted


@operation(
    "promote",
    why="""
    Sessions stay on this machine. This makes a note of one observation that others should know, in
    the folder of its type, with its facts, concepts as tags and files; both are linked. The summary
    of a session can become a note, too. What was promoted before is not promoted again.
    """,
    examples=(
        ("memory-bank promote obs-1a2b3c4d5e6f", "as a note of the observation's type"),
        ("memory-bank promote obs-1a2b3c4d5e6f --type decision", "as a decision"),
        ("memory-bank promote sum-1a2b3c4d5e6f", "the summary of a session"),
    ),
    group="Sessions",
)
def command(
    call: Call,
    *,
    observation_id: Annotated[str, Param(argument=True, metavar="ID")],
    kind: Annotated[str, Param("The type of the note", flags="--type", metavar="TYPE")] = "",
    name: Annotated[str, Param("The path of the note", metavar="PATH")] = "",
) -> int:
    """Make a tracked note of an observation or a summary."""
    from memory_bank.memory import confirm

    def render(done: Promoted) -> None:
        what = "created" if done.action == "created" else "was promoted before:"
        call.console.line(f"{what} {call.place(done.path)}")

    with call.open() as bank:
        call.answer(confirm.promote(bank, observation_id, type=kind, name=name), render)
    return 0
