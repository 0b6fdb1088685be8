import os
import shutil
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from memory_bank.base import sqlite
from memory_bank.base.errors import Busy, IndexDamaged, StorageFailed

TABLES = "CREATE TABLE a (x INTEGER PRIMARY KEY, y TEXT);\nCREATE INDEX a_y ON a (y)"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "x.db"


def test_tables_are_made_once(file: Path) -> None:
    with sqlite.transaction(base := sqlite.connect(file, TABLES, 3)):
        base.execute("INSERT INTO a VALUES (1, 'one')")
    base.close()
    base = sqlite.connect(file, TABLES, 3)
    assert base.execute("SELECT * FROM a").fetchall() == [(1, "one")]
    assert base.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    base.close()


def test_who_opens_an_empty_database_beside_a_stale_log_is_not_alone(tmp_path: Path) -> None:
    """SQLite removes the log that another database left, and fails where another one just did."""
    gate = threading.Barrier(4)

    def opened(file: Path) -> int:
        gate.wait(60)
        base = sqlite.connect(file, TABLES, 3)
        (version,) = base.execute("PRAGMA user_version").fetchone()
        base.close()
        return int(version)

    with ThreadPoolExecutor(4) as threads:
        for number in range(40):
            file = tmp_path / f"{number}.db"
            file.touch()
            file.with_name(f"{file.name}-wal").write_bytes(b"of another database")
            assert list(threads.map(opened, [file] * 4)) == [3] * 4


def test_another_version_is_damage_not_data(file: Path) -> None:
    sqlite.connect(file, TABLES, 1).close()
    with pytest.raises(IndexDamaged, match="version 1, not 2"):
        sqlite.connect(file, TABLES, 2)


@pytest.mark.parametrize("data", [b"garbage" * 1000, b"SQLite format 3\0" + b"x" * 5000])
def test_a_file_that_is_no_database_is_damage(file: Path, data: bytes) -> None:
    file.write_bytes(data)
    with pytest.raises(IndexDamaged):
        sqlite.connect(file, TABLES, 1)


def test_a_folder_that_is_gone_is_damage(file: Path) -> None:
    with pytest.raises(IndexDamaged, match="gone"):
        sqlite.connect(file / "below" / "x.db", TABLES, 1)


def test_a_database_whose_folder_was_deleted_is_damage(file: Path) -> None:
    folder = file.parent / "index"
    folder.mkdir()
    base = sqlite.connect(folder / "x.db", TABLES, 1)
    base.execute("PRAGMA journal_mode = DELETE")
    shutil.rmtree(folder)
    with pytest.raises(IndexDamaged), sqlite.convert_errors(folder / "x.db"):
        base.execute("INSERT INTO a VALUES (1, 'one')")
    base.close()


def test_a_place_that_can_not_be_written_is_storage(file: Path) -> None:
    file.mkdir()
    with pytest.raises(StorageFailed):
        sqlite.connect(file, TABLES, 1)


def test_a_transaction_is_whole_or_nothing(file: Path) -> None:
    base = sqlite.connect(file, TABLES, 1)
    with pytest.raises(KeyError), sqlite.transaction(base):
        base.execute("INSERT INTO a VALUES (1, 'one')")
        raise KeyError
    assert base.execute("SELECT count(*) FROM a").fetchone() == (0,)
    assert not base.in_transaction
    base.close()


@pytest.mark.parametrize(
    ("message", "error"),
    [
        ("database disk image is malformed", IndexDamaged),
        ("no such table: notes", IndexDamaged),
        ("Could not decode to UTF-8 column 'title' with text 'x'", IndexDamaged),
        ("database is locked", Busy),
        ("database or disk is full", StorageFailed),
        ("disk I/O error", StorageFailed),
        ("attempt to write a readonly database", StorageFailed),
    ],
)
def test_errors_become_ours(file: Path, message: str, error: type[Exception]) -> None:
    with pytest.raises(error, match=r"x\.db"), sqlite.convert_errors(file):
        raise sqlite3.OperationalError(message)


def test_text_that_is_not_utf8_is_damage(file: Path) -> None:
    base = sqlite.connect(file, TABLES, 1)
    base.execute("INSERT INTO a VALUES (1, CAST(x'ff' AS TEXT))")
    with pytest.raises(IndexDamaged), sqlite.convert_errors(file):
        base.execute("SELECT * FROM a").fetchall()
    base.close()


def test_a_reader_does_not_wait_for_a_writer(file: Path) -> None:
    writer, reader = (sqlite.connect(file, TABLES, 1) for _ in range(2))
    with sqlite.transaction(writer):
        writer.execute("INSERT INTO a VALUES (1, 'one')")
        assert reader.execute("SELECT count(*) FROM a").fetchone() == (0,)
        sqlite.connect(file, TABLES, 1).close()
    assert reader.execute("SELECT count(*) FROM a").fetchone() == (1,)
    writer.close()
    reader.close()


def test_many_may_open_a_new_database_at_once(tmp_path: Path) -> None:
    ready = threading.Barrier(8)

    def connect(file: Path) -> object:
        ready.wait(60)
        base = sqlite.connect(file, TABLES, 1)
        found = base.execute("SELECT count(*) FROM a").fetchone()
        base.close()
        return found

    with ThreadPoolExecutor(8) as threads:
        for number in range(20):
            file = tmp_path / f"{number}.db"
            assert list(threads.map(connect, [file] * 8)) == [(0,)] * 8


def test_one_that_another_process_made_and_writes_to_is_not_taken_for_empty(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "_MAKING_SECONDS", 0.1)
    writers: list[sqlite3.Connection] = []
    switch = sqlite._switch_to_wal

    def late(base: sqlite3.Connection) -> None:
        switch(base)
        monkeypatch.setattr(sqlite, "_switch_to_wal", switch)
        writers.append(sqlite.connect(file, TABLES, 1))
        writers[0].execute("BEGIN IMMEDIATE")

    monkeypatch.setattr(sqlite, "_switch_to_wal", late)
    base = sqlite.connect(file, TABLES, 1)
    assert base.execute("SELECT count(*) FROM a").fetchone() == (0,)
    assert base.execute("PRAGMA busy_timeout").fetchone() == (30_000,)
    writers[0].close()
    base.close()


def test_any_number_of_values_can_be_asked_for(file: Path) -> None:
    base = sqlite.connect(file, TABLES, 1)
    base.executemany("INSERT INTO a VALUES (?, 'x')", ((n,) for n in range(5000)))
    sql = "SELECT x FROM a WHERE x IN ({})"
    assert sorted(x for (x,) in sqlite.execute_chunked(base, sql, range(-10, 4000))) == list(
        range(4000)
    )
    assert list(sqlite.execute_chunked(base, sql, [])) == []
    base.close()


def test_a_replaced_file_is_another_one(file: Path) -> None:
    assert sqlite.file_identity(file) is None
    file.write_bytes(b"a")
    first = sqlite.file_identity(file)
    file.write_bytes(b"b")
    assert sqlite.file_identity(file) == first
    other = file.with_name("other")
    other.write_bytes(b"c")
    os.replace(other, file)
    assert sqlite.file_identity(file) != first


def test_discarding_removes_what_sqlite_keeps_beside(file: Path) -> None:
    base = sqlite.connect(file, TABLES, 1)
    base.execute("INSERT INTO a VALUES (1, 'x')")
    assert len(list(file.parent.iterdir())) == 3
    sqlite.discard(file)
    sqlite.discard(file)
    assert list(file.parent.iterdir()) == []
    base.close()


def test_what_is_not_to_be_made_is_not_made(tmp_path: Path) -> None:
    file = tmp_path / "a b%20ä?.db"
    with pytest.raises(IndexDamaged, match="missing"):
        sqlite.connect(file, TABLES, 1, make=False)
    assert not file.exists()
    file.touch()
    with pytest.raises(IndexDamaged, match="version 0"):
        sqlite.connect(file, TABLES, 1, make=False)
    assert file.stat().st_size == 0
    file.unlink()
    sqlite.connect(file, TABLES, 1).close()
    sqlite.connect(file, TABLES, 1, make=False).close()
    assert [found.name for found in tmp_path.iterdir()] == [file.name]
