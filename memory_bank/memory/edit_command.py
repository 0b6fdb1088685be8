"""Read or edit the text of a change of a note, for a person or an agent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memory_bank.bank.bank import Bank
from memory_bank.base.errors import Conflict, UnreadableNote
from memory_bank.base.rendering import hidden_again
from memory_bank.base.screen import Call
from memory_bank.memory import show

if TYPE_CHECKING:  # the verbs name these functions
    from memory_bank.memory.edit import WrittenNote


def appended(
    call: Call,
    bank: Bank,
    name: str,
    content: str | None = None,
    **given: Any,  # noqa: ANN401  (those of append)
) -> WrittenNote:
    """Read or edit the text; that the note can't be changed is told before."""
    from memory_bank.memory import edit as verb

    path = verb.check_writable(bank, name)
    with call.given_or_edited(content) as text:
        return verb.append(bank, path, text, **given)


def updated(
    call: Call,
    bank: Bank,
    name: str,
    content: str | None = None,
    *,
    if_match: str | None = None,
    agent: str | None = None,
) -> WrittenNote:
    """Read the text, or let a person edit that of the note."""
    from memory_bank.memory import edit as verb

    text = call.given(content)
    if text is not None:
        return verb.update(bank, name, text, if_match=if_match, agent=agent)
    note = show.show(bank, verb.check_writable(bank, name))
    with call.edited(note.path.rpartition("/")[2], note.body) as written:
        return verb.update(bank, note.path, written, if_match=if_match or note.etag, agent=agent)


def edited(
    call: Call,
    bank: Bank,
    name: str,
    new: str | None = None,
    *,
    old: str | None = None,
    section: str | None = None,
    count: int = 1,
    if_match: str | None = None,
    agent: str | None = None,
) -> WrittenNote:
    """Change a part of a note, or let a person edit the whole file."""
    from memory_bank.memory import edit as verb

    if old and section:
        raise call.usage_error("give --old or --section, not both")
    if (old or section) and new is None:
        raise call.usage_error("give the new text: --new TEXT, or --new - for stdin")
    if new is not None and not old and not section:
        raise call.usage_error("give the text that --new replaces: --old TEXT or --section HEADING")
    if count < 0 or (count != 1 and not old):
        raise call.usage_error("--count needs --old, and must not be negative")
    if new is None and not call.interactive:
        raise call.usage_error("an editor needs a terminal: give --old or --section, and --new")
    if new is None:
        return _in_editor(call, bank, name, if_match, agent)
    text = call.given(new) or ""
    return verb.edit(
        bank, name, text, old=old or "", section=section or "", count=count, if_match=if_match,
        agent=agent,
    )  # fmt: skip


def _in_editor(
    call: Call, bank: Bank, name: str, if_match: str | None, agent: str | None
) -> WrittenNote:
    """Let a person edit the whole file; it is replaced only if it did not change meanwhile."""
    from memory_bank.memory import edit as verb

    bank.settings.check_enabled()
    note = show.show(bank, verb.check_writable(bank, name))
    etag = if_match or note.etag
    if not note.writable:
        raise UnreadableNote(f"{note.path}: {note.faults[0].reason}", "convert the file to UTF-8")
    with call.edited(note.path.rpartition("/")[2], note.content) as written:
        try:
            return verb.write(
                bank, note.path, lambda _: written, if_match=etag, agent=agent, given=written
            )
        except Conflict as error:
            if if_match:
                raise
            raise Conflict(
                f"{call.place(note.path)} changed while it was open in your editor: nothing was"
                " overwritten",
                "compare it with the note, then edit the note again",
            ) from error


def updated_as_read(
    bank: Bank,
    name: str,
    content: str,
    **given: Any,  # noqa: ANN401  (those of update)
) -> WrittenNote:
    """Replace the text of a note as an agent read it."""
    from memory_bank.memory import edit as verb

    (content,) = _as_read(bank, name, content)
    return verb.update(bank, name, content, **given)


def edited_as_read(
    bank: Bank,
    name: str,
    new: str,
    *,
    old: str = "",
    section: str = "",
    **given: Any,  # noqa: ANN401  (those of edit)
) -> WrittenNote:
    """Replace a part of a note as an agent read it."""
    from memory_bank.memory import edit as verb

    new, old, section = _as_read(bank, name, new, old, section)
    return verb.edit(bank, name, new, old=old, section=section, **given)


def _as_read(bank: Bank, name: str, *texts: str) -> list[str]:
    """Return texts with the escapes in which agents read them changed back to characters."""
    if not any("\\" in text for text in texts):
        return list(texts)
    current = show.show(bank, name).content
    return [hidden_again(text, current) for text in texts]
