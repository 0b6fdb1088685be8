"""`memory-bank update`: replace what a note says."""

from __future__ import annotations

from memory_bank.frontends.cli import _options as options
from memory_bank.frontends.cli import _text
from memory_bank.frontends.cli._call import Call
from memory_bank.frontends.cli._command import as_command
from memory_bank.frontends.cli._written import show_written

GROUP = "Write"


@as_command(
    "update",
    why="""
    Replaces the whole text; the front matter stays unless the new text brings its own. Without
    TEXT it is read from a pipe, or you edit the present text in $VISUAL or $EDITOR. To change a
    part of a note, use edit.
    """,
    examples=(
        ("memory-bank update plans/index < plan.md", "from a file"),
        ('memory-bank update facts/port "The port is 8080." --if-match 987fdff…', "safely"),
    ),
)
@options.note()
@options.text()
@options.if_match
@options.allow_secret
@options.agent
def command(
    call: Call, *, name: str, text: str | None, if_match: str | None, agent: str | None
) -> int:
    """Replace the whole text of a note."""
    from memory_bank.actions.listing import show
    from memory_bank.actions.writing import update

    with call.open() as bank:
        content = _text.given(text)
        if content is not None:
            done = update(bank, name, content, if_match=if_match, agent=agent)
        else:
            note = show(bank, name)
            with _text.editing(note.path.rpartition("/")[2], note.body) as (written, _):
                done = update(bank, note.path, written, if_match=if_match or note.etag, agent=agent)
    call.answer(done, lambda done: show_written(call, done))
    return 0
