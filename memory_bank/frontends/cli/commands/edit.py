"""`memory-bank edit`: change a part of a note, or all of it in an editor."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from memory_bank import actions
from memory_bank.errors import UnreadableNote
from memory_bank.frontends.cli import options, text_input
from memory_bank.frontends.cli.call import Call
from memory_bank.frontends.cli.change_view import show_written
from memory_bank.frontends.cli.command import as_command

if TYPE_CHECKING:
    from memory_bank.actions.edit import Written
    from memory_bank.bank import Bank

GROUP = "Write"


@as_command(
    "edit",
    why="""
    With --old and --new, replaces a text that is in the note once, or --count times (0: however
    often). With --section and --new, replaces what stands under a heading, up to the next one.
    `--new -` reads the new text from stdin. All other bytes of the file stay.

    Without these options the note opens in $VISUAL or $EDITOR. Should somebody else change it
    meanwhile, nothing is overwritten: your text is kept in a file, and you are told where.
    """,
    examples=(
        ("memory-bank edit facts/port --old 8080 --new 8081", "one place"),
        ("memory-bank edit plans/q3 --section 'Plan > Risks' --new - < risks.md", "one section"),
        ("memory-bank edit decisions/tantivy", "in your editor"),
    ),
)
@options.note()
@click.option("--old", metavar="TEXT", help="What to replace")
@click.option("--section", metavar="HEADING", help="Replace what stands under this heading; A > B")
@click.option("--new", metavar="TEXT", help="What to put there; - reads stdin")
@click.option("--count", metavar="N", type=int, help="How often --old is there (1)")
@options.if_match
@options.allow_secret
@options.agent
def command(
    call: Call,
    *,
    name: str,
    old: str | None,
    section: str | None,
    new: str | None,
    count: int | None,
    if_match: str | None,
    agent: str | None,
) -> int:
    """Change a part of a note, or open it in your editor."""
    _check(call, old, section, new, count)
    with call.open() as bank:
        if new is None:
            done = _in_editor(bank, name, if_match, agent)
        else:
            done = actions.edit.edit(
                bank,
                name,
                text_input.given(new) or "",
                old=old or "",
                section=section or "",
                count=1 if count is None else count,
                if_match=if_match,
                agent=agent,
            )
    call.answer(done, lambda done: show_written(call, done))
    return 0


def _check(
    call: Call, old: str | None, section: str | None, new: str | None, count: int | None
) -> None:
    """Refuse options that don't go together."""
    if old is not None and section is not None:
        raise call.wrong("give --old or --section, not both")
    if (old is not None or section is not None) and new is None:
        raise call.wrong("say what to put there: --new TEXT, or --new - for stdin")
    if new is not None and not old and not section:
        raise call.wrong("say what --new replaces: --old TEXT or --section HEADING")
    if count is not None and (not old or count < 0):
        raise call.wrong("--count goes with --old and is not below 0")
    if new is None and not text_input.interactive():
        raise call.wrong("an editor needs a terminal: give --old or --section, and --new")


def _in_editor(bank: Bank, name: str, if_match: str | None, agent: str | None) -> Written:
    """Let the user edit the whole file; what was read is what may be replaced."""
    bank.settings.check_enabled()
    note = actions.listing.show(bank, name)
    etag = if_match or note.etag
    if not note.writable:
        raise UnreadableNote(f"{note.path}: {note.faults[0].reason}", "convert the file to UTF-8")
    with text_input.editing(note.path.rpartition("/")[2], note.content) as (written, _):
        return actions.edit.write(
            bank, note.path, lambda _: written, if_match=etag, agent=agent, given=written
        )
