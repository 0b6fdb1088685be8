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
        return await site.page(request, "home.html", await site.ask(_page_values))

    return [Route(PATH, home)]


def _page_values(bank: Bank) -> dict[str, Any]:
    home = overview.read_home(bank)
    days, count = _group_by_day(home.lately.changes)
    groups = (group for _, day_groups in days for group in day_groups)
    paths = [change.path for group in groups if len(group) <= _FEW for change in group]
    return {
        "notes": home.notes,
        "folder": bank.layout.root.name,
        "lately": home.lately,
        "days": days,
        "shown": count,
        "texts": _read_beginnings(bank, paths),
        "tags": dict(list(home.tags.items())[:_TOPICS]),
        "types": {name: number for name, number in home.types.items() if name and name != SESSION},
        "problem": home.problem,
        "hubs": _find_hubs(bank),
    }


def _find_hubs(bank: Bank) -> list[tuple[str, str, int]]:
    """Return the path and title of the notes to which most others link, and how many do."""
    graph = whole_graph(bank)
    hubs = [
        (node.id, node.label, len(graph.links.pred[node.id]))
        for node in graph.nodes.values()
        if node.kind == NOTE and not node.hidden
    ]
    hubs.sort(key=lambda hub: (-hub[2], hub[0]))
    return [hub for hub in hubs[:_HUBS] if hub[2] > 1]


_Day = tuple[str, tuple[tuple[ChangedLately, ...], ...]]
"""The name of a day, and its changes by commit."""


def _group_by_day(changes: Sequence[ChangedLately]) -> tuple[list[_Day], int]:
    """Return the changes by day and commit, as many as a page shows, and their number."""
    days: list[_Day] = []
    rows = count = 0
    for day, day_changes in groupby(changes, key=lambda change: change.changed_at[:10]):
        groups = []
        for group in _group_by_commit(day_changes):
            size = 1 if len(group) > _FEW else len(group)
            if rows + size > _ROWS:
                break
            rows, count = rows + size, count + len(group)
            groups.append(group)
        if not groups:
            break
        days.append((day_name(day), tuple(groups)))
    return days, count


def _group_by_commit(changes: Iterator[ChangedLately]) -> Iterator[tuple[ChangedLately, ...]]:
    """Yield the changes of each commit; those that are not committed are one group."""

    def commit(change: ChangedLately) -> tuple[object, ...]:
        return (change.changed_at, change.author, change.subject) if change.committed else ()

    for _, group in groupby(changes, key=commit):
        yield tuple(group)


def _read_beginnings(bank: Bank, paths: Sequence[str]) -> dict[str, str]:
    """Return the beginnings of notes by path, empty for a note that can't be read."""
    titles = list_linked_titles(bank, paths)
    beginnings = dict.fromkeys(paths, "")
    for path in paths:
        with suppress(MemoryBankError):
            note = bank.store.read(path)
            start = snippets.unlink_text(note.text[note.body_start :][:4000], titles[path])
            snippet = snippets.cut_snippet(start, "", _SENTENCE).text
            beginnings[path] = snippets.strip_markdown(snippet)
    return beginnings
