"""A text is replaced in every text column of every table, and the file has nothing of it."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_bank.base import sqlite
from memory_bank.base.removed_text import RemovedText

TABLES = """\
CREATE TABLE one (name TEXT PRIMARY KEY, data TEXT NOT NULL, number INTEGER, raw BLOB);
CREATE TABLE two (name TEXT, "odd column" TEXT, PRIMARY KEY (name)) WITHOUT ROWID"""
REMOVED = RemovedText("marigold")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "some.db"


@pytest.fixture
def base(file: Path) -> Iterator[sqlite3.Connection]:
    opened = sqlite.connect(file, TABLES, 1)
    opened.execute("INSERT INTO one VALUES ('a marigold', '[\"marigold\", 1]', 7, x'00ff')")
    opened.execute("INSERT INTO one VALUES ('b', 'rose', NULL, NULL)")
    opened.execute("INSERT INTO two VALUES ('marigold', 'a marigold'), ('[forgotten]', NULL)")
    yield opened
    opened.close()


def test_all_values_are_counted_and_replaced(base: sqlite3.Connection) -> None:
    assert sqlite.count(base, REMOVED) == 4
    with sqlite.transaction(base):
        assert sqlite.replace(base, REMOVED) == 4
    assert sqlite.count(base, REMOVED) == 0
    assert base.execute("SELECT * FROM one ORDER BY number DESC").fetchall() == [
        ("a [forgotten]", '["[forgotten]", 1]', 7, b"\x00\xff"),
        ("b", "rose", None, None),
    ]
    assert base.execute("SELECT * FROM two").fetchall() == [("[forgotten]", "a [forgotten]")]


def test_the_file_has_nothing_of_it_afterwards(base: sqlite3.Connection, file: Path) -> None:
    with sqlite.transaction(base):
        sqlite.replace(base, REMOVED)
    files = [file, file.with_name("some.db-wal")]
    assert b"marigold" in b"".join(one.read_bytes() for one in files)
    assert sqlite.scrub(base)
    assert b"marigold" not in b"".join(one.read_bytes() for one in files)


def test_a_reader_of_the_log_is_told(
    base: sqlite3.Connection, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "SCRUB_SECONDS", 0.1)
    reader = sqlite3.connect(file, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM one").fetchall()
    assert not sqlite.scrub(base)
    reader.close()
    assert sqlite.scrub(base)
