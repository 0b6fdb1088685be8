"""The start page: where to ask, what needs attention, what changed, and where to begin."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import groupby
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from memory_bank.bank.backlinks import list_linked_titles
from memory_bank.bank.bank import Bank
from memory_bank.bank.note_files import SESSION
from memory_bank.base.errors import MemoryBankError
from memory_bank.frontends.web.note_graph import NOTE, whole_graph
from memory_bank.frontends.web.site import Site
from memory_bank.frontends.web.templating import day_name
from memory_bank.memory import overview
from memory_bank.memory.overview import ChangedLately
from memory_bank.search import snippets

TITLE = "Home"

PLACE = 10

PATH = "/"

_ROWS = 12
"""Rows of changes; notes of one commit are one row."""

_TOPICS = 12
"""Tags on the first page."""

_HUBS = 6
"""Most linked notes on the first page."""

_FEW = 2
"""Notes of one commit that are shown one by one."""

_SENTENCE = 140
"""Characters of a note's first sentence."""


def routes(site: Site) -> Sequence[Route]:
    """Return the route of the start page."""

    async def home(request: Request) -> Response:
        return await site.page(request, "home.html", await site.ask(_values))

    return [Route(PATH, home)]


def _values(bank: Bank) -> dict[str, Any]:
    home = overview.home(bank)
    days, count = _days(home.lately.changes)
    changed_latelies = [
        changed_lately
        for _, groups in days
        for group in groups
        if len(group) <= _FEW
        for changed_lately in group
    ]
    return {
        "notes": home.notes,
        "folder": bank.layout.root.name,
        "lately": home.lately,
        "days": days,
        "shown": count,
        "texts": _sentences(bank, [changed_lately.path for changed_lately in changed_latelies]),
        "tags": dict(list(home.tags.items())[:_TOPICS]),
        "types": {name: number for name, number in home.types.items() if name and name != SESSION},
        "problem": home.problem,
        "hubs": _hubs(bank),
    }


def _hubs(bank: Bank) -> list[tuple[str, str, int]]:
    """Return the path and title of the notes to which most others link, and how many do."""
    graph = whole_graph(bank)
    hubs = []
    for place, node in enumerate(graph.nodes):
        if node.kind == NOTE and not node.hidden:
            sources = {edge.source for edge in graph.near[place] if edge.dest == place}
            hubs.append((node.id, node.label, len(sources - {place})))
    hubs.sort(key=lambda hub: (-hub[2], hub[0]))
    return [hub for hub in hubs[:_HUBS] if hub[2] > 1]


_Day = tuple[str, tuple[tuple[ChangedLately, ...], ...]]
"""The name of a day, and its changes by commit."""


def _days(changed_latelies: Sequence[ChangedLately]) -> tuple[list[_Day], int]:
    """Return the changes by day and commit, as many as a page shows, and their number."""
    days: list[_Day] = []
    rows = count = 0
    for day, day_changes in groupby(
        changed_latelies, key=lambda changed_lately: changed_lately.changed_at[:10]
    ):
        groups = []
        for group in _groups(day_changes):
            size = 1 if len(group) > _FEW else len(group)
            if rows + size > _ROWS:
                break
            rows, count = rows + size, count + len(group)
            groups.append(group)
        if not groups:
            break
        days.append((day_name(day), tuple(groups)))
    return days, count


def _groups(changed_latelies: Iterator[ChangedLately]) -> Iterator[tuple[ChangedLately, ...]]:
    """Yield the changes of each commit; those that are not committed stand together."""

    def commit(changed_lately: ChangedLately) -> tuple[object, ...]:
        return (
            (changed_lately.changed_at, changed_lately.author, changed_lately.subject)
            if changed_lately.committed
            else ()
        )

    for _, group in groupby(changed_latelies, key=commit):
        yield tuple(group)


def _sentences(bank: Bank, paths: Sequence[str]) -> dict[str, str]:
    """Return how notes begin; empty if one can't be read."""
    titles = list_linked_titles(bank, paths)
    fromkeys = dict.fromkeys(paths, "")
    for path in paths:
        with suppress(MemoryBankError):
            note = bank.store.read(path)
            start = snippets.unlink_text(note.text[note.body_start :][:4000], titles[path])
            fromkeys[path] = snippets.strip_markdown(
                snippets.cut_snippet(start, "", _SENTENCE).text
            )
    return fromkeys
