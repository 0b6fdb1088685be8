from itertools import combinations
from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank
from memory_bank.bank.open_index import NoteRow
from memory_bank.base.errors import NoteNotFound
from memory_bank.frontends.web.note_graph import NOTE, GraphPart, Node
from memory_bank.frontends.web.pages import graph
from memory_bank.frontends.web.pages.graph import REST, find_clusters
from memory_bank.memory.links import LINK


def tagged(tags: tuple[str, ...]) -> NoteRow:
    """Make the row of a note with tags."""
    return NoteRow("n.md", "", "", (), data={"tags": tags})


def part(tags: list[list[tuple[str, ...]]]) -> GraphPart:
    """Make groups of notes with these tags; in a group, each links to each."""
    nodes, edges = [], []
    for number, group in enumerate(tags):
        first = len(nodes)
        nodes += [
            Node(f"{number}/{at}", f"Note {number} {at}", NOTE, tagged(own))
            for at, own in enumerate(group)
        ]
        places = range(first, len(nodes))
        edges += [
            (source, target, LINK, "related_to") for source, target in combinations(places, 2)
        ]
        if first:
            edges.append((first, 0, LINK, "related_to"))
    return GraphPart("", tuple(nodes), tuple(edges), (1,) * len(nodes), 0)


def test_groups_are_found_and_named_by_what_tells_them_apart() -> None:
    made = part([[("work", "storage")] * 6, [("work", "web")] * 5, [("work", "web", "css")] * 4])
    members, named = find_clusters(made)
    assert members == [0] * 6 + [1] * 5 + [2] * 4
    assert [one["name"].split(", ")[0] for one in named] == ["storage", "web", "css"]
    assert [one["size"] for one in named] == [6, 5, 4]


def test_equal_names_are_numbered_and_a_group_without_tags_is_named_by_its_hub() -> None:
    _, named = find_clusters(part([[("web",)] * 5, [("web",)] * 4, [()] * 3]))
    assert [one["name"] for one in named] == ["web", "web (2)", "around Note 2 0"]


def test_pairs_and_single_nodes_are_the_rest() -> None:
    made = part([[("web",)] * 5])
    nodes = (*made.nodes, Node("a", "A", "note"), Node("b", "B", "note"))
    pair = (5, 6, LINK, "related_to")
    members, named = find_clusters(made._replace(nodes=nodes, edges=(*made.edges, pair)))
    assert members == [0] * 5 + [REST, REST]
    assert [one["name"] for one in named] == ["web"]
    assert find_clusters(GraphPart("", (), (), (), 0)) == ([], [])


def test_a_node_is_shown_with_what_is_near(bank: Bank) -> None:
    found = graph.view_node(bank, "decisions/tantivy.md")
    assert found.node.label == "Tantivy over Whoosh"
    assert found.snippet.startswith("We chose Tantivy because")
    near = {node.id: links for node, *links in found.neighbours}
    assert near["decisions/whoosh.md"] == [("supersedes",), ()]
    assert near["ghost:src/index.py"] == [("mentions",), ()]
    whoosh = graph.view_node(bank, "decisions/whoosh.md")
    assert [incoming for _, _, incoming in whoosh.neighbours] == [("supersedes",), ()]
    assert [outgoing for _, outgoing, _ in whoosh.neighbours] == [(), ("tag",)]


def test_a_file_and_a_tag_have_no_text(bank: Bank) -> None:
    for name, count in (("ghost:src/index.py", 1), ("tag:search", 2)):
        found = graph.view_node(bank, name)
        assert found.snippet == ""
        assert len(found.neighbours) == count
    with pytest.raises(NoteNotFound):
        graph.view_node(bank, "tag:nothing")


def test_many_neighbours_are_counted(
    bank: Bank, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graph, "_NEIGHBOURS", 2)
    found = graph.view_node(bank, "decisions/tantivy.md")
    assert len(found.neighbours) == 2
    assert found.left_out == 3


def test_the_choices_are_the_types_and_tags_of_notes(bank: Bank) -> None:
    choices = graph.count_choices(bank)
    assert choices == {"types": ("decision",), "tags": ("search", "architecture")}
