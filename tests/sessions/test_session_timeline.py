from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank
from memory_bank.base.errors import BadInput
from memory_bank.sessions.answers import SessionEntry
from memory_bank.sessions.listing import session_timeline
from memory_bank.sessions.sessions import (
    end_session,
    start_session,
    store_observation,
    store_prompt,
)
from tests.support.session_builder import START, observation, session, write

NOW = datetime.now(UTC)


def entries(bank: Bank, **conditions: object) -> dict[str, SessionEntry]:
    found = session_timeline(bank, **conditions)  # type: ignore[arg-type]
    return {one.session_id: one for _, sessions in found.days for one in sessions}


def test_sessions_are_told_by_day_the_newest_first(bank: Bank, project: Path) -> None:
    later = START + timedelta(days=2)
    write(
        project / ".memories",
        session("a", observation(1, "One")),
        session("b", observation(2, "Two")),
        session("c", observation(3, "Three", created_at=later)),
    )
    found = session_timeline(bank)
    assert [(day, len(sessions)) for day, sessions in found.days] == [
        ("2026-11-03", 1),
        ("2026-11-01", 2),
    ]
    assert [one.session_id for _, sessions in found.days for one in sessions] == ["c", "b", "a"]
    page = session_timeline(bank, limit=1, offset=1)
    assert (page.total, page.count) == (3, 1)
    assert session_timeline(bank, offset=9).days == ()


def test_a_session_tells_its_counts_and_tokens(bank: Bank, project: Path) -> None:
    work = [observation(n, f"Step {n}", discovery_tokens=1000) for n in (1, 2)]
    write(project / ".memories", session("a", *work, redactions=3))
    one = entries(bank)["a"]
    assert (one.counts.prompts, one.counts.observations, one.counts.work_tokens) == (1, 2, 2000)
    assert 0 < one.counts.read_tokens < 2000
    session_of = one.session
    assert session_of.redactions == 3
    assert (session_of.agent, session_of.project, session_of.path) == (
        "claude-code",
        "shop",
        "sessions/a.md",
    )


def test_what_has_no_note_yet_is_there_too(bank: Bank) -> None:
    store_prompt(bank, "s-1", "Please mend it", agent="codex")
    one = entries(bank)["s-1"]
    assert (one.title, one.session.agent, one.state, one.counts.prompts, one.path) == (
        "Please mend it", "codex", "open", 1, "",
    )  # fmt: skip


def test_agents_projects_and_days_are_conditions(bank: Bank, project: Path) -> None:
    write(
        project / ".memories",
        session("a", observation(1, "One")),
        session("b", observation(2, "Two"), agent="", project="other"),
        session("c", observation(3, "Three", created_at=START + timedelta(days=1))),
    )
    assert set(entries(bank, agent="Claude-Code")) == {"a", "c"}
    assert set(entries(bank, agent="")) == {"b"}
    assert set(entries(bank, project="OTHER")) == {"b"}
    assert set(entries(bank, first_day="2026-11-02")) == {"c"}
    assert set(entries(bank, last_day="2026-11-01")) == {"a", "b"}
    assert set(entries(bank, first_day="0001-01-01", last_day="9999-12-31")) == {"a", "b", "c"}
    found = session_timeline(bank, agent="nobody")
    assert (found.total, dict(found.agents)) == (0, {"claude-code": 2, "": 1})
    with pytest.raises(BadInput, match="no day"):
        session_timeline(bank, first_day="yesterday")


def test_the_state_says_how_a_session_went(bank: Bank, project: Path) -> None:
    old = NOW - timedelta(hours=7)
    write(
        project / ".memories",
        session("killed", observation(1, "One", created_at=old)),
        session("cut", observation(2, "Two"), ended_at=NOW, summary=None),
        session("done", observation(3, "Three"), ended_at=NOW),
    )
    start_session(bank, "new")
    assert {name: one.state for name, one in entries(bank).items()} == {
        "killed": "silent", "cut": "unfinished", "done": "ended", "new": "open",
    }  # fmt: skip
    end_session(bank, "new")
    assert entries(bank)["new"].state == "ended"


def test_a_note_that_cannot_be_read_is_named_and_hides_no_other(bank: Bank) -> None:
    for name in ("s-1", "s-2"):
        store_observation(bank, name, title=f"Work of {name}")
    path = entries(bank)["s-1"].path
    bank.roots.file(path).write_bytes(b"\0\1\2")
    found = session_timeline(bank)
    assert [one.path for one in found.unreadable] == [path]
    assert found.unreadable[0].reason
    assert {name: one.state for name, one in entries(bank).items()} == {
        "s-1": "damaged", "s-2": "open",
    }  # fmt: skip
