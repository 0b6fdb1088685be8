"""Change the text or the status of a note: append, replace, edit, archive."""

from __future__ import annotations

from typing import Annotated, Any

from memory_bank.bank.bank import Bank
from memory_bank.bank.records import ShownNote
from memory_bank.base.errors import BadInput, Conflict, Hint, UnreadableNote
from memory_bank.base.operation import Agent, IfMatch, Note, Notes, Param, Text, Tool, operation
from memory_bank.base.rendering import hidden_again
from memory_bank.base.screen import Call
from memory_bank.base.view import write_view
from memory_bank.memory import show, views
from memory_bank.memory.change import (
    append_paragraph,
    check_writable,
    detect_newline,
    find_several,
    replace_in_text,
    replace_section,
    restore_line_ends,
    set_status,
    write,
)
from memory_bank.memory.concepts import conform_text
from memory_bank.memory.records import WrittenNote
from memory_bank.notes import front_matter
from memory_bank.notes.names import name_of
from memory_bank.sessions.redaction import hide_private


def _append_in_command(
    call: Call,
    bank: Bank,
    name: str,
    content: str | None = None,
    **options: Any,  # noqa: ANN401  (those of append)
) -> WrittenNote:
    """Read or edit the text, unless the note can't be changed."""
    path = check_writable(bank, name)
    with call.read_or_edit_text(content) as text:
        return append(bank, path, text, **options)


def _update_in_command(
    call: Call,
    bank: Bank,
    name: str,
    content: str | None = None,
    *,
    if_match: str | None = None,
    agent: str | None = None,
) -> WrittenNote:
    """Read the text, or let a person edit that of the note."""
    text = call.read_text(content)
    if text is not None:
        return update(bank, name, text, if_match=if_match, agent=agent)
    note = show.show(bank, check_writable(bank, name))
    with call.edit_text(note.path.rpartition("/")[2], note.body) as written:
        return update(bank, note.path, written, if_match=if_match or note.etag, agent=agent)


def _edit_in_command(
    call: Call,
    bank: Bank,
    name: str,
    new: str | None = None,
    *,
    content: Annotated[str | None, Param(argument=True, metavar="[TEXT]")] = None,
    at_end: Annotated[bool, Param("Add TEXT as a paragraph at the end", flags="--append")] = False,
    whole: Annotated[bool, Param("Replace the whole text by TEXT", flags="--replace")] = False,
    old: str | None = None,
    section: str | None = None,
    if_match: str | None = None,
    agent: str | None = None,
) -> WrittenNote:
    """Change a part of a note, or all of its text, or let a person edit the whole file."""
    if at_end or whole:
        if (at_end and whole) or old or section or new is not None:
            raise call.usage_error("give --append or --replace alone, with TEXT or a pipe")
        change = _append_in_command if at_end else _update_in_command
        return change(call, bank, name, content, if_match=if_match, agent=agent)
    if content is not None:
        raise call.usage_error("say what TEXT is for: --append or --replace")
    if old and section:
        raise call.usage_error("give --old or --section, not both")
    if (old or section) and new is None:
        raise call.usage_error("give the new text: --new TEXT, or --new - for stdin")
    if new is not None and not old and not section:
        raise call.usage_error("give the text that --new replaces: --old TEXT or --section HEADING")
    if new is None and not call.interactive:
        raise call.usage_error("an editor needs a terminal: give --old or --section, and --new")
    if new is None:
        return _edit_in_editor(call, bank, name, if_match, agent)
    text = call.read_text(new) or ""
    return edit(
        bank, name, text, old=old or "", section=section or "", if_match=if_match, agent=agent
    )


def _edit_in_editor(
    call: Call, bank: Bank, name: str, if_match: str | None, agent: str | None
) -> WrittenNote:
    """Let a person edit the whole file; it is replaced only if it did not change meanwhile."""
    note = show_to_edit(bank, name)
    etag = if_match or note.etag
    with call.edit_text(note.path.rpartition("/")[2], note.content) as edited:
        text = hide_private(edited)
        try:
            return write(
                bank, note.path, lambda _: text, if_match=etag, agent=agent, caller_text=text
            )
        except Conflict as error:
            if if_match:
                raise
            raise Conflict(
                f"{call.place(note.path)} changed while it was open in your editor: nothing was"
                " overwritten",
                "compare it with the note, then edit the note again",
            ) from error


def show_to_edit(bank: Bank, name: str) -> ShownNote:
    """Return a note of which the whole file is to be edited; raise UnreadableNote if it can't."""
    note = show.show(bank, check_writable(bank, name))
    if not note.writable:
        raise UnreadableNote(f"{note.path}: {note.faults[0].reason}", "convert the file to UTF-8")
    return note


def _update_as_read(
    bank: Bank,
    name: str,
    content: str,
    **options: Any,  # noqa: ANN401  (those of update)
) -> WrittenNote:
    """Replace the text of a note as an agent read it."""
    (content,) = _restore_characters(bank, name, content)
    return update(bank, name, content, **options)


def _edit_as_read(
    bank: Bank,
    name: str,
    new: str,
    *,
    old: str = "",
    section: str = "",
    **options: Any,  # noqa: ANN401  (those of edit)
) -> WrittenNote:
    """Replace a part of a note as an agent read it."""
    new, old, section = _restore_characters(bank, name, new, old, section)
    return edit(bank, name, new, old=old, section=section, **options)


def _restore_characters(bank: Bank, name: str, *texts: str) -> list[str]:
    """Return texts with the escapes in which agents read them changed back to characters."""
    if not any("\\" in text for text in texts):
        return list(texts)
    current = show.show(bank, name).content
    return [hidden_again(text, current) for text in texts]


@operation(
    "",
    view=views.view_written,
    tool=Tool(
        """Add to the end of a note; a new subject under its own heading. To change it,
        `edit_memory`.""",
        "bank",
        name="append_memory",
        takes={"filename": "name", "content": "content"},
    ),
)
def append(
    bank: Bank,
    name: Annotated[Note, Param(about="path, title or id of a note")],
    content: Text,
    *,
    if_match: IfMatch = None,
    agent: Agent = None,
) -> WrittenNote:
    """Add text at the end of a note.

    Append text to a note as a new paragraph.

    Raises NoteNotFound, Conflict if the note's etag is not `if_match`, BadInput if empty.
    """
    if not content.strip():
        raise BadInput("content must not be empty", Hint.GIVE_TEXT_TO_APPEND)
    content = hide_private(content)

    paragraph = conform_text(bank, bank.find(name, changing=True), content)
    return write(
        bank,
        name,
        lambda text: append_paragraph(text, paragraph),
        if_match=if_match,
        agent=agent,
        caller_text=content,
    )


@operation(
    "",
    view=views.view_written,
    tool=Tool(
        """Replace the text of a note; front matter stays unless content has some.
        For a part, `edit_memory`.""",
        "bank",
        name="update_memory",
        takes={"filename": "name", "content": "content", "if_match": "if_match"},
        destroys=True,
        repeatable=True,
        run=_update_as_read,
    ),
)
def update(
    bank: Bank, name: Note, content: Text, *, if_match: IfMatch = None, agent: Agent = None
) -> WrittenNote:
    """Replace the whole text of a note.

    Replace a note's whole text; its front matter stays if the content has none.

    Raises NoteNotFound, Conflict, BadInput if empty.
    """
    if not content.strip():
        raise BadInput("content must not be empty", Hint.DELETE_INSTEAD)
    content = hide_private(content)

    conformed = conform_text(bank, bank.find(name, changing=True), content)

    def replace(text: str) -> str:
        parts = front_matter.split(text)
        newline = detect_newline(text)
        plain = conformed.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n") + "\n"
        new = restore_line_ends(plain, text, newline)
        if front_matter.split(new).format != "none":
            return new
        gap = newline if parts.body.startswith(newline) and not new.startswith(newline) else ""
        return parts.opening + parts.block + parts.closing + gap + new

    return write(bank, name, replace, if_match=if_match, agent=agent, caller_text=content)


def ask_whether_amended(call: Call, note: WrittenNote, bank: Bank) -> None:
    """Say that a note may amend an older one; in a terminal, ask, and link them by the answer."""
    older = note.may_amend
    if older is None or call.json:
        return
    link = f"[[{name_of(older)}]]"
    if not (call.interactive and call.console.terminal):
        call.remark(f"may amend {call.place(older)}: if so, add `supersedes:: {link}`")
        return
    replaced = call.confirm(f"Does it replace {call.place(older)}?")
    line = f"- {'supersedes' if replaced else 'related_to'}:: {link}"
    amended = append(bank, note.path, line)
    write_view(call, amended, views.view_written(amended))


@operation(
    "edit",
    why="""
    With --old and --new, replaces a text that occurs in the note once. With --section and --new,
    replaces the text under a heading, up to the next one. `--new -` reads the new text from stdin.
    All other bytes of the file stay the same.

    --append adds TEXT as a new paragraph at the end; --replace replaces the whole text by it, but
    the front matter stays unless TEXT has its own. Without TEXT it is read from a pipe, or written
    in $VISUAL or $EDITOR; `-` always means stdin.

    Without these options the note opens in $VISUAL or $EDITOR. If it changes before you save,
    nothing is overwritten: your text is kept in a file, which the error message names.
    """,
    examples=(
        ("memory-bank edit facts/port --old 8080 --new 8081", "one place"),
        ("memory-bank edit plans/q3 --section 'Plan > Risks' --new - < risks.md", "one section"),
        ('memory-bank edit journal/2026-05 --append "Moved to tantivy 0.27."', "one line more"),
        ("memory-bank edit plans/index --replace < plan.md", "the whole text, from a file"),
        ("memory-bank edit decisions/tantivy", "in your editor"),
    ),
    group="Write",
    allow_secret=True,
    through=_edit_in_command,
    view=views.view_written,
    after=ask_whether_amended,
    tool=Tool(
        "Edit a part of a note: a text or a section. For all, `update_memory`.",
        "bank",
        name="edit_memory",
        takes={
            "filename": "name",
            "new": "new",
            "old": "old",
            "section": "section",
            "count": "count",
            "if_match": "if_match",
        },
        bare=("filename",),
        destroys=True,
        run=_edit_as_read,
    ),
)
def edit(
    bank: Bank,
    name: Annotated[Note, Param(about="path, title or id of a note")],
    new: Annotated[str, Param("The new text; - reads stdin", metavar="TEXT", asked=True)],
    *,
    old: Annotated[
        str, Param("The text to replace", metavar="TEXT", about="text to replace, or give section")
    ] = "",
    section: Annotated[
        str,
        Param(
            "Replace the text under this heading; A > B",
            metavar="HEADING",
            about="its heading; or A > B",
        ),
    ] = "",
    count: Annotated[int, Param(about="of old; 0 any")] = 1,
    if_match: IfMatch = None,
    agent: Agent = None,
) -> WrittenNote:
    """Change a part of a note, or open it in your editor.

    Replace a text, or the text under one heading, in a note.

    With `old`, each of its occurrences becomes `new`; there must be exactly `count` (0: any
    number). With `section`, the text under that heading, up to the next heading, becomes `new`;
    the heading may be given by its path, `A > B`. Raises NoteNotFound if there is no such text or
    heading, Conflict if the number of occurrences differs.
    """
    if bool(old) == bool(section):
        raise BadInput("give what to replace: a text or a section", Hint.GIVE_OLD_OR_SECTION)
    new = hide_private(new)

    content = conform_text(bank, bank.find(name, changing=True), new)

    def change(text: str) -> str:
        if old:
            return replace_in_text(text, old, content, count)
        return replace_section(text, section, content)

    return write(bank, name, change, if_match=if_match, agent=agent, caller_text=new)


@operation(
    "archive",
    why="""
    An archived note keeps its path and its links, but recall and notes exclude it unless
    --include-archived is given. Its front matter gets the line `status: archived`, or
    `archived: true` if it has a status already. --undo removes that line again.
    """,
    examples=(
        ("memory-bank archive plans/2024 plans/2025", "two old plans"),
        ("memory-bank archive --undo plans/2025", "make one active again"),
    ),
    group="Organise",
    view=views.view_archived,
)
def archive(
    bank: Bank, names: Notes, *, undo: Annotated[bool, Param("Make them active again")] = False
) -> list[WrittenNote]:
    """Exclude notes from results without deleting them."""
    status = "active" if undo else "archived"
    return [set_status(bank, path, status) for path in find_several(bank, names)]
