"""`memory-bank append`: add to a note."""

from __future__ import annotations

from memory_bank.base.operation import Agent, IfMatch, Note, Text, operation
from memory_bank.base.screen import Call
from memory_bank.frontends.cli import text_input
from memory_bank.frontends.cli.change_view import ask_whether_amended, show_written


@operation(
    "append",
    why="""
    Adds the text as a new paragraph at the end of the note; all other bytes stay the same. Without
    TEXT it is read from a pipe, or written in $VISUAL or $EDITOR; `-` always means stdin.
    """,
    examples=(
        ('memory-bank append journal/2026-05 "Moved to tantivy 0.27."', "one line"),
        ("make test 2>&1 | tail -3 | memory-bank append flaky-tests", "from a pipe"),
    ),
    group="Write",
    allow_secret=True,
)
def command(
    call: Call, *, name: Note, text: Text = None, if_match: IfMatch = None, agent: Agent = None
) -> int:
    """Add text at the end of a note."""
    from memory_bank.memory import edit

    with call.open() as bank:
        path = edit.check_writable(bank, name)
        with text_input.given_or_edited(text) as content:
            done = edit.append(bank, path, content, if_match=if_match, agent=agent)
        call.answer(done, lambda done: show_written(call, done))
        ask_whether_amended(call, bank, done.path, done.may_amend)
    return 0
