import json
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank
from memory_bank.memory.import_notes import import_notes
from memory_bank.memory.links import links_of
from memory_bank.memory.show import show

DAVID = {
    "type": "entity",
    "name": "David Barnett",
    "entityType": "person",
    "observations": ["Speaks fluent Spanish", "Two\nlines"],
}
QUINTO = {"type": "entity", "name": "QuintoAndar", "entityType": "organization", "observations": []}
WORKS = {
    "type": "relation",
    "from": "David Barnett",
    "to": "QuintoAndar",
    "relationType": "works at",
}


@pytest.fixture
def bank(folder: Path, opening: Callable[..., Bank]) -> Bank:
    return opening(folder)


def memory(tmp_path: Path, *lines: object) -> Path:
    file = tmp_path / "memory.jsonl"
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    file.write_text("\n".join(texts), encoding="utf-8")
    return file


def test_an_entity_is_a_note_and_its_relations_are_links(bank: Bank, tmp_path: Path) -> None:
    done = import_notes(bank, "mcp-memory", memory(tmp_path, DAVID, QUINTO, WORKS), into="graph")
    assert [note.path for note in done.notes] == [
        "graph/person/david-barnett.md",
        "graph/organization/quintoandar.md",
    ]
    david = show(bank, "David Barnett")
    assert (david.meta.type, david.title, david.meta.source_type) == (
        "person",
        "David Barnett",
        "import",
    )
    assert david.body == (
        "# David Barnett\n\n- Speaks fluent Spanish\n- Two\n  lines\n\n"
        "- works_at:: [[graph/organization/quintoandar|QuintoAndar]]\n"
    )
    (link,) = links_of(bank, "David Barnett").outgoing
    assert (link.row.type, link.target) == ("works_at", "graph/organization/quintoandar.md")


def test_a_line_that_can_not_be_read_is_named(bank: Bank, tmp_path: Path) -> None:
    lost = {**WORKS, "from": "Nobody"}
    file = memory(
        tmp_path, QUINTO, "", "oops", [1], {"type": "entity", "name": "X"}, lost, "[" * 100_000
    )
    done = import_notes(bank, "mcp-memory", file, into=".")
    assert [note.key for note in done.notes] == ["QuintoAndar"]
    assert [unread.place for unread in done.unread] == [
        "line 3", "line 4", "line 5", "line 7", "line 6",
    ]  # fmt: skip
    assert done.unread[-1].reason == "a relation of 'Nobody', which is no entity"


def test_names_that_are_one_file_name_are_kept_apart(bank: Bank, tmp_path: Path) -> None:
    twin = {**QUINTO, "name": "quinto andar"}
    again = {**QUINTO, "observations": ["Rents flats"]}
    odd = {**QUINTO, "name": "a|b]]#c\nd"}
    to = {**WORKS, "from": "quinto andar", "to": "a|b]]#c\nd"}
    file = memory(tmp_path, QUINTO, {**twin, "name": "Quintoandar"}, again, twin, odd, to)
    done = import_notes(bank, "mcp-memory", file, into=".")
    assert [note.path for note in done.notes] == [
        "organization/quintoandar.md",
        "organization/quintoandar-2.md",
        "organization/quinto-andar.md",
        "organization/a-b-c-d.md",
    ]
    assert "Rents flats" in show(bank, "organization/quintoandar").body
    (link,) = links_of(bank, "organization/quinto-andar").outgoing
    assert link.target == "organization/a-b-c-d.md"


def test_what_no_note_can_hold_is_named_and_the_rest_is_imported(
    bank: Bank, tmp_path: Path
) -> None:
    half = {**QUINTO, "name": "\ud800"}
    kind = {**QUINTO, "name": "k", "entityType": "\udc00"}
    nul = {**QUINTO, "name": "nul", "observations": ["\0"]}
    dots = {**QUINTO, "name": "..", "entityType": "../.."}
    done = import_notes(
        bank, "mcp-memory", memory(tmp_path, half, kind, nul, dots, QUINTO), into="."
    )
    assert [unread.place for unread in done.unread] == ["line 1", "line 2"]
    assert [(note.key, note.action) for note in done.notes] == [
        ("nul", "refused"),
        ("..", "created"),
        ("QuintoAndar", "created"),
    ]
    assert done.notes[1].path == "note/note.md"
