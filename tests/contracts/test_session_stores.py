"""Every store of sessions keeps the contract of sessions/records.py."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest

from memory_bank.bank.bank import Bank
from memory_bank.base.errors import BadInput
from memory_bank.search.manifest.entries import EntryConditions
from memory_bank.sessions.note_format import settle_observation, settle_summary
from memory_bank.sessions.observations import session_store
from memory_bank.sessions.records import (
    Event,
    Observation,
    ObservationQuery,
    Prompt,
    Session,
    SessionStore,
)
from tests.sessions.sessions_of import OBSERVATION, SESSION, START, SUMMARY

STORES: dict[str, Callable[[Bank], SessionStore]] = {"notes": session_store}
ID = SESSION.session_id
BEGUN = Session(ID, "shop", START, agent="claude-code", git=SESSION.git)
EVENT = Event(0, ID, "Bash", '{"command": "ls"}', "a.py", 0, START)


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, bank: Bank) -> Iterator[SessionStore]:
    made = STORES[request.param](bank)
    assert made.name == request.param
    yield made
    made.close()  # type: ignore[attr-defined]


def numbered(number: int, **changes: object) -> Observation:
    made = OBSERVATION._replace(
        id=f"obs-{number:012x}",
        created_at=START + timedelta(minutes=number),
        **changes,  # type: ignore[arg-type]
    )
    return settle_observation(made)


def test_a_session_is_created_once_and_updated(store: SessionStore) -> None:
    assert store.get_session(ID) is None
    assert store.create_session(BEGUN)
    assert not store.create_session(BEGUN._replace(project="other"))
    assert store.get_session(ID) == BEGUN
    ended = BEGUN._replace(ended_at=START + timedelta(hours=1), input_tokens=5, redactions=1)
    store.update_session(ended)
    assert store.get_session(ID) == ended
    store.update_session(ended._replace(ended_at=None))
    assert store.get_session(ID) == ended._replace(ended_at=None)
    with pytest.raises(BadInput):
        store.update_session(BEGUN._replace(session_id="unknown"))


def test_prompts_are_numbered(store: SessionStore) -> None:
    store.create_session(BEGUN)
    assert [store.store_prompt(Prompt(ID, 0, text, START)) for text in ("a", "b")] == [1, 2]
    assert store.get_prompts(ID) == [Prompt(ID, 1, "a", START), Prompt(ID, 2, "b", START)]
    assert store.get_prompts("unknown") == []
    found = store.get_session(ID)
    assert found is not None
    assert found.last_prompt_number == 2
    with pytest.raises(BadInput):
        store.store_prompt(Prompt("unknown", 0, "a", START))


def test_events_wait_until_they_are_removed(store: SessionStore) -> None:
    store.create_session(BEGUN)
    store.create_session(BEGUN._replace(session_id="second"))
    first = store.queue_pending(EVENT, "k")
    assert store.queue_pending(EVENT._replace(tool_name="Other"), "k") == first
    second = store.queue_pending(EVENT._replace(session_id="second", failed=True))
    assert [event.id for event in store.get_pending()] == [first, second]
    assert store.get_pending(ID) == [EVENT._replace(id=first)]
    assert [event.id for event in store.get_pending(limit=1)] == [first]
    store.remove_pending([first])
    assert [event.id for event in store.get_pending()] == [second]


def test_observations_are_stored_once(store: SessionStore) -> None:
    store.create_session(BEGUN)
    first, second = numbered(1), numbered(2, narrative="# Not a heading\n\n^obs-000000000001")
    assert store.store_observation(first) == first.id
    assert store.store_observation(second) == second.id
    assert store.store_observation(first._replace(title="Other")) == first.id
    assert store.get_observation(first.id) == first
    assert store.get_observation("obs-aaaaaaaaaaaa") is None
    wanted = [second.id, "obs-aaaaaaaaaaaa", first.id, second.id]
    assert store.get_observations(wanted) == [second, first]
    found = store.get_session(ID)
    assert found is not None
    assert found.observations == (first, second)
    with pytest.raises(BadInput):
        store.store_observation(first._replace(session_id="unknown", id="obs-cccccccccccc"))


def test_a_summary_replaces_the_former_one(store: SessionStore) -> None:
    store.create_session(BEGUN)
    assert store.get_summary(ID) is None
    assert store.store_summary(SUMMARY._replace(request="First")) == SUMMARY.id
    assert store.store_summary(SUMMARY) == SUMMARY.id
    assert store.get_summary(ID) == settle_summary(SUMMARY)
    assert store.get_summary("unknown") is None


def test_a_whole_session_is_created_at_once(store: SessionStore) -> None:
    assert store.create_session(SESSION)
    found = store.get_session(ID)
    assert found is not None
    assert found._replace(path="") == SESSION


def query_of(**given: Any) -> ObservationQuery:
    conditions = {name: given.pop(name) for name in [*given] if name in EntryConditions._fields}
    return ObservationQuery(EntryConditions(**conditions), **given)


def test_search_meets_all_conditions(store: SessionStore) -> None:
    store.create_session(BEGUN)
    store.create_session(BEGUN._replace(session_id="second", project="Other"))
    ones = [
        numbered(1, title="Retry the payment", obs_type="bugfix", concepts=("retries",)),
        numbered(
            2,
            title="Choose a queue",
            concepts=(),
            obs_type="decision",
            files_modified=("src/q.py",),
        ),
        numbered(3, title="Payment payment", concepts=(), session_id="second", project="Other"),
    ]
    for one in ones:
        store.store_observation(one)

    def found(**conditions: object) -> list[int]:
        hits = store.search_observations(query_of(**conditions))
        return [int(one.id.removeprefix("obs-"), 16) for one in hits]

    assert found() == [3, 2, 1]
    assert found(order_by="date_asc") == [1, 2, 3]
    assert found(limit=1, offset=1) == [2]
    assert found(project="shop") == [2, 1]
    assert found(project="OTHER") == [3]
    assert found(obs_types=("decision", "feature")) == [2]
    assert found(concepts=("Retries",)) == [1]
    assert found(files=("./src/q.py",)) == [2]
    assert found(session_id="second") == [3]
    assert found(since=(START + timedelta(minutes=2)).timestamp()) == [3, 2]
    assert found(before=(START + timedelta(minutes=2)).timestamp()) == [1]
    assert set(found(query="payment")[:2]) == {1, 3}
    assert found(query="queue")[0] == 2
    assert found(query="queue", session_id="second") == []
