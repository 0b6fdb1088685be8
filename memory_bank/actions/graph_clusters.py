"""Clusters of a graph: nodes with more links among them than to others, named by their tags."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from math import log
from typing import NamedTuple

from memory_bank.actions.note_graph import TAG_EDGE, Part

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


def clusters(part: Part) -> Clusters:
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


def _names(part: Part, members: Sequence[int], count: int) -> list[str]:
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


def _hub(part: Part, inside: Sequence[int]) -> str:
    """Return the name of the node with most links, for a cluster without tags."""
    found = Counter(
        end for edge in part.edges if edge.kind != TAG_EDGE for end in (edge.source, edge.target)
    )
    best = max(inside, key=lambda at: (found[at], -at))
    return f"around {part.nodes[best].label}"
