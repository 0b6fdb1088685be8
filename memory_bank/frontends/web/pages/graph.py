"""The graph: notes, ghosts, files and tags in clusters, as a picture and as lists."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from math import log
from typing import Any, cast
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from memory_bank.bank.backlinks import list_linked_titles
from memory_bank.bank.bank import Bank
from memory_bank.base import NamedTuple, lazy_pattern
from memory_bank.base.errors import BadInput, Hint, NoteNotFound
from memory_bank.base.rendering import make_visible
from memory_bank.frontends.web import note_graph
from memory_bank.frontends.web.note_graph import (
    NOTE,
    GraphPart,
    Node,
    NoteGraph,
    WantedGraph,
)
from memory_bank.frontends.web.site import Site, read_number
from memory_bank.frontends.web.templating import note_url
from memory_bank.memory.links import EMBED, TAG_EDGE
from memory_bank.search import snippets

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


def find_clusters(part: GraphPart) -> tuple[list[int], list[dict[str, Any]]]:
    """Return the number of each node's cluster, or REST, and what a picture says of the clusters.

    The largest cluster comes first.
    """
    pairs = tuple(edge[:2] for edge in part.edges)
    groups = _find_groups(len(part.nodes), pairs)
    sizes = Counter(groups)
    large = [group for group, size in sizes.most_common(MOST) if size >= _LEAST]
    numbers = {group: number for number, group in enumerate(large)}
    members = [numbers.get(group, REST) for group in groups]
    names = _name_clusters(part, members, len(large))
    return members, [
        {"number": at, "name": make_visible(names[at]), "size": sizes[group]}
        for group, at in numbers.items()
    ]


@lru_cache(maxsize=8)
def _find_groups(count: int, pairs: tuple[tuple[int, int], ...]) -> tuple[int, ...]:
    """Return the group of each node by Louvain's method (2008), the largest group first."""
    import networkx as nx  # start-up: few answers need it

    graph: nx.Graph[int] = nx.Graph()
    graph.add_nodes_from(range(count))
    graph.add_edges_from(pairs)
    communities = nx.community.louvain_communities(graph, seed=_SEED) if count else []
    ordered = sorted(communities, key=lambda group: (-len(group), min(group)))
    groups = {node: number for number, group in enumerate(ordered) for node in group}
    return tuple(groups[node] for node in range(count))


def _name_clusters(part: GraphPart, members: Sequence[int], count: int) -> list[str]:
    """Return the most telling tags of each cluster: frequent in it, and rare elsewhere."""
    counts = Counter(tag for node in part.nodes for tag in node.tags)
    total = sum(1 for node in part.nodes if node.tags) or 1
    names: list[str] = []
    for number in range(count):
        inside = [at for at, member in enumerate(members) if member == number]
        tagged = [part.nodes[at].tags for at in inside if part.nodes[at].tags]
        tag_counts = Counter(tag for tags in tagged for tag in tags)
        scores = {
            tag: times * log(1 + (times / len(tagged)) / (counts[tag] / total))
            for tag, times in tag_counts.items()
        }
        best = sorted(scores, key=lambda tag: (-scores[tag], tag))[:_TAGS]
        chosen = [tag for tag in best if scores[tag] >= _SHARE * scores[best[0]]]
        name = ", ".join(chosen) or _name_by_hub(part, inside)
        names.append(f"{name} ({names.count(name) + 1})" if name in names else name)
    return names


def _name_by_hub(part: GraphPart, inside: Sequence[int]) -> str:
    """Return the name of the node with most links, for a cluster without tags."""
    counts = Counter(end for *ends, kind, _ in part.edges if kind != TAG_EDGE for end in ends)
    best = max(inside, key=lambda at: (counts[at], -at))
    return f"around {part.nodes[best].label}"


_NEIGHBOURS = 100
"""Neighbours that are listed of a node."""

_PARAGRAPHS = lazy_pattern(r"\n[ \t]*\n|^#[^\n]*$", re.MULTILINE)
"""What stands between paragraphs; headings are none."""


class Neighbour(NamedTuple):
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
    neighbours: tuple[Neighbour, ...]
    left_out: int
    """Number of neighbours that are not listed."""


def count_choices(bank: Bank) -> dict[str, tuple[str, ...]]:
    """Return the types and the tags of notes, the most frequent first."""
    graph = note_graph.whole_graph(bank)
    types = Counter(node.type for node in graph.nodes.values() if node.type)
    tags = Counter(tag for node in graph.nodes.values() for tag in node.tags)
    return {"types": _sort_by_count(types), "tags": _sort_by_count(tags)}


def count_alone(bank: Bank) -> int:
    """Return the number of notes without a link to or from another note."""
    graph = note_graph.whole_graph(bank)
    notes = {node.id for node in graph.nodes.values() if node.kind == NOTE}
    return sum(
        not graph.nodes[note].hidden and notes.isdisjoint(graph.neighbours(note)) for note in notes
    )


def view_node(bank: Bank, name: str) -> NodeDetails:
    """Return a node by its id; raise NoteNotFound."""
    graph = note_graph.whole_graph(bank)
    if name not in graph.nodes:
        raise NoteNotFound(f"{name!r} is not in the graph", Hint.LIST_NOTES)
    node = graph.nodes[name]
    near = _list_neighbours(graph, name)
    text = ""
    if node.kind == NOTE:
        note = bank.store.read(node.id)
        start = next(filter(None, map(str.strip, _PARAGRAPHS.split(note.body_text))), "")
        titles = list_linked_titles(bank, [node.id])[node.id]
        text = snippets.cut_snippet(snippets.unlink_text(start, titles), "").text
    left_out = max(len(near) - _NEIGHBOURS, 0)
    return NodeDetails(node, graph.degrees[name], text, tuple(near[:_NEIGHBOURS]), left_out)


def _list_neighbours(graph: NoteGraph, name: str) -> list[Neighbour]:
    """Return the neighbours of a node: notes first, then others, the most linked first."""

    def order(end: str) -> tuple[int, int, str]:
        return note_graph.KINDS.index(graph.nodes[end].kind), -graph.degrees[end], end

    return [
        Neighbour(
            graph.nodes[end], _list_relations(graph, name, end), _list_relations(graph, end, name)
        )
        for end in sorted(graph.neighbours(name), key=order)
    ]


def _list_relations(graph: NoteGraph, source: str, target: str) -> tuple[str, ...]:
    keys = cast("Iterable[tuple[str, str]]", graph.links.succ[source].get(target, ()))
    return tuple(
        dict.fromkeys(kind if kind in {TAG_EDGE, EMBED} else link_type for kind, link_type in keys)
    )


def _sort_by_count(counts: Counter[str]) -> tuple[str, ...]:
    return tuple(sorted(counts, key=lambda text: (-counts[text], text)))


TITLE = "Graph"

PLACE = 30

PATH = "/graph"

_WHOLE = WantedGraph(whole=True, kinds=(NOTE,))

_LISTED = 300
"""Nodes in the list beside the picture; the search above it finds the others."""


def routes(site: Site) -> Sequence[Route]:
    """Return the routes of the page, of its data, of one node, and of names to choose from."""

    async def graph(request: Request) -> Response:
        part_request = _read_request(request)
        if not part_request.note:
            part_request = part_request._replace(whole=True)
        values = await site.ask(_page_values, part_request)
        return await site.page(request, "graph.html", values, title=TITLE)

    async def data(request: Request) -> Response:
        return JSONResponse(await site.ask(_picture_data, _read_request(request)))

    async def node(request: Request) -> Response:
        name = request.query_params.get("id", "")
        details = await site.ask(view_node, name)
        values = {
            "details": details,
            "url": _make_url(_WHOLE._replace(whole=False)),
            "note_url": note_url,
            "alone": 0,
        }
        return await site.page(request, "graph_node_page.html", values, title=details.node.label)

    async def names(request: Request) -> Response:
        text = request.query_params.get("q", "")
        nodes = await site.ask(note_graph.find_names, text)
        rows = [
            {
                "id": node.id,
                "label": make_visible(node.label),
                "kind": node.kind,
                "url": note_url(node.id) if node.kind == NOTE else "",
            }
            for node in nodes
        ]
        return JSONResponse(rows)

    return [
        Route(PATH, graph),
        Route(f"{PATH}/data", data),
        Route(f"{PATH}/node", node),
        Route(f"{PATH}/names", names),
    ]


def _page_values(bank: Bank, graph: WantedGraph) -> dict[str, Any]:
    part = note_graph.choose_part(bank, graph)
    details = view_node(bank, part.centre) if part.centre else None
    query = _write_query(graph)
    return {
        "wanted": graph,
        "part": part,
        "listed": list(zip(part.nodes, part.degrees, strict=True))[:_LISTED],
        "details": details,
        "choices": count_choices(bank),
        "alone": count_alone(bank),
        "data": f"{PATH}/data?{query}",
        "url": _make_url(graph),
        "note_url": note_url,
    }


def _picture_data(bank: Bank, graph: WantedGraph) -> dict[str, Any]:
    """Return the nodes and edges that the browser draws; it computes their places itself."""
    part = note_graph.choose_part(bank, graph)
    members, clusters = find_clusters(part)
    rows = zip(part.nodes, part.degrees, members, strict=True)
    return {
        "centre": part.centre,
        "left_out": part.left_out,
        "nodes": [
            {
                "id": node.id,
                "label": make_visible(node.label),
                "kind": node.kind,
                "type": make_visible(node.type),
                "archived": node.hidden,
                "degree": degree,
                "cluster": cluster,
            }
            for node, degree, cluster in rows
        ],
        "edges": part.edges,
        "clusters": clusters,
    }


def _read_request(request: Request) -> WantedGraph:
    params = request.query_params
    depth = params.get("depth") or "1"
    if (steps := read_number(depth, -1)) < 0:
        raise BadInput(f"depth is {depth[:20]!r}", "it is 1 or 2")
    return WantedGraph(
        note=params.get("note", "").strip(),
        depth=steps,
        whole=params.get("whole") == "1",
        kinds=tuple(dict.fromkeys([NOTE, *filter(None, params.getlist("kind"))])),
        types=tuple(filter(None, params.getlist("type"))),
        tags=tuple(filter(None, params.getlist("tag"))),
        archived=params.get("archived") == "1",
    )


def _write_query(graph: WantedGraph) -> str:
    """Return the query of the URL that asks for a part; default values are left out."""
    plain = WantedGraph()
    pairs = [("note", graph.note)] if graph.note else []
    pairs += [("depth", str(graph.depth))] if graph.depth != plain.depth else []
    pairs += [("whole", "1")] if graph.whole else []
    pairs += [("kind", kind) for kind in graph.kinds if kind != NOTE]
    pairs += [("type", note_type) for note_type in graph.types]
    pairs += [("tag", tag) for tag in graph.tags]
    pairs += [("archived", "1")] if graph.archived else []
    return urlencode(pairs, errors="surrogateescape")


def _make_url(graph: WantedGraph) -> Any:  # noqa: ANN401  (a function for the template)
    def url(**changes: Any) -> str:  # noqa: ANN401  (fields of WantedGraph)
        return f"{PATH}?{_write_query(graph._replace(**changes))}"

    return url
