"""The graph: notes, ghosts, files and tags as a picture, and as lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote, urlencode

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from memory_bank.bank.bank import Bank
from memory_bank.base.errors import BadInput
from memory_bank.base.rendering import visible
from memory_bank.frontends.web.graph import note_graph, picture
from memory_bank.frontends.web.graph.note_graph import KINDS, WantedGraph
from memory_bank.frontends.web.graph.picture import Picture
from memory_bank.frontends.web.site import Site, number_in

TITLE = "Graph"

PLACE = 30

PATH = "/graph"

_LISTED = 300
"""Nodes in the list beside the picture; the search above it finds the others."""


def routes(site: Site) -> Sequence[Route]:
    """Return the routes of the page, of its data, of one node, and of names to choose from."""

    async def graph(request: Request) -> Response:
        wanted = WantedGraph(whole=True) if site.exported else _wanted(request)
        values = await site.ask(_values, wanted)
        template = "graph_static.html" if site.exported else "graph.html"
        return await site.page(request, template, values, title=TITLE)

    async def data(request: Request) -> Response:
        found = await site.ask(picture.picture, _wanted(request))
        return JSONResponse(_data(found))

    async def node(request: Request) -> Response:
        name = request.query_params.get("id", "")
        found = await site.ask(picture.details, name)
        values = {"details": found, "walk": _walk(WantedGraph()), "note_url": note_url}
        return await site.page(request, "graph_node.html", values, title=found.node.label)

    async def names(request: Request) -> Response:
        text = request.query_params.get("q", "")
        found = await site.ask(note_graph.names, text)
        rows = [{"id": one.id, "label": visible(one.label), "kind": one.kind} for one in found]
        return JSONResponse(rows)

    return [
        Route(PATH, graph),
        Route(f"{PATH}/data", data),
        Route(f"{PATH}/node", node),
        Route(f"{PATH}/names", names),
    ]


def static_paths(_: Site) -> Sequence[str]:
    """Return the addresses that a static site has: of the whole graph, and its data."""
    return [PATH, f"{PATH}/data?{_query(WantedGraph(whole=True))}"]


def note_url(name: str) -> str:
    """Return the URL of a note's page, by its path."""
    return "/notes/" + _quoted(name.removesuffix(".md"), "/")


def _values(bank: Bank, wanted: WantedGraph) -> dict[str, Any]:
    part = note_graph.part(bank, wanted)
    details = picture.details(bank, part.centre) if part.centre else None
    query = _query(wanted)
    return {
        "wanted": wanted,
        "part": part,
        "listed": list(zip(part.nodes, part.degrees, strict=True))[:_LISTED],
        "details": details,
        "choices": picture.choices(bank),
        "kinds": KINDS,
        "data": f"{PATH}/data?{query}",
        "walk": _walk(wanted),
        "note_url": note_url,
    }


def _data(found: Picture) -> dict[str, Any]:
    part = found.part
    rows = zip(part.nodes, part.degrees, found.members, found.positions, strict=True)
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
                "x": place[0],
                "y": place[1],
            }
            for node, degree, cluster, place in rows
        ],
        "edges": part.edges,
        "clusters": [one._replace(name=visible(one.name))._asdict() for one in found.clusters],
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
        kinds=tuple(dict.fromkeys(asked.getlist("kind"))) or KINDS,
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
    pairs += [("kind", one) for one in wanted.kinds if wanted.kinds != plain.kinds]
    pairs += [("type", one) for one in wanted.types]
    pairs += [("tag", one) for one in wanted.tags]
    pairs += [("archived", "1")] if wanted.archived else []
    return urlencode(pairs, errors="surrogateescape")


def _walk(wanted: WantedGraph) -> Any:  # noqa: ANN401  (a function for the template)
    def url(name: str) -> str:
        return f"{PATH}?{_query(wanted._replace(note=name, whole=False))}"

    return url


def _quoted(name: str, safe: str = "") -> str:
    return quote(name.encode("utf-8", "surrogateescape"), safe=safe)
