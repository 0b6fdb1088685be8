import os
import shutil
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank
from memory_bank.bank.bank_state import MOST, BankState
from memory_bank.memory.move_and_merge import rename
from memory_bank.memory.remember import remember
from memory_bank.memory.retrieval.recall import recall
from memory_bank.memory.show import show
from memory_bank.search.retrievers.base import Access


@pytest.fixture
def state(tmp_path: Path) -> BankState:
    return BankState(tmp_path / "state")


def test_accesses_are_counted(state: BankState) -> None:
    assert state.accesses(["a"]) == {}
    assert state.count_returned(["a", "b"], 10.0) == ""
    assert state.count_returned(["a"], 20.0) == ""
    assert state.count_returned(["a"], 15.0) == ""
    assert state.accesses(["a", "b", "c"]) == {"a": Access(3, 20.0), "b": Access(1, 10.0)}
    assert state.accesses(f"n{number}" for number in range(2000)) == {}


def test_threads_share_one_connection(state: BankState, monkeypatch: pytest.MonkeyPatch) -> None:
    assert state.count_returned(["a"], 10.0) == ""
    state.close()
    made: list[object] = []
    connect = state._connect

    def slowly() -> object:
        made.append(None)
        time.sleep(0.1)
        return connect()

    monkeypatch.setattr(state, "_connect", slowly)
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(state.accesses, [["a"]] * 4)) == [{"a": Access(1, 10.0)}] * 4
    assert len(made) == 1


def test_a_count_stops_at_the_largest_integer(state: BankState) -> None:
    state.count_returned(["a", "b"], 1.0)
    base = state.opened()
    base.execute("UPDATE accesses SET count = ? WHERE note = 'a'", (MOST - 1,))
    base.execute("UPDATE accesses SET count = 9.223372036854776e18 WHERE note = 'b'")
    for _ in range(3):
        state.count_returned(["a", "b"], 2.0)
        accesses = state.accesses(["a", "b"])
        assert accesses == {"a": Access(MOST, 2.0), "b": Access(MOST, 2.0)}
        assert {type(access.times) for access in accesses.values()} == {int}


def test_looking_makes_no_file(state: BankState, tmp_path: Path) -> None:
    state.accesses(["a"])
    assert state.rename("a", "b") == ""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
def test_the_folder_is_the_users_alone(state: BankState, tmp_path: Path) -> None:
    state.count_returned(["a"], 1.0)
    assert (tmp_path / "state").stat().st_mode & 0o077 == 0


def test_counts_follow_a_new_name(state: BankState) -> None:
    state.count_returned(["a", "a", "b"], 1.0)
    state.rename("a", "b")
    assert state.accesses(["a", "b"]) == {"b": Access(2, 1.0)}


def test_agents_are_named_in_the_order_of_their_first_change(state: BankState) -> None:
    assert state.writers(["a"]) == {}
    for agent, when in (("zed", 1.0), ("codex", 2.0), ("zed", 3.0)):
        assert state.add_writes(["a", "b"], agent, when) == ""
    state.add_writes(["b"], "early", 0.5)
    writers = state.writers(["a", "b", "c"])
    assert writers == {"a": ("zed", "codex"), "b": ("early", "zed", "codex")}
    assert state.write_times(["a"]) == ((1.0, "zed"), (2.0, "codex"), (3.0, "zed"))


def test_a_merged_note_has_the_agents_of_those_that_it_was_made_of(state: BankState) -> None:
    assert state.inherit_writes("c", ["a"]) == ""
    assert not state.file.exists()
    state.add_writes(["a"], "codex", 1.0)
    state.add_writes(["b"], "zed", 2.0)
    assert state.inherit_writes("c", ["a", "b", "none"]) == ""
    assert state.writers(["c"]) == {"c": ("codex", "zed")}


def test_the_latest_update_counts(state: BankState) -> None:
    for when in (20.0, 10.0):
        assert state.add_update("a.md", when) == ""
    assert state.updates() == {"a.md": 20.0}


def test_all_that_is_recorded_of_a_note_follows_its_name_and_is_forgotten(state: BankState) -> None:
    def records(note: str) -> tuple[object, ...]:
        accesses, writers = state.accesses([note]), state.writers([note])
        return accesses.get(note), writers.get(note), state.updates().get(note)

    state.count_returned(["a"], 1.0)
    state.count_opened(["a"], 2.0)
    state.add_writes(["a"], "codex", 3.0)
    state.add_update("a", 4.0)
    recorded = (Access(1, 1.0, 1, 2.0), ("codex",), 4.0)
    assert records("a") == recorded
    assert state.rename("a", "b") == ""
    assert (records("a"), records("b")) == ((None, None, None), recorded)
    assert state.forget(["b"]) == ""
    assert records("b") == (None, None, None)


def test_two_of_a_folder_lose_no_count(state: BankState, tmp_path: Path) -> None:
    others = [BankState(tmp_path / "state") for _ in range(4)]

    def count(other: BankState) -> None:
        for _ in range(25):
            assert other.count_returned(["a"], 1.0) == ""

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(count, others))
    assert state.accesses(["a"]) == {"a": Access(100, 1.0)}


DAMAGE = [b"garbage" * 3000, b"", b"SQLite format 3\0" + b"\xff" * 9000]


def damage(tmp_path: Path, data: bytes) -> Path:
    file = tmp_path / "state/state.db"
    (tmp_path / "new").write_bytes(data)
    (tmp_path / "new").replace(file)
    return file


@pytest.mark.parametrize("data", DAMAGE)
def test_a_damaged_log_is_set_aside_and_counting_goes_on(
    state: BankState, tmp_path: Path, data: bytes
) -> None:
    """It can't be made again, so its bytes are kept for who may want to save them."""
    state.count_returned(["a"], 1.0)
    state.close()
    file = damage(tmp_path, data)
    repaired: list[str] = []
    state = BankState(tmp_path / "state", repaired.append)
    assert state.accesses(["a"]) == {}
    assert state.count_returned(["a"], 2.0) == ""
    assert state.accesses(["a"]) == {"a": Access(1, 2.0)}
    aside = file.with_name("state.db.damaged")
    assert not data or aside.read_bytes() == data
    assert repaired == ([f"accesses and edits; the damaged one is {aside}"] if data else [])


@pytest.mark.parametrize("data", DAMAGE)
def test_damage_to_an_open_log_stops_no_counting(
    state: BankState, tmp_path: Path, data: bytes
) -> None:
    """What is in SQLite's journal beside it may survive."""
    state.count_returned(["a"], 1.0)
    damage(tmp_path, data)
    before = state.accesses(["a"]).get("a", Access()).times
    assert state.count_returned(["a"], 2.0) == ""
    assert state.accesses(["a"]) == {"a": Access(before + 1, 2.0)}


def test_a_log_that_was_deleted_is_begun_anew(state: BankState, tmp_path: Path) -> None:
    state.count_returned(["a"], 1.0)
    shutil.rmtree(tmp_path / "state")
    assert state.count_returned(["b"], 2.0) == ""
    assert BankState(tmp_path / "state").accesses(["a", "b"]) == {"b": Access(1, 2.0)}


def test_what_can_not_be_counted_is_said_not_raised(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file where the folder should be")
    state = BankState(tmp_path / "state")
    assert state.accesses(["a"]) == {}
    assert state.count_returned(["a"], 1.0).startswith("accesses are not counted: ")
    problem = state.add_writes(["a"], "codex", 1.0)
    assert problem.startswith("who changed it is not written down: ")


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
    assert list(private_folders.rglob("state.db"))
    assert not list(folder.rglob("state.db*"))


def test_counts_go_with_a_note_that_is_renamed(folder: Path, opening: Callable[..., Bank]) -> None:
    (folder / "a.md").write_text("kestrel")
    bank = opening(folder)
    recall(bank, "kestrel")
    rename(bank, "a", "deep/b")
    assert show(bank, "deep/b").access_count == 1
