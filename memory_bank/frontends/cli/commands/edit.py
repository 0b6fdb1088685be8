"""`memory-bank edit`: change a part of a note, or all of it in an editor."""

from __future__ import annotations

from typing import Annotated

from memory_bank.base.operation import Agent, IfMatch, Note, Param, operation
from memory_bank.base.screen import Call
from memory_bank.frontends.cli import text_input
from memory_bank.frontends.cli.change_view import ask_whether_amended, show_written
from memory_bank.frontends.cli.note_editor import in_editor


@operation(
    "edit",
    why="""
    With --old and --new, replaces a text that occurs in the note once, or --count times (0: any
    number). With --section and --new, replaces the text under a heading, up to the next one.
    `--new -` reads the new text from stdin. All other bytes of the file stay the same.

    Without these options the note opens in $VISUAL or $EDITOR. If it changes before you save,
    nothing is overwritten: your text is kept in a file, which the error message names.
    """,
    examples=(
        ("memory-bank edit facts/port --old 8080 --new 8081", "one place"),
        ("memory-bank edit plans/q3 --section 'Plan > Risks' --new - < risks.md", "one section"),
        ("memory-bank edit decisions/tantivy", "in your editor"),
    ),
    group="Write",
    allow_secret=True,
)
def command(
    call: Call,
    *,
    name: Note,
    old: Annotated[str | None, Param("The text to replace", metavar="TEXT")] = None,
    section: Annotated[
        str | None, Param("Replace the text under this heading; A > B", metavar="HEADING")
    ] = None,
    new: Annotated[str | None, Param("The new text; - reads stdin", metavar="TEXT")] = None,
    count: Annotated[int | None, Param("How often --old occurs; default: 1", metavar="N")] = None,
    if_match: IfMatch = None,
    agent: Agent = None,
) -> int:
    """Change a part of a note, or open it in your editor."""
    from memory_bank.memory import edit

    _check(call, old, section, new, count)
    with call.open() as bank:
        if new is None:
            done = in_editor(call, bank, name, if_match, agent)
        else:
            done = edit.edit(
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
        ask_whether_amended(call, bank, done.path, done.may_amend)
    return 0


def _check(
    call: Call, old: str | None, section: str | None, new: str | None, count: int | None
) -> None:
    """Refuse wrong combinations of options."""
    if old is not None and section is not None:
        raise call.usage_error("give --old or --section, not both")
    if (old is not None or section is not None) and new is None:
        raise call.usage_error("give the new text: --new TEXT, or --new - for stdin")
    if new is not None and not old and not section:
        raise call.usage_error("give the text that --new replaces: --old TEXT or --section HEADING")
    if count is not None and (not old or count < 0):
        raise call.usage_error("--count needs --old, and must not be negative")
    if new is None and not text_input.interactive():
        raise call.usage_error("an editor needs a terminal: give --old or --section, and --new")
