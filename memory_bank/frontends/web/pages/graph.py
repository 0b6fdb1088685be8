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
from memory_bank.base.rendering import visible
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
        wanted = _wanted(request)
        if not wanted.note:
            wanted = wanted._replace(whole=True)
        values = await site.ask(_values, wanted)
        return await site.page(request, "graph.html", values, title=TITLE)

    async def data(request: Request) -> Response:
        return JSONResponse(await site.ask(_data, _wanted(request)))

    async def node(request: Request) -> Response:
        name = request.query_params.get("id", "")
        found = await site.ask(graph_clusters.details, name)
        values = {
            "details": found,
            "url": _url(_WHOLE._replace(whole=False)),
            "note_url": note_url,
            "alone": 0,
        }
        return await site.page(request, "graph_node_page.html", values, title=found.node.label)

    async def names(request: Request) -> Response:
        text = request.query_params.get("q", "")
        found = await site.ask(note_graph.names, text)
        rows = [
            {
                "id": one.id,
                "label": visible(one.label),
                "kind": one.kind,
                "url": note_url(one.id) if one.kind == NOTE else "",
            }
            for one in found
        ]
        return JSONResponse(rows)

    return [
        Route(PATH, graph),
        Route(f"{PATH}/data", data),
        Route(f"{PATH}/node", node),
        Route(f"{PATH}/names", names),
    ]


def _values(bank: Bank, wanted: WantedGraph) -> dict[str, Any]:
    part = note_graph.part(bank, wanted)
    details = graph_clusters.details(bank, part.centre) if part.centre else None
    query = _query(wanted)
    return {
        "wanted": wanted,
        "part": part,
        "listed": list(zip(part.nodes, part.degrees, strict=True))[:_LISTED],
        "details": details,
        "choices": graph_clusters.choices(bank),
        "alone": graph_clusters.alone(bank),
        "data": f"{PATH}/data?{query}",
        "url": _url(wanted),
        "note_url": note_url,
    }


def _data(bank: Bank, wanted: WantedGraph) -> dict[str, Any]:
    """Return what the browser draws; where a node is, it computes itself."""
    part = note_graph.part(bank, wanted)
    clusters = graph_clusters.clusters(part)
    rows = zip(part.nodes, part.degrees, clusters.members, strict=True)
    return {
        "centre": part.centre,
        "left_out": part.left_out,
        "nodes": [
            {
                "id": node.id,
                "label": visible(node.label),
                "kind": node.kind,
                "type": visible(node.type),
                "archived": node.hidden,
                "degree": degree,
                "cluster": cluster,
            }
            for node, degree, cluster in rows
        ],
        "edges": part.edges,
        "clusters": [one._replace(name=visible(one.name))._asdict() for one in clusters.named],
    }


def _wanted(request: Request) -> WantedGraph:
    asked = request.query_params
    depth = asked.get("depth") or "1"
    if (steps := number_in(depth, -1)) < 0:
        raise BadInput(f"depth is {depth[:20]!r}", "it is 1 or 2")
    return WantedGraph(
        note=asked.get("note", "").strip(),
        depth=steps,
        whole=asked.get("whole") == "1",
        kinds=tuple(dict.fromkeys([NOTE, *filter(None, asked.getlist("kind"))])),
        types=tuple(filter(None, asked.getlist("type"))),
        tags=tuple(filter(None, asked.getlist("tag"))),
        archived=asked.get("archived") == "1",
    )


def _query(wanted: WantedGraph) -> str:
    """Return what is wanted as the query of a URL; what goes without saying is left out."""
    plain = WantedGraph()
    pairs = [("note", wanted.note)] if wanted.note else []
    pairs += [("depth", str(wanted.depth))] if wanted.depth != plain.depth else []
    pairs += [("whole", "1")] if wanted.whole else []
    pairs += [("kind", one) for one in wanted.kinds if one != NOTE]
    pairs += [("type", one) for one in wanted.types]
    pairs += [("tag", one) for one in wanted.tags]
    pairs += [("archived", "1")] if wanted.archived else []
    return urlencode(pairs, errors="surrogateescape")


def _url(wanted: WantedGraph) -> Any:  # noqa: ANN401  (a function for the template)
    def url(**changes: Any) -> str:  # noqa: ANN401  (fields of WantedGraph)
        return f"{PATH}?{_query(wanted._replace(**changes))}"

    return url
