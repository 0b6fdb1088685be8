"""The layout of the graph of notes, and its picture in SVG."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from math import log
from typing import TYPE_CHECKING, Any, NamedTuple

from memory_bank.bank.backlinks import linked_titles
from memory_bank.bank.bank import Bank
from memory_bank.base.errors import Hint, NoteNotFound
from memory_bank.frontends.web import note_graph
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

MOST = 16
"""Clusters with a name."""

REST = -1
"""The cluster of all other nodes."""

_LEAST = 3
"""Nodes of a cluster with a name."""

_TAGS = 2

_SHARE = 0.3
"""Least weight of a second tag in a name, as a share of the weight of the first."""

_SEED = 1


class Cluster(NamedTuple):
    """A cluster with its name."""

    number: int
    name: str
    size: int


class Clusters(NamedTuple):
    """The clusters of a part of the graph."""

    members: tuple[int, ...]
    """The number of each node's cluster, or REST."""
    groups: tuple[int, ...]
    """The same, with a number for each of the others too."""
    named: tuple[Cluster, ...]


def clusters(part: GraphPart) -> Clusters:
    """Return the clusters of a part, the largest first, with a name each."""
    pairs = tuple((edge.source, edge.target) for edge in part.edges)
    groups = _groups(len(part.nodes), pairs)
    sizes = Counter(groups)
    large = [group for group, size in sizes.most_common(MOST) if size >= _LEAST]
    numbers = {group: number for number, group in enumerate(large)}
    members = tuple(numbers.get(group, REST) for group in groups)
    found = _names(part, members, len(large))
    named = (Cluster(at, found[at], sizes[group]) for group, at in numbers.items())
    return Clusters(members, groups, tuple(named))


@lru_cache(maxsize=8)
def _groups(count: int, pairs: tuple[tuple[int, int], ...]) -> tuple[int, ...]:
    """Return the group of each node by Louvain's method (2008), the largest group first."""
    import networkx as nx  # start-up: few answers need it

    graph: nx.Graph[int] = nx.Graph()
    graph.add_nodes_from(range(count))
    graph.add_edges_from(pairs)
    found = nx.community.louvain_communities(graph, seed=_SEED) if count else []
    ordered = sorted(found, key=lambda group: (-len(group), min(group)))
    group_of = {node: number for number, group in enumerate(ordered) for node in group}
    return tuple(group_of[node] for node in range(count))


def _names(part: GraphPart, members: Sequence[int], count: int) -> list[str]:
    """Return the most telling tags of each cluster: frequent in it, and rare elsewhere."""
    every = Counter(tag for node in part.nodes for tag in node.tags)
    total = sum(1 for node in part.nodes if node.tags) or 1
    names: list[str] = []
    for number in range(count):
        inside = [at for at, member in enumerate(members) if member == number]
        tagged = [part.nodes[at].tags for at in inside if part.nodes[at].tags]
        own = Counter(tag for tags in tagged for tag in tags)
        scores = {
            tag: times * log(1 + (times / len(tagged)) / (every[tag] / total))
            for tag, times in own.items()
        }
        best = sorted(scores, key=lambda tag: (-scores[tag], tag))[:_TAGS]
        telling = [tag for tag in best if scores[tag] >= _SHARE * scores[best[0]]]
        name = ", ".join(telling) or _hub(part, inside)
        names.append(f"{name} ({names.count(name) + 1})" if name in names else name)
    return names


def _hub(part: GraphPart, inside: Sequence[int]) -> str:
    """Return the name of the node with most links, for a cluster without tags."""
    found = Counter(
        end for edge in part.edges if edge.kind != TAG_EDGE for end in (edge.source, edge.target)
    )
    best = max(inside, key=lambda at: (found[at], -at))
    return f"around {part.nodes[best].label}"


if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Points = NDArray[np.float64]

_STEPS = ((64, 90), (256, 40))
"""Cells of the grid on each side, and steps with it: first the whole, then what is near."""

_FEW = 700
"""Number of nodes up to which the fine grid is not needed."""

_GOLDEN = 2.399963229728653
"""The golden angle: places on a spiral that lie nowhere close together."""

_GRAVITY = 0.05

_REPULSION = 2.0


@lru_cache(maxsize=8)
def positions(
    groups: tuple[int, ...], edges: tuple[tuple[int, int], ...]
) -> tuple[tuple[float, float], ...]:
    """Return a place within -1 to 1 for each node, from its group and the edges of all."""
    import numpy as np  # start-up: few answers need it

    count = len(groups)
    if count == 0:
        return ()
    ends = np.array(edges, dtype=np.int64).reshape(-1, 2)
    mass = np.bincount(ends.ravel(), minlength=count).astype(np.float64) + 1.0
    points = _start(groups)
    grids = _STEPS if count > _FEW else (_STEPS[0], _STEPS[0])
    total = sum(steps for _, steps in grids)
    done = 0
    for cells, steps in grids:
        kernel = _kernel(cells)
        for _ in range(steps):
            force = _repulsion(points, mass, kernel, cells) - _GRAVITY * mass[:, None] * points
            force += _attraction(points, ends)
            points = _moved(points, force / mass[:, None], 1.0 - done / total)
            done += 1
    points -= (points.max(axis=0) + points.min(axis=0)) / 2
    points /= max(float(np.abs(points).max()), 1e-9)
    return tuple((round(float(x), 4), round(float(y), 4)) for x, y in points)


def _start(groups: Sequence[int]) -> Points:
    """Place each group on a spiral, and its nodes on a spiral around there."""
    import numpy as np

    ids = np.array(groups, dtype=np.int64)
    order = np.argsort(ids, kind="stable")
    sizes = np.bincount(ids)
    within = np.empty(len(ids))
    within[order] = np.concatenate([np.arange(size) for size in sizes])
    before = np.concatenate([[0], np.cumsum(sizes)[:-1]]) + sizes / 2
    return _spiral(before, 4.0)[ids] + _spiral(within, 3.0)


def _spiral(number: Any, step: float) -> Points:  # noqa: ANN401  (an array of any numbers)
    import numpy as np

    radius, angle = step * np.sqrt(number), _GOLDEN * number
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)


@lru_cache(maxsize=4)
def _kernel(cells: int) -> tuple[NDArray[np.complex128], NDArray[np.complex128]]:
    """Return the transform of the force of one cell on all others, in units of cells."""
    import numpy as np

    steps = np.fft.fftfreq(2 * cells, 1 / (2 * cells))
    x, y = np.meshgrid(steps, steps, indexing="ij")
    square = x * x + y * y
    square[0, 0] = 1.0
    return np.fft.rfft2(x / square), np.fft.rfft2(y / square)


def _repulsion(
    points: Points,
    mass: Points,
    kernel: tuple[NDArray[np.complex128], NDArray[np.complex128]],
    cells: int,
) -> Points:
    import numpy as np

    low = points.min(axis=0)
    size = max(float((points.max(axis=0) - low).max()), 1e-6) / (cells - 2)
    at = (points - low) / size
    first = at.astype(np.int64)
    rest = at - first
    corners = []
    for dx, dy in ((0, 0), (0, 1), (1, 0), (1, 1)):
        share = np.abs(1 - dx - rest[:, 0]) * np.abs(1 - dy - rest[:, 1])
        corners.append(((first[:, 0] + dx) * 2 * cells + first[:, 1] + dy, share))
    grid = np.zeros(4 * cells * cells)
    for cell, share in corners:
        grid += np.bincount(cell, weights=share * mass, minlength=grid.size)
    shape = (2 * cells, 2 * cells)
    spectrum = np.fft.rfft2(grid.reshape(shape))
    fields = [np.fft.irfft2(spectrum * one, s=shape).ravel() for one in kernel]
    force = np.stack([sum(field[cell] * share for cell, share in corners) for field in fields], 1)
    return np.asarray(_REPULSION * mass[:, None] * force / size)


def _attraction(points: Points, ends: NDArray[np.int64]) -> Points:
    import numpy as np

    pull = points[ends[:, 1]] - points[ends[:, 0]]
    force = np.zeros_like(points)
    for axis in (0, 1):
        force[:, axis] = np.bincount(ends[:, 0], pull[:, axis], len(points)) - np.bincount(
            ends[:, 1], pull[:, axis], len(points)
        )
    return force


def _moved(points: Points, force: Points, heat: float) -> Points:
    """Return the points a step further; the longest step shrinks as it gets colder."""
    import numpy as np

    length = np.maximum(np.sqrt((force * force).sum(axis=1)), 1e-9)
    extent = float(np.sqrt((points * points).sum(axis=1).mean())) + 1.0
    most = 0.12 * extent * heat * heat + 0.002 * extent
    step: Points = points + force / length[:, None] * np.minimum(length * 0.3, most)[:, None]
    return step


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
    found = clusters(part)
    pairs = tuple((edge.source, edge.target) for edge in part.edges)
    places = positions(found.groups, pairs)
    return Picture(part, found.members, found.named, places)


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
