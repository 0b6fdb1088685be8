from collections.abc import Callable
from pathlib import Path

import pytest

from memory_bank.bank import open_index
from memory_bank.bank.bank import Bank
from memory_bank.base.documents import Section
from memory_bank.search.manifest import document_rows, link_rows
from memory_bank.search.retrievers.base import Scope
from tests.search.views import view_of
from tests.support.files import write_files


@pytest.fixture
def bank(folder: Path, opening: Callable[..., Bank]) -> Bank:
    notes = {
        "a.md": "---\nid: one\ntags: [x, y]\ntype: fact\ncreated: 2026-01-01\n---\n# A\n\n## Deep\n\nt",
        "b.md": "---\nid: one\ntags: [x]\ncreated: 2026-01-03\n---\nsupersedes:: [[a]] and [[src/x.py]]",
        "c.md": "---\nstatus: archived\nupdated: 2026-01-05\ncreated: 2020-01-01\n---\n[[b]]",
        "empty.md": "",
        "broken.md": "\0",
    }
    write_files(folder, notes)
    opened = opening(folder)
    opened.catch_up()
    return opened


def number(bank: Bank, path: str) -> int:
    found = open_index.note_at(view_of(bank).manifest, path)
    assert found is not None
    return found.number


def test_a_note_is_told_whole(bank: Bank) -> None:
    note = open_index.note_at(view_of(bank).manifest, "a.md")
    assert note is not None
    assert (note.id, note.known_as, note.type, note.title, set(note.tags)) == (
        "one", "one", "fact", "A", {"x", "y"},
    )  # fmt: skip
    assert (
        open_index.note_of(
            document_rows.read_documents(view_of(bank).manifest, [note.number])[note.number]
        )
        == note
    )
    assert open_index.note_at(view_of(bank).manifest, "empty.md").known_as == "empty.md"  # type: ignore[union-attr]
    assert open_index.note_at(view_of(bank).manifest, "broken.md") is None
    assert open_index.note_at(view_of(bank).manifest, "nothing.md") is None


def test_the_newest_come_first_and_only_those_in_scope(bank: Bank) -> None:
    base = view_of(bank).manifest
    assert [note.path for note in open_index.newest_notes(base, Scope(), 3)] == [
        "empty.md",
        "c.md",
        "b.md",
    ]
    only = Scope(only=frozenset([number(bank, "a.md"), number(bank, "c.md")]))
    assert [note.path for note in open_index.newest_notes(base, only, 10)] == ["c.md", "a.md"]


def test_the_same_id_twice_is_told(bank: Bank) -> None:
    assert document_rows.same_ids(view_of(bank).manifest) == [("one", ("a.md", "b.md"))]


def test_a_superseded_note_knows_its_successor(bank: Bank) -> None:
    a, b = number(bank, "a.md"), number(bank, "b.md")
    assert link_rows.map_superseded(view_of(bank).manifest, [a, b]) == {a: (b, "b.md")}


def test_of_several_that_supersede_a_note_the_newest_is_named(
    folder: Path, opening: Callable[..., Bank]
) -> None:
    for name, day in (("x", 1), ("b", 9), ("a", 9)):
        head = f"---\ncreated_at: 2026-01-0{day}\n---\n"
        (folder / f"{name}.md").write_text(f"{head}supersedes:: [[old]]\n", encoding="utf-8")
    (folder / "old.md").write_text("# Old\n", encoding="utf-8")
    bank = opening(folder)
    bank.catch_up()
    old, a = number(bank, "old.md"), number(bank, "a.md")
    assert link_rows.map_superseded(view_of(bank).manifest, [old]) == {old: (a, "a.md")}


def test_counts_are_those_of_live_notes(bank: Bank) -> None:
    base = view_of(bank).manifest
    assert document_rows.count_values(base, "tag") == {"x": 2, "y": 1}
    assert document_rows.data_counts(base, "type")["fact"] == 1
    live, _, archived, passages = document_rows.count_totals(base)
    assert (live, archived, passages) == (4, 1, 5)


def test_passages_have_their_place_and_section(bank: Bank) -> None:
    base = view_of(bank).manifest
    a, empty = number(bank, "a.md"), number(bank, "empty.md")
    rows = [row for (row,) in base.execute("SELECT row FROM passages WHERE document = ?", (a,))]
    found = document_rows.read_passages(base, rows)
    assert set(found) == set(rows)
    assert Section(9, 12, ("A", "Deep")) in {place.section for place in found.values()}
    first = document_rows.first_passages(base, [a, empty])
    assert first[a].row == min(rows)
    assert first[empty].section == Section(1, 1, ())


def test_the_link_table_is_read_both_ways(bank: Bank) -> None:
    base = view_of(bank).manifest
    out = link_rows.read_outgoing(base, number(bank, "b.md"))
    assert [(row.dest_key, row.ghost, row.type) for row in out] == [
        ("a.md", "", "supersedes"),
        ("", "src/x.py", "supersedes"),
    ]
    assert [row.source_key for row in link_rows.read_incoming(base, number(bank, "b.md"))] == [
        "c.md"
    ]
    assert [row.source_key for row in link_rows.find_to_ghost(base, "SRC/x.py")] == ["b.md"]
    assert link_rows.list_edges(base) == [
        ("b.md", "a.md", "", "wiki", "supersedes"),
        ("b.md", None, "src/x.py", "wiki", "supersedes"),
        ("c.md", "b.md", "", "wiki", "related_to"),
    ]
    headings, _ = link_rows.read_anchors(base, [number(bank, "a.md")])
    assert headings == {(number(bank, "a.md"), "a"), (number(bank, "a.md"), "deep")}
