"""The graph of notes, ghosts, files and tags, and the part of it that a picture shows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from memory_bank.bank.backlinks import GHOST, find_node
from memory_bank.bank.bank import Bank
from memory_bank.bank.open_index import NoteRow, note_of
from memory_bank.base import NamedTuple
from memory_bank.base.errors import BadInput, Hint, NoteNotFound
from memory_bank.base.paths import Layout
from memory_bank.code.lookup import SCHEME
from memory_bank.memory.links import TAG_EDGE, find_in_graph, read_graph
from memory_bank.notes.names import may_be_file
from memory_bank.search.index import IndexView
from memory_bank.search.manifest import document_rows
from memory_bank.search.manifest.manifest import Manifest

if TYPE_CHECKING:
    import networkx as nx

NOTE, GHOST_KIND, FILE, TAG_KIND = KINDS = ("note", "ghost", "file", "tag")
"""Kinds of nodes: a ghost is a name in links that no note or file has; symbols are files."""

TAG = "tag:"
"""Start of the id of a tag; a ghost's and a file's starts with `ghost:`, a note's is its path."""

MOST_NEAR = 300
"""Nodes of a neighbourhood; the nearest, then the most linked are chosen."""

MOST = 5000
"""Nodes of the whole graph."""

MOST_EDGES = 20_000

_DEPTHS = (1, 2)


class Node(NamedTuple):
    """A note, ghost, file or tag."""

    id: str
    label: str
    kind: str = NOTE
    note: NoteRow | None = None

    @property
    def type(self) -> str:
        """The note's type; empty for none."""
        return self.note.type if self.note else ""

    @property
    def tags(self) -> tuple[str, ...]:
        """The note's tags, sorted."""
        return self.note.tags if self.note else ()

    @property
    def hidden(self) -> bool:
        """Whether it is an archived note."""
        return self.note is not None and self.note.hidden


class NoteGraph(NamedTuple):
    """The whole graph with tags, and its nodes by id."""

    links: nx.MultiDiGraph[str]
    """The key of an edge is its kind and type."""
    nodes: Mapping[str, Node]
    degrees: Mapping[str, int]
    """The number of links at each node; those to tags count for the tags only."""

    def neighbours(self, node: str) -> set[str]:
        """Return the nodes that link to a node, or to which it links."""
        return {*self.links.pred[node], *self.links.succ[node]}


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


Edge = tuple[int, int, str, str]
"""The places of source and target in a list of nodes, the kind and the type of a link."""


class GraphPart(NamedTuple):
    """The nodes and edges that a picture shows; edges have places in its own list of nodes."""

    centre: str
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    degrees: tuple[int, ...]
    """The degrees of the nodes in the whole graph."""
    left_out: int
    """Number of wanted nodes that are not shown, because there are too many."""


def whole_graph(bank: Bank) -> NoteGraph:
    """Return the whole graph, cached until the index changes."""

    def read(view: IndexView) -> nx.MultiDiGraph[str]:
        return view.manifest.cached(_read_with_tags) or _read_with_tags(view.manifest)

    return _build_graph(bank.answer(read), bank.layout)


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
        linked = {node for node in visible if not visible.isdisjoint(graph.neighbours(node))}
        visible = linked or visible  # a picture of far away dots says nothing
        order = _sort_by_degree(graph, visible)
        chosen = order[:MOST]
    else:
        order = _list_neighbourhood(graph, centre, visible, request.depth)
        chosen = order[:MOST_NEAR]
    return _cut_part(graph, centre or "", chosen, len(order) - len(chosen))


def find_names(bank: Bank, text: str, limit: int = 20) -> list[Node]:
    """Return the nodes whose names have a text, those that begin with it first."""
    graph = whole_graph(bank)
    sought = text.strip().casefold()
    matches = []
    for node in graph.nodes.values():
        label, name = node.label.casefold(), node.id.casefold()
        if sought in label or sought in name:
            rank = not (label.startswith(sought) or name.startswith(sought))
            matches.append((node.kind != NOTE, rank, -graph.degrees[node.id], node.id, node))
    return [row[-1] for row in sorted(matches)[:limit]]


@lru_cache(maxsize=4)
def _build_graph(links: nx.MultiDiGraph[str], place: Layout) -> NoteGraph:
    nodes, degrees = dict[str, Node](), dict[str, int]()
    for name, values in links.nodes(data=True):
        note: NoteRow | None = values.get("note")
        tag, ghost = values.get("tag"), name.removeprefix(GHOST)
        degrees[name] = links.degree(name)
        if note:
            nodes[name] = Node(name, note.title or name, NOTE, note)
            degrees[name] -= len({tag.casefold() for tag in note.tags})
        else:
            kind = TAG_KIND if tag else _ghost_kind(ghost, place)
            nodes[name] = Node(name, f"#{tag}" if tag else ghost, kind)
    return NoteGraph(links, nodes, degrees)


def _read_with_tags(manifest: Manifest) -> nx.MultiDiGraph[str]:
    """Return the graph with a node for each tag, which has it as attribute `tag`."""
    notes = list(map(note_of, document_rows.all_documents(manifest)))
    graph = read_graph(manifest, notes)
    for note in notes:
        for tag in note.tags:
            key = TAG + tag.casefold()
            if key not in graph:
                graph.add_node(key, tag=tag)
            graph.add_edge(note.path, key, key=(TAG_EDGE, ""))
    return graph


def _ghost_kind(ghost: str, place: Layout) -> str:
    if ghost.lower().startswith(SCHEME):
        return FILE
    file = ghost.partition("#")[0]
    return FILE if ":" not in file and may_be_file(file, place) else GHOST_KIND


def _find_centre(bank: Bank, graph: NoteGraph, request: WantedGraph) -> str | None:
    """Return the node in the middle; None if there is no note."""
    if request.note:
        return _find_named(bank, graph, request.note)
    notes = [node.id for node in graph.nodes.values() if node.kind == NOTE and not node.hidden]

    def has_edge(node: str) -> bool:
        return any(graph.nodes[end].kind in request.kinds for end in graph.neighbours(node))

    return max(notes, key=lambda node: (has_edge(node), graph.degrees[node]), default=None)


def _find_named(bank: Bank, graph: NoteGraph, name: str) -> str:
    tag = TAG + name[1:] if name.startswith("#") else name
    for form in (name, tag.casefold() if tag.startswith(TAG) else ""):
        if form in graph.nodes:
            return form
    node = find_in_graph(graph.links, find_node(bank, name))
    if node not in graph.nodes:
        raise NoteNotFound(f"nothing links to {name!r}", Hint.LIST_GHOSTS)
    return node


def _filter_nodes(graph: NoteGraph, request: WantedGraph, centre: str | None) -> set[str]:
    """Return the nodes that may be shown."""
    types, tags = set(request.types), set(request.tags)
    notes = {
        node.id
        for node in graph.nodes.values()
        if node.kind == NOTE
        and (request.archived or not node.hidden)
        and (not types or node.type in types)
        and (not tags or not tags.isdisjoint(node.tags))
    }
    if centre is not None and not request.whole:
        notes.add(centre)  # whatever it is
    near = {
        end
        for note in notes
        for end in (note, *graph.neighbours(note))
        if graph.nodes[end].kind in request.kinds and graph.nodes[end].kind != NOTE
    }
    shows_notes = NOTE in request.kinds
    return {note for note in notes if shows_notes or note == centre} | near


def _sort_by_degree(graph: NoteGraph, nodes: Iterable[str]) -> list[str]:
    return sorted(nodes, key=lambda node: (-graph.degrees[node], node))


def _list_neighbourhood(graph: NoteGraph, centre: str, visible: set[str], depth: int) -> list[str]:
    """Return a node and those around it, the nearest first; no path leads through a tag."""
    order = [centre]
    visited = {centre}
    ring = [centre]
    for step in range(depth):
        through = [node for node in ring if step == 0 or graph.nodes[node].kind != TAG_KIND]
        near = {end for node in through for end in graph.neighbours(node)}
        ring = _sort_by_degree(graph, (near & visible) - visited)
        visited.update(ring)
        order += ring
    return order


def _cut_part(graph: NoteGraph, centre: str, chosen: Sequence[str], left_out: int) -> GraphPart:
    places = {node: place for place, node in enumerate(chosen)}
    edges = [
        (places[source], places[target], *key)
        for source, target, key in graph.links.out_edges(chosen, keys=True)
        if target in places
    ]
    edges.sort(key=lambda edge: edge[2] == TAG_EDGE)
    return GraphPart(
        centre,
        tuple(graph.nodes[node] for node in chosen),
        tuple(edges[:MOST_EDGES]),
        tuple(graph.degrees[node] for node in chosen),
        left_out,
    )
