"""The graph of notes, ghosts, files and tags, and the part of it that a picture shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache, partial

from memory_bank.bank.backlinks import GHOST, find_node
from memory_bank.bank.bank import Bank
from memory_bank.base import NamedTuple
from memory_bank.base.errors import BadInput, Hint, NoteNotFound
from memory_bank.base.paths import Layout
from memory_bank.code.lookup import SCHEME
from memory_bank.notes.names import may_be_file
from memory_bank.search.manifest import document_graph
from memory_bank.search.manifest.document_graph import GraphLink, GraphRows, Node

NOTE, GHOST_KIND, FILE, TAG_KIND = KINDS = ("note", "ghost", "file", "tag")
"""Kinds of nodes: a ghost is a name in links that no note or file has; symbols are files."""

LINK, EMBED, FILE_REF, TAG_EDGE = ("link", "embed", "file_ref", "tag")
"""Kinds of edges."""

_EDGE_KINDS = {"embed": EMBED, "image": EMBED, "reference": FILE_REF}
"""Kinds of edges by kinds of links; a plain link else."""

TAG = "tag:"
"""Start of the id of a tag; a ghost's and a file's starts with `ghost:`, a note's is its path."""

MOST_NEAR = 300
"""Nodes of a neighbourhood; the nearest, then the most linked are chosen."""

MOST = 5000
"""Nodes of the whole graph."""

MOST_EDGES = 20_000

_DEPTHS = (1, 2)


_ARCHIVED = "archived"


class NoteGraph(NamedTuple):
    """The whole graph; `near` has the edges at each node, between places in the list of nodes."""

    nodes: tuple[Node, ...]
    places: dict[str, int]
    near: tuple[tuple[GraphLink, ...], ...]
    degrees: tuple[int, ...]
    """The number of links at each node; those to tags count for the tags only."""


class WantedGraph(NamedTuple):
    """The part of the graph to show."""

    note: str = ""
    """The centre, as people name notes, or a node's id; empty for the most linked note."""
    depth: int = 1
    whole: bool = False
    kinds: tuple[str, ...] = KINDS
    types: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    """Notes have one of these types, and one of these tags."""
    archived: bool = False
    """Whether archived notes are shown."""


class GraphPart(NamedTuple):
    """The nodes and edges that a picture shows; edges have places in its own list of nodes."""

    centre: str
    nodes: tuple[Node, ...]
    edges: tuple[GraphLink, ...]
    degrees: tuple[int, ...]
    """The degrees of the nodes in the whole graph."""
    left_out: int
    """Number of wanted nodes that are not shown, because there are too many."""


def whole_graph(bank: Bank) -> NoteGraph:
    """Return the whole graph."""
    rows = bank.answer(lambda view: document_graph.read_graph(view.manifest))
    return _build_graph(rows, bank.layout)


def choose_part(bank: Bank, request: WantedGraph) -> GraphPart:
    """Return the wanted part of the graph; raise NoteNotFound, BadInput."""
    if request.depth not in _DEPTHS:
        raise BadInput(f"depth is {request.depth}", "it is 1 or 2")
    if unknown := set(request.kinds) - set(KINDS):
        raise BadInput(f"{min(unknown)!r} is no kind of nodes", f"kinds are {', '.join(KINDS)}")
    graph = whole_graph(bank)
    centre = _find_centre(bank, graph, request)
    visible = _filter_nodes(graph, request, centre)
    if request.whole or centre is None:
        linked = {
            at for at in visible if any(place in visible for place in _yield_neighbours(graph, at))
        }
        visible = linked or visible  # a picture of far away dots says nothing
        order = sorted(visible, key=lambda place: (-graph.degrees[place], graph.nodes[place].id))
        chosen = order[:MOST]
    else:
        order = _list_neighbourhood(graph, centre, visible, request.depth)
        chosen = order[:MOST_NEAR]
    name = "" if centre is None else graph.nodes[centre].id
    return _cut_part(graph, name, chosen, len(order) - len(chosen))


def find_names(bank: Bank, text: str, limit: int = 20) -> list[Node]:
    """Return the nodes whose names have a text, those that begin with it first."""
    graph = whole_graph(bank)
    sought = text.strip().casefold()
    matches = []
    for place, node in enumerate(graph.nodes):
        label, name = node.label.casefold(), node.id.casefold()
        if sought in label or sought in name:
            rank = not (label.startswith(sought) or name.startswith(sought))
            matches.append((node.kind != NOTE, rank, -graph.degrees[place], node.id, node))
    return [row[-1] for row in sorted(matches)[:limit]]


@lru_cache(maxsize=4)
def _build_graph(rows: GraphRows, place: Layout) -> NoteGraph:
    nodes = [*rows.documents.values()]
    numbers = {number: at for at, number in enumerate(rows.documents)}
    keys: dict[str, int] = {}
    edges: dict[GraphLink, None] = {}

    def place_of(key: str, node: Callable[[], Node]) -> int:
        if key not in keys:
            keys[key] = len(nodes)
            nodes.append(node())
        return keys[key]

    def ghost(name: str) -> Node:
        return Node(GHOST + name, name, _ghost_kind(name, place))

    for link in rows.links:
        if link.dest in numbers:
            target = numbers[link.dest]
        elif link.dest:
            continue  # it could not be read
        else:
            target = place_of(GHOST + link.ghost.casefold(), partial(ghost, link.ghost))
        kind = _EDGE_KINDS.get(link.kind, LINK)
        edges[GraphLink(numbers[link.source], target, kind, link.type)] = None
    for at, note in enumerate(rows.documents.values()):
        for tag in note.tags:
            key = TAG + tag.casefold()
            target = place_of(key, partial(Node, key, f"#{tag}", TAG_KIND))
            edges[GraphLink(at, target, TAG_EDGE, "")] = None
    near: list[list[GraphLink]] = [[] for _ in nodes]
    for edge in edges:
        near[edge.source].append(edge)
        near[edge.dest].append(edge)
    places = {node.id: at for at, node in enumerate(nodes)}
    degrees = Counter(edge.dest for edge in edges)
    degrees.update(edge.source for edge in edges if edge.kind != TAG_EDGE)
    counts = tuple(degrees[at] for at in range(len(nodes)))
    return NoteGraph(tuple(nodes), places, tuple(map(tuple, near)), counts)


def _ghost_kind(ghost: str, place: Layout) -> str:
    if ghost.lower().startswith(SCHEME):
        return FILE
    file = ghost.partition("#")[0]
    return FILE if ":" not in file and may_be_file(file, place) else GHOST_KIND


def _find_centre(bank: Bank, graph: NoteGraph, request: WantedGraph) -> int | None:
    """Return the place of the node in the middle; None if there is no note."""
    if request.note:
        return _find_named(bank, graph, request.note)
    notes = [at for at, node in enumerate(graph.nodes) if node.kind == NOTE and not node.hidden]

    def has_edge(at: int) -> bool:
        ends = (edge.dest if edge.source == at else edge.source for edge in graph.near[at])
        return any(graph.nodes[end].kind in request.kinds for end in ends)

    return max(notes, key=lambda at: (has_edge(at), graph.degrees[at], -at), default=None)


def _find_named(bank: Bank, graph: NoteGraph, name: str) -> int:
    tag = TAG + name[1:] if name.startswith("#") else name
    for form in (name, tag.casefold() if tag.startswith(TAG) else ""):
        if form in graph.places:
            return graph.places[form]
    node = find_node(bank, name)
    if node not in graph.places:
        raise NoteNotFound(f"nothing links to {name!r}", Hint.LIST_GHOSTS)
    return graph.places[node]


def _filter_nodes(graph: NoteGraph, request: WantedGraph, centre: int | None) -> set[int]:
    """Return the places of the nodes that may be shown."""
    types, tags = set(request.types), set(request.tags)
    notes = {
        at
        for at, node in enumerate(graph.nodes)
        if node.kind == NOTE
        and (request.archived or not node.hidden)
        and (not types or node.type in types)
        and (not tags or not tags.isdisjoint(node.tags))
    }
    if centre is not None and not request.whole:
        notes.add(centre)  # whatever it is
    places = {
        place
        for at in notes
        for edge in graph.near[at]
        for place in (edge.source, edge.dest)
        if graph.nodes[place].kind in request.kinds and graph.nodes[place].kind != NOTE
    }
    shows_notes = NOTE in request.kinds
    return {at for at in notes if shows_notes or at == centre} | places


def _list_neighbourhood(graph: NoteGraph, centre: int, visible: set[int], depth: int) -> list[int]:
    """Return a node and those around it, the nearest first; no path leads through a tag."""
    order = [centre]
    visited = {centre}
    ring = [centre]
    for step in range(depth):
        through = [at for at in ring if step == 0 or graph.nodes[at].kind != TAG_KIND]
        near = {place for at in through for place in _yield_neighbours(graph, at)}
        ring = sorted(
            (near & visible) - visited,
            key=lambda place: (-graph.degrees[place], graph.nodes[place].id),
        )
        visited.update(ring)
        order += ring
    return order


def _yield_neighbours(graph: NoteGraph, place: int) -> Iterator[int]:
    for edge in graph.near[place]:
        yield edge.dest if edge.source == place else edge.source


def _cut_part(graph: NoteGraph, centre: str, chosen: Iterable[int], left_out: int) -> GraphPart:
    places = {at: number for number, at in enumerate(chosen)}
    edges = [
        GraphLink(places[edge.source], places[edge.dest], edge.kind, edge.type)
        for at in places
        for edge in graph.near[at]
        if edge.source == at and edge.dest in places
    ]
    edges.sort(key=lambda edge: edge.kind == TAG_EDGE)
    return GraphPart(
        centre,
        tuple(graph.nodes[at] for at in places),
        tuple(edges[:MOST_EDGES]),
        tuple(graph.degrees[at] for at in places),
        left_out,
    )
