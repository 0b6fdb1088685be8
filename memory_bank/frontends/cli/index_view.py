"""Print rows of the index, and what their ids name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from memory_bank.frontends.cli.call import Call
from memory_bank.frontends.cli.console import cells, cut

if TYPE_CHECKING:
    from memory_bank.sessions.get_observations import Details
    from memory_bank.sessions.observation_rows import IndexRow


_GAP = "  "

_MINUTE = len("2026-11-22T10:20")

_SHORTEST = 16
"""Columns of the shortest cut title; with less room the line is wrapped instead."""

_WIDEST_ID = 24
"""Columns of a longer id, whose line is wrapped, are not kept free in other lines."""

_SUMMARY = ("request", "investigated", "learned", "completed", "next_steps", "notes")


def show_index(call: Call, rows: Sequence[IndexRow], *, marked: str = "") -> None:
    """Print a line for each row; titles are cut on a narrow terminal, but never ids.

    The row with the id `marked` starts with `>`.
    """
    console = call.console
    ids = [cells(row.id) for row in rows]
    wide = max((width for width in ids if width <= _WIDEST_ID), default=0)
    kinds = max((len(_kind(row)) for row in rows), default=0)
    tokens = max((len(str(row.estimated_tokens)) for row in rows), default=0)
    projects = {row.project for row in rows}
    for row, width in zip(rows, ids, strict=True):
        mark = ("> " if row.id == marked else "  ") if marked else ""
        when = row.created_at[:_MINUTE].replace("T", " ")
        about = f"{_kind(row):<{kinds}}"
        read = f"{row.estimated_tokens:>{tokens}}"
        where = f"{_GAP}{row.project}" if len(projects) > 1 else ""
        used = len(mark) + max(width, wide) + len(about) + len(when) + len(read) + 4 * len(_GAP)
        title, left = row.title, console.columns - used
        if console.terminal and left >= _SHORTEST:
            title = cut(title, left)
            where = where if cells(title) + cells(where) <= left else ""
        console.line(
            mark, (row.id, "place"), " " * max(wide - width, 0), _GAP, about, _GAP, (when, "dim"),
            _GAP, (read, "dim"), _GAP, title, (where, "tag"),
        )  # fmt: skip


def show_details(call: Call, found: Sequence[Details]) -> None:
    """Print each observation, session or note whole."""
    console = call.console
    for number, one in enumerate(found):
        if number:
            console.line()
        console.line((one.id, "place"), _GAP, one.title)
        kind = one.obs_type or one.type
        work = f"{one.discovery_tokens:,} tokens of work" if one.discovery_tokens else ""
        git = f"{one.git.branch} {one.git.commit[:12]}".strip() if one.git else ""
        about = (kind, one.created_at, one.project, call.place(one.path), work, git)
        console.line((" · ".join(filter(None, about)), "tag"))
        for name, value in _fields(one):
            console.labelled(f"{name}: ", "dim", value)
        for text in filter(None, (one.narrative, one.content)):
            console.line()
            console.block(text)
        if one.observations:
            console.line()
            show_index(call, one.observations)


def _fields(one: Details) -> Iterator[tuple[str, str]]:
    """Yield the fields that say something, with their names."""
    listed = (("concepts", one.concepts), ("read", one.files_read), ("changed", one.files_modified))
    if one.subtitle:
        yield "about", one.subtitle
    for name, values in listed:
        if values:
            yield name, ", ".join(values)
    for fact in one.facts or ():
        yield "fact", fact
    for key in _SUMMARY if one.summary else ():
        if value := getattr(one.summary, key):
            yield key.replace("_", " "), value
    for prompt in one.prompts or ():
        yield f"prompt {prompt.prompt_number}", prompt.prompt_text


def _kind(row: IndexRow) -> str:
    return row.obs_type or row.type
