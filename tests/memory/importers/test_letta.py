"""Memory blocks of Letta's agents become notes, in each form in which it exported them."""

import json
from pathlib import Path

import pytest

from memory_bank.base.errors import BadInput
from memory_bank.memory.importers import letta
from memory_bank.memory.importers.base import ImportedNote
from memory_bank.memory.records import NotImported


def agent_file(file: Path, *blocks: object, twice: bool = False) -> Path:
    """Make a file of two agents that share the first block; the last block is of no agent."""
    named = [{"id": f"block-{at}", **one} for at, one in enumerate(blocks) if isinstance(one, dict)]
    ids = [one["id"] for one in named]
    agents = [
        {"name": "Void Watcher", "block_ids": ids[:-1]},
        {"name": "Other", "block_ids": [*ids[:1], 3]},
    ]
    document = {"agents": agents, "blocks": [*named, "odd"], "created_at": "2026-01-22T00:40:22Z"}
    text = json.dumps(document)
    file.write_text(json.dumps(text) if twice else text)
    return file


BLOCKS = (
    {"label": "system/human_facts", "value": "\nLikes tea.\n", "description": "Who asks",
     "tags": ["people", 3]},
    {"label": "notes", "value": "# Kept notes\n\nOne."},
    {"label": "notes", "value": "Again."},
    {"label": "plans", "value": " "},
    {"label": "loose", "value": "Of no agent."},
)  # fmt: skip


@pytest.mark.parametrize("twice", [False, True])
def test_each_block_is_a_note_below_its_first_agent(tmp_path: Path, *, twice: bool) -> None:
    file = agent_file(tmp_path / "void.af", *BLOCKS, twice=twice)
    assert letta.detect(file)
    human, notes, again, plans, loose = letta.read(file)
    assert isinstance(human, ImportedNote)
    assert (human.item.name, human.item.title) == ("void-watcher/system/human-facts", "human facts")
    assert human.item.content == "# human facts\n\nLikes tea.\n"
    assert human.item.extra == {"label": "system/human_facts", "description": "Who asks"}
    assert human.item.tags == ("people",)
    assert isinstance(notes, ImportedNote)
    assert notes.item.content == "# Kept notes\n\nOne.\n"
    assert isinstance(again, ImportedNote)
    assert (again.key, again.item.name) == ("Void Watcher/notes 2", "void-watcher/notes-2")
    assert plans == NotImported("Void Watcher/plans", "it has no text")
    assert isinstance(loose, ImportedNote)
    assert loose.item.name == "loose"


def test_an_older_file_has_the_core_memory_of_one_agent(tmp_path: Path) -> None:
    block = {
        "label": "persona", "value": "I am Sam.",
        "created_at": "2025-03-24T02:59:06+00:00", "updated_at": "2025-03-25T02:59:06+00:00",
    }  # fmt: skip
    file = tmp_path / "sam.af"
    file.write_text(json.dumps({"name": "sam", "core_memory": [block]}))
    (note,) = letta.read(file)
    assert isinstance(note, ImportedNote)
    assert note.item.name == "sam/persona"
    assert note.item.created_at is not None
    assert note.item.updated_at is not None
    assert (note.item.created_at.day, note.item.updated_at.day) == (24, 25)


def test_other_files_are_not_taken_for_it(tmp_path: Path) -> None:
    for name, text in {"a.af": "[]", "b.af": "oops", "c.json": '{"core_memory": []}',
                       "d.af": '{"core_memory": "\\ud800"}', "e.af": "[" * 100_000}.items():  # fmt: skip
        (tmp_path / name).write_text(text)
        assert not letta.detect(tmp_path / name)
    with pytest.raises(BadInput, match="no agents"):
        list(letta.read(tmp_path / "a.af"))
    with pytest.raises(BadInput, match="no JSON"):
        list(letta.read(tmp_path / "b.af"))
