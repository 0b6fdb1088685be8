from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank, open_bank
from memory_bank.frontends.web import note_graph
from memory_bank.frontends.web.note_graph import GraphPart, WantedGraph


@pytest.fixture
def note(project: Path) -> Path:
    """Add a note with links of every kind."""
    file = project / ".memories/facts/links.md"
    file.write_text(
        "---\ntype: fact\ntags: [Search, ops]\nfile_refs: [src/index.py]\n---\n# Links\n\n"
        "![[facts/bm25]] [[No such note]] [[no such note]] [[symbol:build_index]] [[person:anna]]\n"
        "[[facts/bm25]] [[Links]]\n"
    )
    return file


def shown(part: GraphPart) -> dict[str, str]:
    return {node.id: node.kind for node in part.nodes}


def edges(part: GraphPart) -> set[tuple[str, str, str, str]]:
    ids = [node.id for node in part.nodes]
    return {(ids[source], ids[target], *key) for source, target, *key in part.edges}


def test_without_a_note_the_most_linked_is_in_the_middle(bank: Bank) -> None:
    part = note_graph.choose_part(bank, WantedGraph())
    assert part.centre == part.nodes[0].id == "decisions/tantivy.md"
    assert shown(part) == {
        "decisions/tantivy.md": "note",
        "decisions/whoosh.md": "note",
        "facts/bm25.md": "note",
        "ghost:src/index.py": "file",
        "tag:architecture": "tag",
        "tag:search": "tag",
    }
    assert ("decisions/tantivy.md", "decisions/whoosh.md", "link", "supersedes") in edges(part)
    assert ("decisions/whoosh.md", "tag:search", "tag", "") in edges(part)


def test_every_kind_of_link_is_an_edge_of_its_kind(bank: Bank, note: Path) -> None:
    part = note_graph.choose_part(bank, WantedGraph(note="facts/links"))
    assert edges(part) >= {
        ("facts/links.md", "facts/bm25.md", "embed", "related_to"),
        ("facts/links.md", "facts/bm25.md", "link", "related_to"),
        ("facts/links.md", "ghost:src/index.py", "file_ref", "mentions"),
        ("facts/links.md", "ghost:No such note", "link", "related_to"),
        ("facts/links.md", "tag:ops", "tag", ""),
    }
    kinds = shown(part)
    assert kinds["ghost:symbol:build_index"] == "file"
    assert kinds["ghost:No such note"] == kinds["ghost:person:anna"] == "ghost"
    assert "ghost:no such note" not in kinds  # case makes no other ghost
    assert ("facts/links.md", "facts/links.md") not in {row[:2] for row in edges(part)}


def test_a_second_step_goes_through_notes_and_files_but_not_through_tags(
    bank: Bank, note: Path
) -> None:
    near = shown(note_graph.choose_part(bank, WantedGraph(note="facts/links", depth=2)))
    assert "decisions/tantivy.md" in near  # by src/index.py
    assert "decisions/whoosh.md" not in near  # only by the tag
    of_tag = shown(note_graph.choose_part(bank, WantedGraph(note="tag:search")))
    assert "decisions/whoosh.md" in of_tag


def test_the_whole_graph_is_filtered_by_kind_type_and_tag(bank: Bank, note: Path) -> None:
    whole = shown(note_graph.choose_part(bank, WantedGraph(whole=True)))
    assert set(whole.values()) == {"note", "ghost", "file", "tag"}
    notes = note_graph.choose_part(bank, WantedGraph(whole=True, kinds=("note",)))
    assert set(shown(notes)) == {one for one, kind in whole.items() if kind == "note"}
    decisions = shown(note_graph.choose_part(bank, WantedGraph(whole=True, types=("decision",))))
    assert {one for one, kind in decisions.items() if kind == "note"} == {
        "decisions/tantivy.md",
        "decisions/whoosh.md",
    }
    assert "ghost:No such note" not in decisions
    tagged = note_graph.choose_part(bank, WantedGraph(whole=True, kinds=("note",), tags=("ops",)))
    assert set(shown(tagged)) == {"facts/links.md"}


def test_archived_notes_are_shown_if_asked_for(bank: Bank, project: Path) -> None:
    file = project / ".memories/decisions/whoosh.md"
    file.write_text(file.read_text().replace("type:", "status: archived\ntype:"))
    assert "decisions/whoosh.md" not in shown(note_graph.choose_part(bank, WantedGraph(whole=True)))
    part = note_graph.choose_part(bank, WantedGraph(whole=True, archived=True))
    (whoosh,) = (node for node in part.nodes if node.id == "decisions/whoosh.md")
    assert whoosh.hidden
    around = note_graph.choose_part(bank, WantedGraph(note="decisions/whoosh"))
    assert around.centre == "decisions/whoosh.md"


def test_a_note_is_named_as_everywhere(bank: Bank) -> None:
    for name in ("BM25", "facts/bm25", "facts/bm25.md", "bm25"):
        assert note_graph.choose_part(bank, WantedGraph(note=name)).centre == "facts/bm25.md"
    for name in ("src/index.py", "ghost:src/index.py"):
        assert note_graph.choose_part(bank, WantedGraph(note=name)).centre == "ghost:src/index.py"
    for name in ("tag:search", "tag:Search", "#search", "#Search"):
        assert note_graph.choose_part(bank, WantedGraph(note=name)).centre == "tag:search"


def test_too_many_nodes_are_left_out_and_counted(
    bank: Bank, note: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    every = note_graph.choose_part(bank, WantedGraph(whole=True))
    monkeypatch.setattr(note_graph, "MOST", 2)
    part = note_graph.choose_part(bank, WantedGraph(whole=True))
    assert part.left_out == len(every.nodes) - 2
    assert {node.id for node in part.nodes} == {"facts/links.md", "decisions/tantivy.md"}
    monkeypatch.setattr(note_graph, "MOST_NEAR", 3)
    near = note_graph.choose_part(bank, WantedGraph(note="facts/bm25", depth=2))
    assert near.nodes[0].id == "facts/bm25.md"
    assert len(near.nodes) == 3
    assert near.left_out > 0


def test_names_are_completed_the_notes_first(bank: Bank) -> None:
    assert [node.id for node in note_graph.find_names(bank, "SEARCH")] == ["tag:search"]
    found = [node.id for node in note_graph.find_names(bank, "index")]
    assert found[0] == "decisions/whoosh.md"
    assert "ghost:src/index.py" in found
    assert len(note_graph.find_names(bank, "", limit=2)) == 2


def test_an_empty_bank_has_an_empty_graph(folder: Path) -> None:
    with open_bank(folder) as bank:
        assert note_graph.choose_part(bank, WantedGraph()) == GraphPart("", (), (), (), 0)
