from __future__ import annotations

from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank
from memory_bank.base.errors import NoteNotFound
from memory_bank.frontends.web.graph import picture
from memory_bank.frontends.web.graph.note_graph import WantedGraph


def test_a_picture_has_a_place_and_a_cluster_for_each_node(bank: Bank) -> None:
    found = picture.picture(bank, WantedGraph(whole=True))
    count = len(found.part.nodes)
    assert count == len(found.positions) == len(found.members) == 6
    assert len(set(found.positions)) == count
    assert sum(cluster.size for cluster in found.clusters) <= count
    assert found == picture.picture(bank, WantedGraph(whole=True))


def test_a_node_is_shown_with_what_is_near(bank: Bank) -> None:
    found = picture.details(bank, "decisions/tantivy.md")
    assert found.node.label == "Tantivy over Whoosh"
    assert found.snippet.startswith("We chose Tantivy because")
    near = {one.node.id: (one.outgoing, one.incoming) for one in found.neighbours}
    assert near["decisions/whoosh.md"] == (("supersedes",), ())
    assert near["ghost:src/index.py"] == (("mentions",), ())
    whoosh = picture.details(bank, "decisions/whoosh.md")
    assert [one.incoming for one in whoosh.neighbours] == [("supersedes",), ()]
    assert [one.outgoing for one in whoosh.neighbours] == [(), ("tag",)]


def test_a_file_and_a_tag_have_no_text(bank: Bank) -> None:
    for name, count in (("ghost:src/index.py", 1), ("tag:search", 2)):
        found = picture.details(bank, name)
        assert found.snippet == ""
        assert len(found.neighbours) == count
    with pytest.raises(NoteNotFound):
        picture.details(bank, "tag:nothing")


def test_many_neighbours_are_counted(
    bank: Bank, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(picture, "_NEIGHBOURS", 2)
    found = picture.details(bank, "decisions/tantivy.md")
    assert len(found.neighbours) == 2
    assert found.left_out == 3


def test_the_choices_are_the_types_and_tags_of_notes(bank: Bank) -> None:
    found = picture.choices(bank)
    assert found.types == ("decision",)
    assert found.tags == ("search", "architecture")
