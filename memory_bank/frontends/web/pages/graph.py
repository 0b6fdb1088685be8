"""The graph: notes, ghosts, files and tags as a picture, and as lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from memory_bank.bank.bank import Bank
from memory_bank.base.errors import BadInput
from memory_bank.base.rendering import make_visible
from memory_bank.frontends.web import graph_clusters, note_graph
from memory_bank.frontends.web.note_graph import NOTE, WantedGraph
from memory_bank.frontends.web.site import Site, number_in
from memory_bank.frontends.web.templating import note_url

TITLE = "Graph"

PLACE = 30

PATH = "/graph"

_WHOLE = WantedGraph(whole=True, kinds=(NOTE,))

_LISTED = 300
"""Nodes in the list beside the picture; the search above it finds the others."""


def routes(site: Site) -> Sequence[Route]:
    """Return the routes of the page, of its data, of one node, and of names to choose from."""

    async def graph(request: Request) -> Response:
        graph_request = _read_request(request)
        if not graph_request.note:
            graph_request = graph_request._replace(whole=True)
        values = await site.ask(_values, graph_request)
        return await site.page(request, "graph.html", values, title=TITLE)

    async def data(request: Request) -> Response:
        return JSONResponse(await site.ask(_data, _read_request(request)))

    async def node(request: Request) -> Response:
        name = request.query_params.get("id", "")
        node_details = await site.ask(graph_clusters.view_node, name)
        values = {
            "details": node_details,
            "url": _url(_WHOLE._replace(whole=False)),
            "note_url": note_url,
            "alone": 0,
        }
        return await site.page(
            request, "graph_node_page.html", values, title=node_details.node.label
        )

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


def _values(bank: Bank, graph: WantedGraph) -> dict[str, Any]:
    part = note_graph.choose_part(bank, graph)
    details = graph_clusters.view_node(bank, part.centre) if part.centre else None
    query = _query(graph)
    return {
        "wanted": graph,
        "part": part,
        "listed": list(zip(part.nodes, part.degrees, strict=True))[:_LISTED],
        "details": details,
        "choices": graph_clusters.count_choices(bank),
        "alone": graph_clusters.count_alone(bank),
        "data": f"{PATH}/data?{query}",
        "url": _url(graph),
        "note_url": note_url,
    }


def _data(bank: Bank, graph: WantedGraph) -> dict[str, Any]:
    """Return what the browser draws; where a node is, it computes itself."""
    part = note_graph.choose_part(bank, graph)
    members, clusters = graph_clusters.find_clusters(part)
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
        "edges": [edge[:4] for edge in part.edges],
        "clusters": [
            cluster._replace(name=make_visible(cluster.name))._asdict() for cluster in clusters
        ],
    }


def _read_request(request: Request) -> WantedGraph:
    query_params = request.query_params
    depth = query_params.get("depth") or "1"
    if (steps := number_in(depth, -1)) < 0:
        raise BadInput(f"depth is {depth[:20]!r}", "it is 1 or 2")
    return WantedGraph(
        note=query_params.get("note", "").strip(),
        depth=steps,
        whole=query_params.get("whole") == "1",
        kinds=tuple(dict.fromkeys([NOTE, *filter(None, query_params.getlist("kind"))])),
        types=tuple(filter(None, query_params.getlist("type"))),
        tags=tuple(filter(None, query_params.getlist("tag"))),
        archived=query_params.get("archived") == "1",
    )


def _query(graph: WantedGraph) -> str:
    """Return what is wanted as the query of a URL; what goes without saying is left out."""
    plain = WantedGraph()
    pairs = [("note", graph.note)] if graph.note else []
    pairs += [("depth", str(graph.depth))] if graph.depth != plain.depth else []
    pairs += [("whole", "1")] if graph.whole else []
    pairs += [("kind", kind) for kind in graph.kinds if kind != NOTE]
    pairs += [("type", note_type) for note_type in graph.types]
    pairs += [("tag", tag) for tag in graph.tags]
    pairs += [("archived", "1")] if graph.archived else []
    return urlencode(pairs, errors="surrogateescape")


def _url(graph: WantedGraph) -> Any:  # noqa: ANN401  (a function for the template)
    def url(**changes: Any) -> str:  # noqa: ANN401  (fields of WantedGraph)
        return f"{PATH}?{_query(graph._replace(**changes))}"

    return url
