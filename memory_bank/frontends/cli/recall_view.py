"""Run `recall` with parsed options and print its results."""

from __future__ import annotations

from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import click

from memory_bank.base.rendering import plain
from memory_bank.base.screen import FOUND, NOTHING, Call
from memory_bank.base.setting_sections import BANK, Search
from memory_bank.frontends.cli import hit_formats, hit_places, text_input
from memory_bank.frontends.cli.change_view import show_written
from memory_bank.frontends.cli.hits_view import ShownFields, show
from memory_bank.frontends.cli.note_editor import in_editor

if TYPE_CHECKING:
    from memory_bank.bank.bank import Bank
    from memory_bank.memory.hits import Recalled


_ON_SCREEN = 5
"""Notes in an answer on a terminal, unless a setting or an option says otherwise."""


def answer(
    call: Call,
    *,
    query: tuple[str, ...],
    kind: str | None,
    limit: int | None,
    explain: bool,
    no_count: bool,
    also: bool,
    form: str | None,
    interactive: bool,
    rev: str | None,
    scope: str | None,
    **options: Any,  # noqa: ANN401  (named as the action's parameters)
) -> int:
    """Search the bank, print the results, and return the exit code."""
    from memory_bank.memory import hits, recall

    _check(call, form, interactive=interactive)
    if interactive and rev is not None:
        raise call.usage_error("--interactive can't be combined with --at")
    if scope not in {None, BANK} and (rev is not None or options["linked_to"] is not None):
        raise call.usage_error("--at and --linked-to search the bank only, not --scope")
    call.json = call.json or form == "json"
    text = " ".join(query)
    with call.open() as bank:
        search = recall.recall if rev is None else partial(recall.recall_at, rev=rev)
        found = search(
            bank,
            query=text,
            limit=_on_screen(call, bank, form) if limit is None else limit,
            type=kind,
            count_access=not no_count,
            scope=scope,
            **options,
        )
        dated = options["since"] is not None or options["before"] is not None
        read = hits.read_query(bank, text, times=not dated)
    found = found._replace(notes=tuple(sorted(found.notes, key=attrgetter("weak"))))
    if call.json:
        call.document({**_fields(found), **({"read_as": read} if explain else {})})
    elif form is not None:
        hit_formats.FORMATS[form](call, found)
    else:
        show(call, found, ShownFields(read, explain=explain, also=also))
    _remark(call, found)
    if interactive and found.notes:
        _open_one(call, found)
    return FOUND if found.notes else NOTHING


def _remark(call: Call, found: Recalled) -> None:
    """Say what limits the answer, and whether it is one."""
    call.incomplete(found.fallback_reason, found.problem, mode=found.mode_used)
    call.notices(found.notices)
    if call.json:
        return
    if found.rev is not None:
        call.remark(f"as of {found.rev.asked}: {found.rev.commit}, {found.rev.committed_at}")
    if not found.notes:
        call.remark("nothing found")
    elif not found.answered:
        call.remark(
            "nothing answers this" if _elsewhere(found) else "nothing in the bank answers this"
        )


def _check(call: Call, form: str | None, *, interactive: bool) -> None:
    """Refuse wrong combinations of options."""
    if call.json and form not in {None, "json"}:
        raise call.usage_error(f"give --json or --format {form}, not both")
    if interactive and (call.json or form is not None):
        raise call.usage_error("--interactive can't be combined with --json or --format")
    if interactive and not (text_input.interactive() and call.console.terminal):
        raise call.usage_error("--interactive needs a terminal")


def _on_screen(call: Call, bank: Bank, form: str | None) -> int | None:
    """Return the number of notes that a terminal shows; None for the setting's."""
    usual = bank.settings.search.limit == Search().limit
    text = call.console.terminal and not call.json and form is None
    return _ON_SCREEN if usual and text else None


def _elsewhere(found: Recalled) -> bool:
    return any(note.origin is not None for note in found.notes)


def _fields(answer: Recalled) -> dict[str, object]:
    shown = plain(answer)
    return shown if isinstance(shown, dict) else {}


def _open_one(call: Call, found: Recalled) -> None:
    """Ask for a hit and open its note in the user's editor."""
    count = len(found.notes)
    call.console.flush()
    which = "1" if count == 1 else f"1-{count}"
    while True:
        chosen = click.prompt(
            f"Open which note? [{which}, Enter: none]", default="", show_default=False, err=True
        ).strip()
        if chosen in {"", "q"}:
            return
        if chosen.isdecimal() and 1 <= int(chosen) <= count:
            break
        call.remark(f"type a number from 1 to {count}, or Enter")
    note = found.notes[int(chosen) - 1]
    if note.origin is not None:
        call.remark(
            f"it is not in this bank: {hit_places.url(note) or hit_places.place(call, note)}"
        )
        return
    with call.open() as bank:
        path = note.path
        if not bank.roots.writable(path):
            # an included file: the user's editor opens it, we write nothing
            click.edit(filename=str(bank.roots.file(path)))
            return
        done = in_editor(call, bank, path)
    show_written(call, done)
