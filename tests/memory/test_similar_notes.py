"""A new note whose text is nearly that of another one is told of, never refused."""

from collections.abc import Callable
from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank
from memory_bank.base.errors import StorageFailed
from memory_bank.memory import alike
from memory_bank.memory.change import set_status
from memory_bank.memory.remember import remember
from memory_bank.memory.trash import delete

KNOWN = "# Retries\n\nA worker tries a failed job five times, with jitter, then parks it."


@pytest.fixture
def bank(folder: Path, opening: Callable[..., Bank]) -> Bank:
    return opening(folder)


@pytest.mark.parametrize(
    ("content", "is_similar"),
    [
        (KNOWN.replace("five", "six"), True),
        (KNOWN.upper() + "\n", True),
        (f"{KNOWN} See [[queue]].", True),
        ("A worker tries a failed job five times, then parks it, with jitter.", True),
        ("# Retries\n\nOf HTTP calls are made by the client, not by the server.", False),
        ("# Jobs\n\nA worker takes a job from the table, with SKIP LOCKED.", False),
        (KNOWN + " more words" * 20, False),
        ("Retries", False),
        ("…", False),
    ],
)
def test_what_is_nearly_the_same(bank: Bank, content: str, is_similar: bool) -> None:
    known = remember(bank, KNOWN)
    assert known.similar_to is None
    remember(bank, "# Other\n\nJobs wait in a table, with retries.", type="decision")
    found = remember(bank, content)
    assert found.action == "created"
    assert found.similar_to == (known.path if is_similar else None)


def test_the_most_similar_note_is_named_in_any_script(bank: Bank) -> None:
    remember(bank, "# 队列\n\n我们把任务放在数据库的表里面, 用锁来取任务。")
    near = remember(bank, "# 队列\n\n我们把任务放在数据库的表里, 用锁来取任务。")
    assert near.similar_to
    again = remember(bank, "# 队列\n\n我们把任务放在数据库的表里, 用锁来取任务！好")
    assert again.similar_to == near.path


def test_a_note_that_is_gone_archived_or_the_same_is_not_named(bank: Bank) -> None:
    first = remember(bank, KNOWN)
    set_status(bank, first.path, "archived")
    second = remember(bank, KNOWN.replace("five", "six"))
    assert second.similar_to is None
    again = remember(bank, KNOWN.replace("five", "six"), tags=["x"])
    assert (again.action, again.similar_to) == ("updated_existing", None)
    delete(bank, second.path)
    assert remember(bank, KNOWN.replace("five", "seven")).similar_to is None


def test_an_index_that_can_not_be_asked_stops_no_write(
    bank: Bank, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise StorageFailed("the disk refused")

    remember(bank, KNOWN)
    monkeypatch.setattr(alike, "_find_nearest", fails)
    found = remember(bank, KNOWN.replace("five", "six"))
    assert (found.action, found.similar_to) == ("created", None)
