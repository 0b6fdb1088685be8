"""Run `recall` with parsed options and print its results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memory_bank import actions
from memory_bank.frontends.cli.call import FOUND, NOTHING, Call
from memory_bank.frontends.rendering import plain

if TYPE_CHECKING:
    from memory_bank.actions.explain_query import ReadQuery
    from memory_bank.actions.recall import Recalled, RecalledNote

_INDENT = "   "


def answer(
    call: Call,
    *,
    query: tuple[str, ...],
    kind: str | None,
    explain: bool,
    no_count: bool,
    **options: Any,  # noqa: ANN401  (named as the action's parameters)
) -> int:
    """Search the bank, print the results, and return the exit code."""
    text = " ".join(query)
    read = None
    with call.open() as bank:
        found = actions.recall.recall(bank, text, type=kind, count_access=not no_count, **options)
        if explain:
            dated = options["since"] is not None or options["before"] is not None
            read = actions.explain_query.read_query(bank, text, times=not dated)
    if call.json:
        call.document({**_fields(found), **({"read_as": read} if read else {})})
    else:
        _show(call, found, read)
    call.fallback(found.fallback_reason)
    call.warn(found.problem)
    call.notices(found.notices)
    if not found.notes and not call.json:
        call.remark("nothing found")
    return FOUND if found.notes else NOTHING


def _fields(answer: Recalled) -> dict[str, object]:
    shown = plain(answer)
    return shown if isinstance(shown, dict) else {}


def _show(call: Call, answer: Recalled, read: ReadQuery | None) -> None:
    if read is not None:
        call.console.line(("read as: ", "dim"), _read(read), ("; mode: ", "dim"), answer.mode_used)
    for rank, note in enumerate(answer.notes, 1):
        if rank > 1 or read is not None:
            call.console.line()
        _show_note(call, rank, note, explain=read is not None)


def _show_note(call: Call, rank: int, note: RecalledNote, *, explain: bool) -> None:
    console = call.console
    score = (f"{note.relevance_score:.2f}", "dim")
    console.line(
        f"{rank:<{len(_INDENT)}}", (call.place(note.path, note.line), "place"), "  ", score
    )
    console.line(_INDENT, (_headed(note.title, note.heading), "bold"))
    console.block(note.snippet, _INDENT)
    about = [note.type, *(f"#{tag}" for tag in note.tags), note.created_at[:10]]
    if note.edited_by:
        about.append(f"edited by {', '.join(note.edited_by)}")
    if note.status != "active":
        about.append(note.status)
    console.line(_INDENT, (" · ".join(filter(None, about)), "tag"))
    if note.superseded_by:
        console.line(_INDENT, (f"superseded by {call.place(note.superseded_by)}", "warn"))
    if explain:
        for reason in note.reasons:
            shown = f"{reason.source:<12}{reason.detail:<24}{reason.score:>6.2f}"
            console.line(_INDENT, ("why  ", "dim"), shown)
    for link in note.links or ():
        where = (call.place(link.source, link.line), "place")
        console.line(_INDENT, ("link ", "dim"), where, f"  {link.type}: {link.context}")
    for other in note.also:
        where = (call.place(note.path, other.line), "place")
        console.line(_INDENT, ("also ", "dim"), where, f"  {_headed('', other.heading)}")
        console.block(other.snippet, f"{_INDENT}     ", "dim")


def _headed(title: str, heading: str) -> str:
    """Return a note's title and the headings below it."""
    parts = heading.split(" > ") if heading else []
    if title and parts[:1] != [title]:
        parts.insert(0, title)
    return " › ".join(parts)


def _read(read: ReadQuery) -> str:
    parts = [f"words {read.words!r}"] if read.words else []
    parts += [f"phrase {phrase!r}" for phrase in read.phrases]
    parts += [f"without {word!r}" for word in read.without]
    return ", ".join([*parts, *read.conditions]) or "nothing to look for"
