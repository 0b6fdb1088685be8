"""`memory-bank update`: replace the text of a note."""

from __future__ import annotations

from memory_bank.base.operation import Agent, IfMatch, Note, Text, operation
from memory_bank.base.screen import Call
from memory_bank.frontends.cli import text_input
from memory_bank.frontends.cli.change_view import ask_whether_amended, show_written


@operation(
    "update",
    why="""
    Replaces the whole text; the front matter stays unless the new text has its own. Without TEXT
    it is read from a pipe, or you edit the current text in $VISUAL or $EDITOR. To change a part
    of a note, use edit.
    """,
    examples=(
        ("memory-bank update plans/index < plan.md", "from a file"),
        ('memory-bank update facts/port "The port is 8080." --if-match 987fdff…', "if unchanged"),
    ),
    group="Write",
    allow_secret=True,
)
def command(
    call: Call, *, name: Note, text: Text = None, if_match: IfMatch = None, agent: Agent = None
) -> int:
    """Replace the whole text of a note."""
    from memory_bank.memory import edit, show

    with call.open() as bank:
        content = text_input.given(text)
        if content is not None:
            done = edit.update(bank, name, content, if_match=if_match, agent=agent)
        else:
            note = show.show(bank, edit.check_writable(bank, name))
            with text_input.editing(note.path.rpartition("/")[2], note.body) as written:
                done = edit.update(
                    bank, note.path, written, if_match=if_match or note.etag, agent=agent
                )
        call.answer(done, lambda done: show_written(call, done))
        ask_whether_amended(call, bank, done.path, done.may_amend)
    return 0
