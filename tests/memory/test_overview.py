from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from memory_bank.bank.bank import Bank
from memory_bank.memory.overview import read_overview
from memory_bank.search.manifest.entries import read_session_id
from tests.support.session_builder import observation, session, write


def test_a_bank_is_counted_by_kind(project: Path, opening: Callable[..., Bank]) -> None:
    write(
        project / ".memories",
        session("s1", observation(1, "Fix login", discovery_tokens=5000), observation(2, "Try")),
        session("s2", observation(3, "Use tokens", discovery_tokens=300)),
    )
    found = read_overview(opening(project))
    assert (found.observations, found.sessions, found.notes) == (3, 2, 3)
    assert found.work_tokens == 5300
    assert 0 < found.read_tokens < 1000
    assert found.saved_tokens == found.work_tokens - found.read_tokens


def test_reading_that_costs_more_than_the_work_saves_nothing(
    project: Path, opening: Callable[..., Bank]
) -> None:
    write(project / ".memories", session("s1", observation(1, "Fix login", discovery_tokens=1)))
    assert read_overview(opening(project)).saved_tokens == 0


def test_tokens_that_are_no_number_count_nothing(
    project: Path, opening: Callable[..., Bank]
) -> None:
    write(project / ".memories", session("s1", observation(1, "One", discovery_tokens=77)))
    file = project / ".memories/sessions/s1.md"
    text = file.read_text()
    for wrong in ("-5", "7e9", "9" * 30, "many", "٣"):
        file.write_text(text.replace("discovery_tokens:: 77", f"discovery_tokens:: {wrong}"))
        assert read_overview(opening(project)).work_tokens == 0, wrong


def test_the_newest_of_all_kinds_come_first(project: Path, opening: Callable[..., Bank]) -> None:
    now = datetime.now(UTC) + timedelta(days=400)  # later than the notes of the project
    write(project / ".memories", session("s1", observation(1, "Fix login", created_at=now)))
    rows = read_overview(opening(project), recent=3).recent
    first = {one.type: one for one in rows}["observation"]
    assert (first.obs_type, first.title) == ("bugfix", "Fix login")
    assert read_session_id(first.document) == "s1"
    assert first.id == "obs-000000000001"
    assert first.path == "sessions/s1.md"
    times = [one.created_at for one in rows]
    assert times == sorted(times, reverse=True)
    assert len(rows) == 3


def test_an_empty_bank_has_nothing(folder: Path, opening: Callable[..., Bank]) -> None:
    found = read_overview(opening(folder))
    assert found[:6] == (0, 0, 0, 0, 0, 0)
    assert found.recent == ()
