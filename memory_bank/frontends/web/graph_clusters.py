"""The clusters of the graph of notes, and what is near one of its nodes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from math import log

from memory_bank.bank.backlinks import list_linked_titles
from memory_bank.bank.bank import Bank
from memory_bank.base import NamedTuple, lazy_pattern
from memory_bank.base.errors import Hint, NoteNotFound
from memory_bank.frontends.web import note_graph
from memory_bank.frontends.web.note_graph import (
    NOTE,
    TAG_EDGE,
    GraphPart,
    Node,
    NoteGraph,
)
from memory_bank.search import snippets
from memory_bank.search.manifest.document_graph import GraphLink

MOST = 16
"""Clusters with a name."""

REST = -1
"""The cluster of all other nodes."""

_LEAST = 3
"""Nodes of a cluster with a name."""

_TAGS = 2
"""Tags in a cluster's name."""

_SHARE = 0.3
"""Least weight of a second tag in a name, as a share of the weight of the first."""

_SEED = 1
"""Any fixed number: the same graph has the same clusters."""


class Cluster(NamedTuple):
    """A cluster with its name."""

    number: int
    name: str
    size: int


def find_clusters(part: GraphPart) -> tuple[list[int], list[Cluster]]:
    """Return the number of each node's cluster, or REST, and the clusters, the largest first."""
    pairs = tuple((edge.source, edge.dest) for edge in part.edges)
    groups = _groups(len(part.nodes), pairs)
    sizes = Counter(groups)
    large = [group for group, size in sizes.most_common(MOST) if size >= _LEAST]
    numbers = {group: number for number, group in enumerate(large)}
    members = [numbers.get(group, REST) for group in groups]
    names = _names(part, members, len(large))
    return members, [Cluster(at, names[at], sizes[group]) for group, at in numbers.items()]


@lru_cache(maxsize=8)
def _groups(count: int, pairs: tuple[tuple[int, int], ...]) -> tuple[int, ...]:
    """Return the group of each node by Louvain's method (2008), the largest group first."""
    import networkx as nx  # start-up: few answers need it

    graph: nx.Graph[int] = nx.Graph()
    graph.add_nodes_from(range(count))
    graph.add_edges_from(pairs)
    louvain_communities = nx.community.louvain_communities(graph, seed=_SEED) if count else []
    ordered = sorted(louvain_communities, key=lambda group: (-len(group), min(group)))
    group_of = {node: number for number, group in enumerate(ordered) for node in group}
    return tuple(group_of[node] for node in range(count))


def _names(part: GraphPart, members: Sequence[int], count: int) -> list[str]:
    """Return the most telling tags of each cluster: frequent in it, and rare elsewhere."""
    counts = Counter(tag for node in part.nodes for tag in node.tags)
    total = sum(1 for node in part.nodes if node.tags) or 1
    names: list[str] = []
    for number in range(count):
        inside = [at for at, member in enumerate(members) if member == number]
        tagged = [part.nodes[at].tags for at in inside if part.nodes[at].tags]
        own = Counter(tag for tags in tagged for tag in tags)
        scores = {
            tag: times * log(1 + (times / len(tagged)) / (counts[tag] / total))
            for tag, times in own.items()
        }
        best = sorted(scores, key=lambda tag: (-scores[tag], tag))[:_TAGS]
        telling = [tag for tag in best if scores[tag] >= _SHARE * scores[best[0]]]
        name = ", ".join(telling) or _hub(part, inside)
        names.append(f"{name} ({names.count(name) + 1})" if name in names else name)
    return names


def _hub(part: GraphPart, inside: Sequence[int]) -> str:
    """Return the name of the node with most links, for a cluster without tags."""
    counts = Counter(
        end for edge in part.edges if edge.kind != TAG_EDGE for end in (edge.source, edge.dest)
    )
    best = max(inside, key=lambda at: (counts[at], -at))
    return f"around {part.nodes[best].label}"


_NEIGHBOURS = 100
"""Neighbours that are listed of a node."""

_PARAGRAPHS = lazy_pattern(r"\n[ \t]*\n|^#[^\n]*$", re.MULTILINE)
"""What stands between paragraphs; headings are none."""


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


def count_choices(bank: Bank) -> dict[str, tuple[str, ...]]:
    """Return the types and the tags of notes, the most frequent first."""
    graph = note_graph.whole_graph(bank)
    types = Counter(node.type for node in graph.nodes if node.type)
    tags = Counter(tag for node in graph.nodes for tag in node.tags)
    return {"types": _frequent(types), "tags": _frequent(tags)}


def count_alone(bank: Bank) -> int:
    """Return the number of notes without a link to or from another note."""
    graph = note_graph.whole_graph(bank)
    linked = {
        place
        for edges in graph.near
        for edge in edges
        if graph.nodes[edge.source].kind == graph.nodes[edge.dest].kind == NOTE
        for place in (edge.source, edge.dest)
        if edge.source != edge.dest
    }
    return sum(
        node.kind == NOTE and not node.hidden and at not in linked
        for at, node in enumerate(graph.nodes)
    )


def view_node(bank: Bank, name: str) -> NodeDetails:
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
        titles = list_linked_titles(bank, [node.id])[node.id]
        text = snippets.cut_snippet(snippets.unlink_text(start, titles), "").text
    left_out = max(len(near) - _NEIGHBOURS, 0)
    return NodeDetails(node, graph.degrees[place], text, tuple(near[:_NEIGHBOURS]), left_out)


def _neighbours(graph: NoteGraph, place: int) -> list[LinkedNode]:
    """Return the neighbours of a node: notes first, then others, the most linked first."""
    relations: dict[int, tuple[list[str], list[str]]] = {}
    for edge in graph.near[place]:
        incoming = edge.source != place
        source = edge.source if incoming else edge.dest
        sides = relations.setdefault(source, ([], []))
        if (relation := _relation(edge)) not in sides[incoming]:
            sides[incoming].append(relation)

    def order(number: int) -> tuple[int, int, str]:
        node = graph.nodes[number]
        return note_graph.KINDS.index(node.kind), -graph.degrees[number], node.id

    return [
        LinkedNode(
            graph.nodes[other_relation],
            tuple(relations[other_relation][0]),
            tuple(relations[other_relation][1]),
        )
        for other_relation in sorted(relations, key=order)
    ]


def _relation(edge: GraphLink) -> str:
    if edge.kind == TAG_EDGE:
        return "tag"
    return "embed" if edge.kind == note_graph.EMBED else edge.type


def _frequent(counts: Counter[str]) -> tuple[str, ...]:
    return tuple(sorted(counts, key=lambda text: (-counts[text], text)))
