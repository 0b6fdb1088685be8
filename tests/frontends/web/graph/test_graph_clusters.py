from __future__ import annotations

from itertools import combinations

from memory_bank.frontends.web.graph.layout import REST, clusters
from memory_bank.frontends.web.graph.note_graph import LINK, Edge, GraphPart, Node


def part(tags: list[list[tuple[str, ...]]]) -> GraphPart:
    """Make groups of notes with these tags; in a group, each links to each."""
    nodes, edges = [], []
    for number, group in enumerate(tags):
        first = len(nodes)
        nodes += [
            Node(f"{number}/{at}", f"Note {number} {at}", "note", tags=own)
            for at, own in enumerate(group)
        ]
        places = range(first, len(nodes))
        edges += [Edge(one, other, LINK, "related_to") for one, other in combinations(places, 2)]
        if first:
            edges.append(Edge(first, 0, LINK, "related_to"))
    return GraphPart("", tuple(nodes), tuple(edges), (1,) * len(nodes), 0)


def test_groups_are_found_and_named_by_what_tells_them_apart() -> None:
    made = part([[("work", "storage")] * 6, [("work", "web")] * 5, [("work", "web", "css")] * 4])
    found = clusters(made)
    assert found.members == (0,) * 6 + (1,) * 5 + (2,) * 4
    assert [one.name.split(", ")[0] for one in found.named] == ["storage", "web", "css"]
    assert [one.size for one in found.named] == [6, 5, 4]


def test_equal_names_are_numbered_and_a_group_without_tags_is_named_by_its_hub() -> None:
    found = clusters(part([[("web",)] * 5, [("web",)] * 4, [()] * 3]))
    assert [one.name for one in found.named] == ["web", "web (2)", "around Note 2 0"]


def test_pairs_and_single_nodes_are_the_rest() -> None:
    made = part([[("web",)] * 5])
    nodes = (*made.nodes, Node("a", "A", "note"), Node("b", "B", "note"))
    pair = Edge(5, 6, LINK, "related_to")
    found = clusters(made._replace(nodes=nodes, edges=(*made.edges, pair)))
    assert found.members == (0,) * 5 + (REST, REST)
    assert [one.name for one in found.named] == ["web"]
    assert clusters(GraphPart("", (), (), (), 0)).members == ()
