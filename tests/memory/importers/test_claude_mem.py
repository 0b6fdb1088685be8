"""Observations and summaries of claude-mem become notes; its database is only read."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from memory_bank.base.errors import BadInput
from memory_bank.memory.importers import claude_mem
from memory_bank.memory.importers.base import ImportedNote
from memory_bank.memory.records import NotImported
from tests.contracts.test_importers import claude_mem_database


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return claude_mem_database(tmp_path / "claude-mem.db", ["Osprey", ""])


def test_an_observation_keeps_its_type_date_tags_and_files(database: Path) -> None:
    before = database.read_bytes()
    assert claude_mem.detect(database)
    note, empty = claude_mem.read(database)
    assert isinstance(note, ImportedNote)
    assert note.draft.content == "# Osprey\n\nOf prey\n\n- Osprey dives.\n"
    assert (note.draft.meta.type, note.draft.meta.tags) == ("decision", ("birds",))
    assert note.draft.name == "shop/observations/1-osprey"
    assert list(note.draft.meta.file_refs) == ["src/a.py"]
    assert note.draft.meta.created_at is not None
    assert note.draft.meta.created_at.isoformat() == "2025-03-01T10:00:00+00:00"
    assert note.draft.meta.extra == {"project": "shop", "memory_session_id": "s1"}
    assert empty == NotImported("observations 2", "it has no text")
    assert database.read_bytes() == before
    assert [one.name for one in database.parent.iterdir()] == ["claude-mem.db"]


def test_a_summary_has_its_parts(database: Path) -> None:
    with closing(sqlite3.connect(database)) as base:
        base.execute(
            "CREATE TABLE session_summaries (id INTEGER, project TEXT, request TEXT, learned TEXT,"
            " next_steps TEXT, created_at_epoch INTEGER)"
        )
        base.execute(
            "INSERT INTO session_summaries VALUES (7, 'shop', 'Mend it', 'Why.', 'Ship.', 1)"
        )
        base.commit()
    note = list(claude_mem.read(database))[-1]
    assert isinstance(note, ImportedNote)
    assert note.draft.name == "shop/summaries/7-mend-it"
    assert note.draft.content == (
        "# Mend it\n\n## Request\n\nMend it\n\n## Learned\n\nWhy.\n\n## Next steps\n\nShip.\n"
    )


def test_other_files_are_not_taken_for_it(tmp_path: Path, database: Path) -> None:
    (tmp_path / "text").write_text("SQLite format 3")
    (tmp_path / "damaged").write_bytes(database.read_bytes()[:4096])
    with closing(sqlite3.connect(tmp_path / "other.db")) as base:
        base.execute("CREATE TABLE observations (id INTEGER)")
    assert not any(claude_mem.detect(tmp_path / name) for name in ("text", "other.db"))
    with pytest.raises(BadInput):
        list(claude_mem.read(tmp_path / "text"))
