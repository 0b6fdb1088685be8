"""What an agent notes in a session names the session, and is linked to its note."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank, open_bank
from memory_bank.base.errors import BadInput
from memory_bank.memory.forget import forget
from memory_bank.memory.links import links_of
from memory_bank.memory.move_and_merge import rename
from memory_bank.memory.remember import remember, session_note
from memory_bank.memory.show import show
from memory_bank.memory.trash import delete
from memory_bank.notes import front_matter
from memory_bank.sessions.context import inject_context
from memory_bank.sessions.get_observations import get_observations
from memory_bank.sessions.listing import list_sessions, show_session
from memory_bank.sessions.observations import search_observations
from memory_bank.sessions.sessions import (
    end_session,
    start_session,
    store_observation,
    store_prompt,
)

X = "The queue drops jobs above 64 KB."


@pytest.fixture
def bank(project: Path) -> Iterator[Bank]:
    with open_bank(project, settings={"memory.embedder": "none"}) as opened:
        yield opened


def keys(bank: Bank, path: str) -> dict[str, object]:
    return front_matter.read_metadata(front_matter.split(bank.store.read(path).text))[0]


def targets(bank: Bank, path: str) -> list[str]:
    return [link.target for link in links_of(bank, path).outgoing]


def test_it_names_the_given_session_and_links_to_its_note(bank: Bank) -> None:
    store_prompt(bank, "review-4", "Look at the queue")
    noted = session_note(bank, X, session_id="review-4")
    (session,) = list_sessions(bank).sessions
    assert noted.session_id == "review-4"
    assert keys(bank, noted.path)["session_id"] == "review-4"
    assert "queue" not in session.path, "a prompt is no name"
    assert targets(bank, noted.path) == [session.path]
    assert [link.source for link in links_of(bank, session.path).incoming] == [noted.path]
    assert show_session(bank, "review-4").notes == (noted.path,)


def test_the_link_stays_when_the_session_goes_on_and_its_note_is_moved(bank: Bank) -> None:
    store_prompt(bank, "review-4", "Look at the queue")
    noted = session_note(bank, X)
    store_observation(bank, "review-4", title="It has a limit")
    assert end_session(bank, "review-4")
    (session,) = list_sessions(bank).sessions
    rename(bank, session.path, "sessions/the-review")
    assert targets(bank, noted.path) == ["sessions/the-review.md"]
    assert show_session(bank, "review-4").session.path == "sessions/the-review.md"


def test_it_is_no_session_itself(bank: Bank) -> None:
    start_session(bank, "review-4")
    noted = session_note(bank, X)
    assert [one.session_id for one in list_sessions(bank).sessions] == ["review-4"]
    assert show_session(bank, "review-4").session.path != noted.path
    with pytest.raises(BadInput, match="no session"):
        show_session(bank, noted.path)
    types = {row.title: row.type for row in search_observations(bank).results}
    assert types[show(bank, noted.path).title] == "note"
    (named,) = get_observations(bank, ["review-4"]).observations
    assert (named.row.type, named.row.path) == (
        "session",
        show_session(bank, "review-4").session.path,
    )
    assert noted.path not in inject_context(bank).context


def test_its_session_is_found_without_the_queue(bank: Bank) -> None:
    start_session(bank, "review-4")
    noted = session_note(bank, X)
    store_observation(bank, "review-4", title="It has a limit")
    for file in bank.layout.state(bank.id).glob("sessions.db*"):
        file.unlink()
    (session,) = list_sessions(bank).sessions
    assert (session.session_id, session.counts.observations) == ("review-4", 1)
    assert session.path != noted.path


@pytest.mark.parametrize("name", ["CLAUDE_CODE_SESSION_ID", "COPILOT_AGENT_SESSION_ID"])
def test_the_program_says_which_session_it_is(
    bank: Bank, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    for one in ("first", "second"):
        start_session(bank, one)
    assert session_note(bank, "Whose is it?").session_id is None
    monkeypatch.setenv(name, "second")
    assert session_note(bank, X).session_id == "second"
    assert session_note(bank, "Another.", session_id="first").session_id == "first"


def test_a_program_that_has_begun_another_session_names_the_former_one(
    bank: Bank, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "before")
    assert session_note(bank, "Nothing is recorded").session_id == "before"
    start_session(bank, "before")
    end_session(bank, "before")
    assert session_note(bank, "Ended").session_id is None
    start_session(bank, "after")
    assert session_note(bank, X).session_id == "after"


def test_a_session_that_is_not_there_is_an_error(bank: Bank) -> None:
    with pytest.raises(BadInput, match="there is no session 'unknown'"):
        session_note(bank, X, session_id="unknown")
    assert list_sessions(bank).total == 0


def test_without_a_session_none_is_named(bank: Bank, opening: Callable[..., Bank]) -> None:
    noted = session_note(bank, X)
    assert noted.session_id is None
    assert "session_id" not in keys(bank, noted.path)
    start_session(bank, "elsewhere", project="another")
    assert session_note(bank, "The session is another project's").session_id is None
    with pytest.raises(BadInput, match="not the id of a session"):
        session_note(bank, "Too long", session_id="x" * 201)


def test_where_sessions_are_not_captured_none_is_looked_for(
    project: Path, opening: Callable[..., Bank], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "running")
    assert session_note(opening(project, sessions__capture=False), X).session_id is None


def test_a_content_that_two_sessions_note_names_both(bank: Bank) -> None:
    for one in ("first", "second", "second"):
        store_prompt(bank, one, f"The {one} work")
        noted = session_note(bank, X, session_id=one)
    assert keys(bank, noted.path)["session_id"] == ["first", "second"]
    sessions = {one.session_id: one.path for one in list_sessions(bank).sessions}
    assert targets(bank, noted.path) == [sessions["first"], sessions["second"]]
    for one in sessions:
        assert show_session(bank, one).notes == (noted.path,)


def test_a_note_that_others_have_gets_no_link_to_a_session(bank: Bank) -> None:
    start_session(bank, "review-4")
    kept = remember(bank, X, name="facts/limit", type="fact", source_type="session")
    assert keys(bank, kept.path)["session_id"] == "review-4"
    assert targets(bank, kept.path) == []
    assert "session_id" not in keys(bank, remember(bank, "Not of a session").path)


def test_a_deleted_note_of_a_session_is_made_again(bank: Bank) -> None:
    store_prompt(bank, "review-4", "Look at the queue")
    delete(bank, targets(bank, session_note(bank, X).path)[0])
    noted = session_note(bank, "Another one.")
    assert targets(bank, noted.path) == [list_sessions(bank).sessions[0].path]


def test_a_forgotten_session_is_not_named(bank: Bank, monkeypatch: pytest.MonkeyPatch) -> None:
    start_session(bank, "gone")
    store_observation(bank, "gone", title="Retry")
    forget(bank, "gone")
    with pytest.raises(BadInput, match="was forgotten"):
        session_note(bank, X, session_id="gone")
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "gone")
    noted = session_note(bank, X)
    assert noted.session_id is None
    assert "gone" not in bank.store.read(noted.path).text
