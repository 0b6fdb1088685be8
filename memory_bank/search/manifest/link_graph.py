"""The link graph, built from the link table when a query traverses links."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import networkx as nx

Edge = tuple[str, str, str]
"""Source, target, type; a ghost's name starts with `ghost:`."""


class LinkGraph:
    """A graph of notes and ghosts; links are traversed in both directions."""

    def __init__(self, edges: Iterable[Edge], nodes: Iterable[str] = ()) -> None:
        """Build the graph of some edges; `nodes` adds notes without links."""
        self._graph: nx.MultiDiGraph[str] = nx.MultiDiGraph()
        self._graph.add_nodes_from(nodes)
        for source, target, kind in edges:
            self._graph.add_edge(source, target, key=kind)
        self._both_ways = self._graph.to_undirected(as_view=True)

    def path(self, start: str, goal: str) -> list[Edge]:
        """Return the shortest chain of links between two nodes; empty when there is none.

        An edge that is traversed backwards keeps its source and target.
        """
        try:
            nodes = nx.bidirectional_shortest_path(self._both_ways, start, goal)
        except (nx.NetworkXNoPath, nx.NodeNotFound):
            return []
        return [self._edge(a, b) for a, b in pairwise(nodes)]

    def related(self, node: str, most: int = 10) -> list[tuple[str, float]]:
        """Return the nodes most similar to one, by Adamic–Adar index (2003) and direct links.

        A shared neighbour with few links counts more than a hub; a direct link adds 1.
        """
        if node not in self._graph:
            return []
        simple: nx.Graph[str] = nx.Graph(self._both_ways)
        simple.remove_edges_from(list(nx.selfloop_edges(simple)))
        direct = set(simple[node])
        near = {other for middle in direct for other in simple[middle]} | direct
        pairs = [(node, other) for other in near if other != node]
        scores = {
            other: score + (other in direct)
            for _, other, score in nx.adamic_adar_index(simple, pairs)
        }
        return sorted(scores.items(), key=lambda item: (-item[1], item[0]))[:most]

    def _edge(self, a: str, b: str) -> Edge:
        if self._graph.has_edge(a, b):
            return a, b, next(iter(self._graph[a][b]))
        return b, a, next(iter(self._graph[b][a]))
