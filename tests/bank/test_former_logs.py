"""The three files of older versions become tables of `state.db`: each row once, whatever happens."""

import itertools
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from subprocess import PIPE

import pytest

from memory_bank.bank.bank_state import BankState
from memory_bank.search.retrievers.base import Access
from tests.support import forked

COUNTS = "(note TEXT PRIMARY KEY, count INTEGER NOT NULL, last REAL NOT NULL) WITHOUT ROWID"

WRITES = (
    "CREATE TABLE writes (note TEXT NOT NULL, agent TEXT NOT NULL, time REAL NOT NULL,"
    " PRIMARY KEY (note, time, agent)) WITHOUT ROWID"
)

HEADS = (
    "CREATE TABLE heads (etag TEXT PRIMARY KEY, head TEXT NOT NULL, time REAL NOT NULL)"
    " WITHOUT ROWID"
)

FORMER = {
    "access.db": (
        f"CREATE TABLE accesses {COUNTS}",
        f"CREATE TABLE openings {COUNTS}",
        "INSERT INTO accesses VALUES ('a', 5, 10.0)",
        "INSERT INTO openings VALUES ('a', 2, 20.0)",
    ),
    "edits.db": (
        WRITES,
        "INSERT INTO writes VALUES ('a', 'codex', 1.0)",
    ),
    "updates.db": (
        "CREATE TABLE updates (note TEXT PRIMARY KEY, last REAL NOT NULL) WITHOUT ROWID",
        HEADS,
        "INSERT INTO updates VALUES ('a', 30.0)",
        "INSERT INTO heads VALUES ('e1', 'c0ffee', 1.0)",
    ),
}
"""What the commit 1235ea94 made and wrote."""

OPENS = """
import sys
from pathlib import Path
from memory_bank.bank.bank_state import BankState

sys.stdin.readline()
BankState(Path(sys.argv[1])).count_returned(["a"], 1.0)
"""

DIES = """
import os, sqlite3, sys
from pathlib import Path
from memory_bank.bank.bank_state import BankState

left = int(sys.argv[2])

def step(*_):
    global left
    left -= 1
    if not left:
        os._exit(9)

def connect(*words, **options):
    base = connecting(*words, **options)
    base.set_trace_callback(step)
    return base

def unlink(file, **options):
    step()
    unlinking(file, **options)

connecting, sqlite3.connect = sqlite3.connect, connect
unlinking, Path.unlink = Path.unlink, unlink
BankState(Path(sys.argv[1]))
"""


def write_former(folder: Path, *names: str) -> None:
    folder.mkdir(exist_ok=True)
    for name in names or FORMER:
        with closing(sqlite3.connect(folder / name, isolation_level=None)) as base:
            base.execute("PRAGMA journal_mode = WAL")
            for statement in (*FORMER[name], "PRAGMA user_version = 1"):
                base.execute(statement)


def records(folder: Path) -> tuple[object, ...]:
    state = BankState(folder)
    accesses, writers = state.accesses(["a"]), state.writers(["a"])
    answer = accesses.get("a"), writers.get("a"), dict(state.updates()), state.head("e1")
    state.close()
    return answer


ALL = (Access(5, 10.0, 2, 20.0), ("codex",), {"a": 30.0}, "c0ffee")


def test_their_rows_are_taken_over_and_the_files_removed(tmp_path: Path) -> None:
    write_former(tmp_path)
    assert [records(tmp_path) for _ in range(2)] == [ALL, ALL]
    assert [file.name for file in tmp_path.iterdir()] == ["state.db"]


def test_what_an_older_version_writes_later_is_added(tmp_path: Path) -> None:
    write_former(tmp_path)
    state = BankState(tmp_path)
    state.count_returned(["a"], 40.0)
    state.close()
    write_former(tmp_path)
    assert records(tmp_path) == (Access(11, 40.0, 4, 20.0), *ALL[1:])
    assert [file.name for file in tmp_path.iterdir()] == ["state.db"]


def test_an_older_version_that_has_a_file_open_hinders_nothing(tmp_path: Path) -> None:
    write_former(tmp_path)
    with closing(sqlite3.connect(tmp_path / "access.db", isolation_level=None)) as base:
        base.execute("UPDATE accesses SET count = count + 1")  # in the log beside the file
        assert records(tmp_path) == (Access(6, 10.0, 2, 20.0), *ALL[1:])
        assert base.execute("SELECT count(*) FROM accesses").fetchall() == [(0,)]
    assert not list(tmp_path.glob("access.db*"))


def test_the_first_and_last_change_of_a_still_older_version_are_taken_over(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "edits.db", isolation_level=None)) as base:
        base.execute("CREATE TABLE edits (note TEXT, agent TEXT, first REAL, last REAL)")
        base.execute("INSERT INTO edits VALUES ('a', 'codex', 1.0, 3.0)")
        base.execute("PRAGMA user_version = 1")
    assert BankState(tmp_path).write_times(["a"]) == ((1.0, "codex"), (3.0, "codex"))


@pytest.mark.parametrize("data", [b"garbage" * 3000, b"", b"SQLite format 3\0" + b"\xff" * 9000])
def test_a_damaged_one_is_set_aside_and_told(tmp_path: Path, data: bytes) -> None:
    write_former(tmp_path)
    (tmp_path / "access.db").write_bytes(data)
    repaired: list[str] = []
    BankState(tmp_path, repaired.append).close()
    assert repaired == ["accesses"]
    assert records(tmp_path) == (None, *ALL[1:])
    assert {file.name for file in tmp_path.iterdir()} == {"state.db", "access.db.damaged"}
    assert (tmp_path / "access.db.damaged").read_bytes() == data


def test_damage_to_the_new_file_loses_no_row_of_a_former_one(tmp_path: Path) -> None:
    write_former(tmp_path)
    (tmp_path / "state.db").write_bytes(b"garbage" * 3000)
    assert records(tmp_path) == ALL
    assert not list(tmp_path.glob("*.damaged-2")), "it is set aside once"


def test_processes_that_open_it_at_once_take_each_row_over_once(tmp_path: Path) -> None:
    write_former(tmp_path)
    command = [sys.executable, "-c", OPENS, str(tmp_path)]
    processes = [forked.Popen(command, stdin=PIPE) for _ in range(6)]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write(b"go\n")
        process.stdin.flush()
    for process in processes:
        process.communicate(timeout=60)
        assert process.returncode == 0
    assert records(tmp_path) == (Access(11, 10.0, 2, 20.0), *ALL[1:])
    assert not list(tmp_path.glob("*.damaged*"))


@pytest.mark.slow
def test_a_crash_at_any_step_loses_no_row_and_counts_none_twice(tmp_path: Path) -> None:
    for number in itertools.count(1):
        folder = tmp_path / str(number)
        write_former(folder)
        words = [sys.executable, "-c", DIES, str(folder), str(number)]
        status = forked.run(words).returncode
        assert records(folder) == ALL, f"after step {number}"
        assert [file.name for file in folder.iterdir()] == ["state.db"], f"after step {number}"
        if status == 0:
            break
    assert number > 40, "it is killed within each of the three files"
