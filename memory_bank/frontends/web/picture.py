"""A picture of the graph: nodes with places and clusters; one node with what is near it."""

from __future__ import annotations

import re
from collections import Counter
from typing import NamedTuple

from memory_bank.bank.backlinks import linked_titles
from memory_bank.bank.bank import Bank
from memory_bank.base.errors import Hint, NoteNotFound
from memory_bank.frontends.web import layout, note_graph
from memory_bank.frontends.web.layout import Cluster
from memory_bank.frontends.web.note_graph import (
    NOTE,
    TAG_EDGE,
    Edge,
    GraphPart,
    Node,
    NoteGraph,
    WantedGraph,
)
from memory_bank.search import snippets

_NEIGHBOURS = 100

_PARAGRAPHS = re.compile(r"\n[ \t]*\n|^#[^\n]*$", re.MULTILINE)
"""What stands between paragraphs; headings are none."""


class Picture(NamedTuple):
    """What a picture shows; clusters and positions are in the order of the part's nodes."""

    part: GraphPart
    members: tuple[int, ...]
    clusters: tuple[Cluster, ...]
    positions: tuple[tuple[float, float], ...]


class GraphChoices(NamedTuple):
    """What the notes of a bank can be chosen by, the most frequent first."""

    types: tuple[str, ...]
    tags: tuple[str, ...]


class LinkedNode(NamedTuple):
    """A node at the other end of links."""

    node: Node
    outgoing: tuple[str, ...]
    """The types of links to it; `tag` or `embed` for a link that is one."""
    incoming: tuple[str, ...]
    """The types of links from it."""


class NodeDetails(NamedTuple):
    """A node with what is near it."""

    node: Node
    degree: int
    snippet: str
    neighbours: tuple[LinkedNode, ...]
    left_out: int
    """How many neighbours are too many."""


def picture(bank: Bank, wanted: WantedGraph) -> Picture:
    """Return the part of the graph that is wanted as a picture."""
    part = note_graph.part(bank, wanted)
    found = layout.clusters(part)
    pairs = tuple((edge.source, edge.target) for edge in part.edges)
    positions = layout.positions(found.groups, pairs)
    return Picture(part, found.members, found.named, positions)


def choices(bank: Bank) -> GraphChoices:
    """Return the types and the tags of notes."""
    graph = note_graph.whole_graph(bank)
    types = Counter(node.type for node in graph.nodes if node.type)
    tags = Counter(tag for node in graph.nodes for tag in node.tags)
    return GraphChoices(_frequent(types), _frequent(tags))


def alone(bank: Bank) -> int:
    """Return the number of notes without a link to or from another note."""
    graph = note_graph.whole_graph(bank)
    linked = {
        place
        for edges in graph.near
        for edge in edges
        if graph.nodes[edge.source].kind == graph.nodes[edge.target].kind == NOTE
        for place in (edge.source, edge.target)
        if edge.source != edge.target
    }
    return sum(
        node.kind == NOTE and not node.hidden and at not in linked
        for at, node in enumerate(graph.nodes)
    )


def details(bank: Bank, name: str) -> NodeDetails:
    """Return a node by its id; raise NoteNotFound."""
    graph = note_graph.whole_graph(bank)
    if name not in graph.places:
        raise NoteNotFound(f"{name!r} is not in the graph", Hint.LIST_NOTES)
    place = graph.places[name]
    node = graph.nodes[place]
    near = _neighbours(graph, place)
    text = ""
    if node.kind == NOTE:
        note = bank.store.read(node.id)
        start = next(
            filter(None, map(str.strip, _PARAGRAPHS.split(note.text[note.body_start :]))), ""
        )
        titles = linked_titles(bank, [node.id])[node.id]
        text = snippets.snippet(snippets.without_links(start, titles), "").text
    left_out = max(len(near) - _NEIGHBOURS, 0)
    return NodeDetails(node, graph.degrees[place], text, tuple(near[:_NEIGHBOURS]), left_out)


def _neighbours(graph: NoteGraph, place: int) -> list[LinkedNode]:
    """Return the neighbours of a node: notes first, then others, the most linked first."""
    relations: dict[int, tuple[list[str], list[str]]] = {}
    for edge in graph.near[place]:
        incoming = edge.source != place
        other = edge.source if incoming else edge.target
        both = relations.setdefault(other, ([], []))
        if (relation := _relation(edge)) not in both[incoming]:
            both[incoming].append(relation)

    def order(other: int) -> tuple[int, int, str]:
        node = graph.nodes[other]
        return note_graph.KINDS.index(node.kind), -graph.degrees[other], node.id

    return [
        LinkedNode(graph.nodes[other], tuple(relations[other][0]), tuple(relations[other][1]))
        for other in sorted(relations, key=order)
    ]


def _relation(edge: Edge) -> str:
    if edge.kind == TAG_EDGE:
        return "tag"
    return "embed" if edge.kind == note_graph.EMBED else edge.type


def _frequent(counts: Counter[str]) -> tuple[str, ...]:
    return tuple(sorted(counts, key=lambda one: (-counts[one], one)))
