"""Links of a note, ghosts, paths between notes, and related notes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memory_bank.bank import open_index
from memory_bank.bank.backlinks import GHOST, LinkShown, node_of, shown
from memory_bank.bank.bank import Bank
from memory_bank.bank.open_index import View
from memory_bank.search.manifest import document_rows, link_rows
from memory_bank.search.manifest.link_rows import LinkRow

if TYPE_CHECKING:
    from memory_bank.search.manifest.link_graph import LinkGraph


@dataclass(frozen=True, slots=True)
class NoteLinks:
    """The links of one note or ghost."""

    path: str
    outgoing: tuple[LinkShown, ...]
    incoming: tuple[LinkShown, ...]


@dataclass(frozen=True, slots=True)
class Ghost:
    """A link target that is not a note."""

    name: str
    count: int
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PathStep:
    """One link of a path, from `source` to `target`; a path may follow it backwards."""

    source: str
    target: str
    type: str


@dataclass(frozen=True, slots=True)
class Related:
    """A note near another one in the graph."""

    path: str
    score: float


def links_of(bank: Bank, name: str) -> NoteLinks:
    """Return the links from a note and to it; for `ghost:NAME`, those to the ghost.

    A name of a ghost that no note has means the ghost. Raises NoteNotFound.
    """
    node = node_of(bank, name)
    if node.startswith(GHOST):
        ghost = node.removeprefix(GHOST)
        rows = bank.read(lambda view: link_rows.to_ghost(view.manifest, ghost))
        return NoteLinks(node, (), tuple(shown(row) for row in rows))

    def both(view: View) -> tuple[Sequence[LinkRow], Sequence[LinkRow], Sequence[str]]:
        note = open_index.note_at(view.manifest, node)
        number = note.number if note else -1
        out = link_rows.outgoing(view.manifest, number)
        into = link_rows.incoming(view.manifest, number)
        return out, into, link_rows.problems(view.manifest, out)

    out, into, wrong = bank.read(both)
    return NoteLinks(
        node,
        tuple(shown(row, problem) for row, problem in zip(out, wrong, strict=True)),
        tuple(shown(row) for row in into),
    )


def ghosts(bank: Bank) -> tuple[Ghost, ...]:
    """Return the link targets that are not notes, the most linked first."""
    bank.catch_up()
    rows = bank.read(lambda view: link_rows.all_links(view.manifest))
    sources: dict[str, list[str]] = {}
    for row in rows:
        if row.dest is None and not row.ambiguous and row.ghost:
            sources.setdefault(row.ghost, []).append(row.source_key)
    found = [Ghost(name, len(by), tuple(sorted(set(by)))) for name, by in sources.items()]
    return tuple(sorted(found, key=lambda ghost: (-ghost.count, ghost.name)))


def path_between(bank: Bank, start: str, goal: str) -> tuple[PathStep, ...]:
    """Return the shortest path of links between two notes or ghosts; empty if there is none."""
    first, last = node_of(bank, start), node_of(bank, goal)
    return tuple(PathStep(*edge) for edge in _graph(bank).path(first, last))


def related(bank: Bank, name: str, limit: int = 10) -> tuple[Related, ...]:
    """Return the notes and ghosts nearest to a note by links and shared neighbours."""
    node = node_of(bank, name)
    found = _graph(bank).related(node, limit)
    return tuple(Related(path, round(score, 4)) for path, score in found)


def count_problems(view: View) -> Counter[str]:
    """Count ghosts, broken links and orphans of the whole bank."""
    rows = link_rows.all_links(view.manifest)
    linked = {row.dest for row in rows if row.dest not in {None, row.source}}
    linking = {row.source for row in rows if row.dest != row.source}
    notes = document_rows.numbers(view.manifest)
    return Counter(
        ghosts=len(
            {row.ghost for row in rows if row.dest is None and not row.ambiguous and row.ghost}
        ),
        broken_links=sum(1 for problem in link_rows.problems(view.manifest, rows) if problem),
        orphans=len(notes - linked - linking),
    )


def _graph(bank: Bank) -> LinkGraph:
    from memory_bank.search.manifest.link_graph import (
        LinkGraph,  # start-up: few calls need the graph
    )

    return LinkGraph(bank.read(lambda view: link_rows.edges(view.manifest)))
