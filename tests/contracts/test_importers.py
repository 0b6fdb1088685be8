"""Every importer keeps the contract of actions/importers/base.py, one of a few lines too."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank
from memory_bank.base import plugins
from memory_bank.frontends.cli.main import run
from memory_bank.memory.import_notes import PACKAGE, import_notes, list_kinds, list_summaries
from memory_bank.memory.importers.base import ImportedNote, Importer
from memory_bank.memory.records import NotImported
from memory_bank.memory.show import show
from tests.contracts.conftest import PlugIn


def claude_mem_database(file: Path, titles: list[str]) -> Path:
    """Make a database with the tables of claude-mem and an observation of each title."""
    with closing(sqlite3.connect(file)) as base:
        base.execute(
            "CREATE TABLE observations (id INTEGER PRIMARY KEY, memory_session_id TEXT,"
            " project TEXT, text TEXT, type TEXT, title TEXT, subtitle TEXT, facts TEXT,"
            " narrative TEXT, concepts TEXT, files_read TEXT, files_modified TEXT,"
            " created_at TEXT, created_at_epoch INTEGER)"
        )
        base.executemany(
            "INSERT INTO observations VALUES (NULL, 's1', 'shop', NULL, 'decision', ?, ?, ?,"
            " NULL, '[\"birds\"]', '[\"src/a.py\", \"/etc/x\"]', NULL, '2025-03-01T10:00:00Z',"
            " 1740823200000)",
            [(one, one and "Of prey", f'["{one} dives."]' if one else "[]") for one in titles],
        )
        base.commit()
    return file


@pytest.fixture(params=[name.replace("_", "-") for name in plugins.list_plugins(PACKAGE)])
def source(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, Path]:
    """Make a source of each kind, with two notes and something that can't be read."""
    kind: str = request.param
    if kind == "csv-rows":  # of the sample plug-in
        file = tmp_path / "birds.csv"
        file.write_text("title,text\nOsprey,It dives.\nMerlin,It chases.\n,No title.\n")
        return kind, file
    if kind == "mcp-memory":
        lines = [
            {"type": "entity", "name": name, "entityType": "bird", "observations": [name]}
            for name in ("osprey", "merlin")
        ]
        file = tmp_path / "memory.jsonl"
        file.write_text("\n".join([*map(json.dumps, lines), "oops"]))
        return kind, file
    if kind == "claude-mem":
        return kind, claude_mem_database(tmp_path / "claude-mem.db", ["Osprey", "Merlin", ""])
    folder = tmp_path / "source"
    folder.mkdir()
    (folder / "osprey.md").write_text("# Osprey\n\n- eats [[merlin]]\n")
    (folder / "merlin.md").write_text("---\ntitle: Merlin\n---\nIt chases.\n")
    (folder / "bird.png").write_bytes(b"\x89PNG")
    return kind, folder


def _module(kind: str) -> Importer:
    found: Importer = plugins.load(PACKAGE, kind.replace("-", "_"))  # type: ignore[assignment]
    return found


def test_says_what_it_reads_in_a_line(source: tuple[str, Path]) -> None:
    summary = _module(source[0]).SUMMARY
    assert summary
    assert "\n" not in summary
    assert not summary.endswith(".")


def test_yields_entries_of_different_keys_and_what_it_could_not_read(
    source: tuple[str, Path],
) -> None:
    found = list(_module(source[0]).read(source[1]))
    entries = [one for one in found if isinstance(one, ImportedNote)]
    unread = [one for one in found if isinstance(one, NotImported)]
    assert len({entry.key for entry in entries}) == len(entries) == 2
    assert all(entry.draft.name for entry in entries)
    assert len(unread) == 1
    assert unread[0].reason


def test_reads_the_same_each_time_and_writes_nothing(source: tuple[str, Path]) -> None:
    kind, path = source
    place = path if path.is_dir() else path.parent
    before = {file: file.stat().st_mtime_ns for file in [place, *place.rglob("*")]}
    assert list(_module(kind).read(path)) == list(_module(kind).read(path))
    assert {file: file.stat().st_mtime_ns for file in [place, *place.rglob("*")]} == before


def test_finds_its_own_kind(source: tuple[str, Path], tmp_path: Path) -> None:
    detect = getattr(_module(source[0]), "detect", None)
    assert detect is None or detect(source[1])
    assert detect is None or not detect(tmp_path / "nowhere")


def test_a_second_import_does_nothing(
    source: tuple[str, Path], folder: Path, opening: Callable[..., Bank]
) -> None:
    bank = opening(folder)
    kind, path = source
    assert import_notes(bank, kind, path, into="x").counts == {"created": 2}
    assert import_notes(bank, kind, path, into="x").counts == {"unchanged": 2}


def test_an_importer_of_one_file_is_found_listed_and_runs(
    plug_in: PlugIn,
    folder: Path,
    tmp_path: Path,
    opening: Callable[..., Bank],
    capsys: pytest.CaptureFixture[str],
) -> None:
    plug_in(PACKAGE, "csv_rows")
    table = tmp_path / "birds.csv"
    table.write_text("title,text\nOsprey,It dives.\nMerlin,It chases.\n")
    assert "csv-rows" in list_kinds()
    assert list_summaries()["csv-rows"] == "a CSV file with the columns title and text"
    assert run(["import", "-h"]) == 0
    assert "csv-rows      a CSV file with the columns title and text" in capsys.readouterr().out
    assert run(["import", "csv-rows", str(table), "--bank", str(folder)]) == 0
    assert "2 notes: 2 created" in capsys.readouterr().out
    assert show(opening(folder), "Osprey").body == "It dives.\n"
    assert run(["import", "csv-rows", str(table), "--bank", str(folder)]) == 0
    assert "2 notes: 2 unchanged" in capsys.readouterr().out
