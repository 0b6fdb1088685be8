import os
import shutil
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank
from memory_bank.bank.logs import MOST, AccessLog
from memory_bank.memory.move_and_merge import rename
from memory_bank.memory.remember import remember
from memory_bank.memory.retrieval.recall import recall
from memory_bank.memory.show import show
from memory_bank.search.retrievers.base import Access


@pytest.fixture
def log(tmp_path: Path) -> AccessLog:
    return AccessLog(tmp_path / "state")


def test_accesses_are_counted(log: AccessLog) -> None:
    assert log.of(["a"]) == {}
    assert log.add(["a", "b"], 10.0) == ""
    assert log.add(["a"], 20.0) == ""
    assert log.add(["a"], 15.0) == ""
    assert log.of(["a", "b", "c"]) == {"a": Access(3, 20.0), "b": Access(1, 10.0)}
    assert log.of(f"n{number}" for number in range(2000)) == {}


def test_threads_share_one_connection(log: AccessLog, monkeypatch: pytest.MonkeyPatch) -> None:
    assert log.add(["a"], 10.0) == ""
    log.close()
    made: list[object] = []
    connect = log._connect

    def slowly() -> object:
        made.append(None)
        time.sleep(0.1)
        return connect()

    monkeypatch.setattr(log, "_connect", slowly)
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(log.of, [["a"]] * 4)) == [{"a": Access(1, 10.0)}] * 4
    assert len(made) == 1


def test_a_count_stops_at_the_largest_integer(log: AccessLog) -> None:
    log.add(["a", "b"], 1.0)
    base = log.opened()
    base.execute("UPDATE accesses SET count = ? WHERE note = 'a'", (MOST - 1,))
    base.execute("UPDATE accesses SET count = 9.223372036854776e18 WHERE note = 'b'")
    for _ in range(3):
        log.add(["a", "b"], 2.0)
        found = log.of(["a", "b"])
        assert found == {"a": Access(MOST, 2.0), "b": Access(MOST, 2.0)}
        assert {type(access.times) for access in found.values()} == {int}


def test_looking_makes_no_file(log: AccessLog, tmp_path: Path) -> None:
    log.of(["a"])
    assert log.rename("a", "b") == ""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
def test_the_folder_is_the_users_alone(log: AccessLog, tmp_path: Path) -> None:
    log.add(["a"], 1.0)
    assert (tmp_path / "state").stat().st_mode & 0o077 == 0


def test_counts_follow_a_new_name(log: AccessLog) -> None:
    log.add(["a", "a", "b"], 1.0)
    log.rename("a", "b")
    assert log.of(["a", "b"]) == {"b": Access(2, 1.0)}


def test_two_logs_lose_no_count(log: AccessLog, tmp_path: Path) -> None:
    others = [AccessLog(tmp_path / "state") for _ in range(4)]

    def count(other: AccessLog) -> None:
        for _ in range(25):
            assert other.add(["a"], 1.0) == ""

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(count, others))
    assert log.of(["a"]) == {"a": Access(100, 1.0)}


DAMAGE = [b"garbage" * 3000, b"", b"SQLite format 3\0" + b"\xff" * 9000]


def damage(tmp_path: Path, data: bytes) -> Path:
    file = tmp_path / "state/access.db"
    (tmp_path / "new").write_bytes(data)
    (tmp_path / "new").replace(file)
    return file


@pytest.mark.parametrize("data", DAMAGE)
def test_a_damaged_log_is_set_aside_and_counting_goes_on(
    log: AccessLog, tmp_path: Path, data: bytes
) -> None:
    """It can't be made again, so its bytes are kept for who may want to save them."""
    log.add(["a"], 1.0)
    log.close()
    file = damage(tmp_path, data)
    assert log.of(["a"]) == {}
    assert log.add(["a"], 2.0) == ""
    assert log.of(["a"]) == {"a": Access(1, 2.0)}
    aside = file.with_name("access.db.damaged")
    assert not data or aside.read_bytes() == data


@pytest.mark.parametrize("data", DAMAGE)
def test_damage_to_an_open_log_stops_no_counting(
    log: AccessLog, tmp_path: Path, data: bytes
) -> None:
    """What is in SQLite's journal beside it may survive."""
    log.add(["a"], 1.0)
    damage(tmp_path, data)
    before = log.of(["a"]).get("a", Access()).times
    assert log.add(["a"], 2.0) == ""
    assert log.of(["a"]) == {"a": Access(before + 1, 2.0)}


def test_a_log_that_was_deleted_is_begun_anew(log: AccessLog, tmp_path: Path) -> None:
    log.add(["a"], 1.0)
    shutil.rmtree(tmp_path / "state")
    assert log.add(["b"], 2.0) == ""
    assert AccessLog(tmp_path / "state").of(["a", "b"]) == {"b": Access(1, 2.0)}


def test_what_can_not_be_counted_is_said_not_raised(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file where the folder should be")
    log = AccessLog(tmp_path / "state")
    assert log.of(["a"]) == {}
    assert log.add(["a"], 1.0).startswith("accesses are not counted: ")


def test_answers_and_changes_do_not_fail_for_the_log(
    folder: Path, opening: Callable[..., Bank], private_folders: Path
) -> None:
    (private_folders / "state").write_text("a file where the folder should be")
    (folder / "a.md").write_text("kestrel")
    bank = opening(folder)
    answer = recall(bank, "kestrel")
    assert answer.result_count == 1
    assert answer.problem is not None
    assert "accesses are not counted" in answer.problem
    first = remember(bank, "An osprey dives.", name="b")
    assert remember(bank, "An osprey dives.").action == "updated_existing"
    assert rename(bank, "a", "c").path == "c.md"
    assert show(bank, first.path).access_count == 0


def test_counts_are_private_and_never_in_a_note(
    folder: Path, opening: Callable[..., Bank], private_folders: Path
) -> None:
    (folder / "a.md").write_text("kestrel")
    bank = opening(folder)
    for count in range(3):
        assert recall(bank, "kestrel").notes[0].access_count == count
    assert recall(bank, "kestrel", count_access=False).notes[0].access_count == 3
    assert recall(bank, "kestrel", count_access=False).notes[0].access_count == 3
    assert (folder / "a.md").read_text() == "kestrel"
    assert list(private_folders.rglob("access.db"))
    assert not list(folder.rglob("access.db*"))


def test_counts_go_with_a_note_that_is_renamed(folder: Path, opening: Callable[..., Bank]) -> None:
    (folder / "a.md").write_text("kestrel")
    bank = opening(folder)
    recall(bank, "kestrel")
    rename(bank, "a", "deep/b")
    assert show(bank, "deep/b").access_count == 1
