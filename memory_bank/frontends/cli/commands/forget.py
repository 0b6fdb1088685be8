"""`memory-bank forget`: remove a text, a note, an observation or a session everywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import click

from memory_bank.base.errors import BadInput
from memory_bank.base.operation import Param, operation
from memory_bank.base.rendering import count
from memory_bank.base.screen import FOUND, NOTHING, Call
from memory_bank.frontends.cli.text_input import given, interactive

if TYPE_CHECKING:
    from memory_bank.bank.bank import Bank
    from memory_bank.memory.forgetting.forgotten import Forgotten


@operation(
    "forget",
    why="""
    Removes something for good from notes, trash, queue, logs and index on this machine; nothing
    brings it back. A text is replaced by `[forgotten]` wherever it stands; case counts. The id of
    an observation or a session, and the id or path of a note, remove that. The answer ends with
    what is beyond its reach, such as git's history. A session is not imported again.
    """,
    examples=(
        ("memory-bank forget 'Jane Doe' --dry-run", "show where the text is"),
        ("memory-bank forget obs-1a2b3c4d5e6f", "remove one observation"),
        ("memory-bank forget - --yes < text", "keep the text out of the shell's history"),
    ),
    group="Sessions",
)
def command(
    call: Call,
    *,
    what: Annotated[str, Param(argument=True, metavar="TEXT|ID")],
    as_text: Annotated[
        bool, Param("It is a text, even if it is also an id", flags="--text")
    ] = False,
    dry_run: Annotated[bool, Param("Show where it is; change nothing")] = False,
    yes: Annotated[bool, Param("Forget without asking")] = False,
) -> int:
    """Remove a text, a note or a session for good."""
    wanted = (given(what) or "").strip()
    with call.open() as bank:
        if dry_run or yes:
            done = _forget(bank, wanted, as_text=as_text, dry_run=dry_run)
        else:
            done = _forget(bank, wanted, as_text=as_text, dry_run=True)
            if _agreed(call, done):
                done = _forget(bank, wanted, as_text=as_text, dry_run=False)
            else:
                call.remark("nothing was changed")
                return FOUND
        call.answer(done, lambda one: _show(call, one))
    return FOUND if done.count else NOTHING


def _forget(bank: Bank, what: str, *, as_text: bool, dry_run: bool) -> Forgotten:
    from memory_bank.memory.forgetting import forget

    return forget.forget(bank, what, as_text=as_text, dry_run=dry_run)


def _agreed(call: Call, found: Forgotten) -> bool:
    if call.json or not interactive():
        raise BadInput(
            f"{_described(found)} would be removed for good, but confirmation needs a terminal",
            "add --yes to forget without a question, or --dry-run to see where it is",
        )
    _show_places(call, found)
    call.console.flush()
    call.stderr.flush()
    return click.confirm(f"Remove {_described(found)} for good?", err=True)


def _described(found: Forgotten) -> str:
    """Return what is forgotten, without quoting it."""
    places = sum(one.kind != "index" for one in found.places)
    return f"the {found.kind} ({count(found.count, 'occurrence')} in {count(places, 'place')})"


def _show(call: Call, found: Forgotten) -> None:
    if found.done:
        call.console.line(f"forgot {_described(found)}")
    else:
        call.console.line(f"found {_described(found)}; nothing was changed")
    _show_places(call, found)
    call.console.line("beyond reach:")
    for one in found.beyond:
        call.console.line("  ", (one.place, "place"), f": {one.reason}")


def _show_places(call: Call, found: Forgotten) -> None:
    for one in found.places:
        is_path = one.kind in ("note", "trash") and not one.place.startswith("/")
        shown = call.place(one.place) if is_path else one.place
        number = "" if one.kind == "index" else f" {one.count}"
        call.console.line(f"  {one.action}{number}: ", (shown, "place"), f" ({one.kind})")
