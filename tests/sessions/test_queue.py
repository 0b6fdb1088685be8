"""The queue of what sessions did."""

import json
import sqlite3
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memory_bank.base.errors import Busy, StorageFailed
from memory_bank.base.removed_text import RemovedText
from memory_bank.base.text import estimate
from memory_bank.sessions import queue as queue_module
from memory_bank.sessions import queue_rows
from memory_bank.sessions.queue import EventQueue
from memory_bank.sessions.records import Event, GitState, Prompt, Session

NOW = datetime(2026, 11, 22, 10, 0, 0, 123456, tzinfo=UTC)
GIT = GitState("1a2b", "main", "9f8e")


@pytest.fixture
def queue(tmp_path: Path) -> Iterator[EventQueue]:
    queue = EventQueue(tmp_path / "state")
    yield queue
    queue.close()


def event(text: str, session_id: str = "s", prompt_number: int = 0) -> Event:
    return Event(0, session_id, "Bash", '{"command":"x"}', text, prompt_number, NOW, True, "/shop")


def test_reading_an_empty_queue_makes_no_file(queue: EventQueue) -> None:
    assert queue.sessions() == queue.pending() == queue.news() == queue.unfinished() == []
    assert queue.session("s") is None
    assert queue.waiting() == {}
    assert (queue.last_news(), queue.asked("s"), queue.summary("s")) == (
        0,
        False,
        "",
    )
    assert queue.replace_text(RemovedText("x")) == 0
    assert not queue.file.parent.exists()


def test_keeps_a_session_with_its_prompts(queue: EventQueue) -> None:
    given = Session("s", "shop", NOW, "codex", None, 0, 5, 6, 1, GIT, path="sessions/a.md")
    assert queue.create_session(given)
    assert not queue.create_session(Session("s", "other", NOW))
    assert queue.store_prompt(Prompt("s", 0, "first", NOW)) == 1
    assert queue.store_prompt(Prompt("s", 0, "second", NOW)) == 2
    assert queue.store_prompt(Prompt("s", 7, "as numbered", NOW)) == 7
    found = queue.session("s")
    assert found
    assert [prompt.prompt_text for prompt in found.prompts] == ["first", "second", "as numbered"]
    assert (found.project, found.agent, found.started_at, found.git) == ("shop", "codex", NOW, GIT)
    assert (found.input_tokens, found.output_tokens, found.redactions) == (5, 6, 1)
    assert (found.last_prompt_number, found.path, found.ended_at) == (7, "sessions/a.md", None)
    assert queue.sessions() == [found]
    assert oct(queue.file.parent.stat().st_mode)[-2:] == "00"


def test_keeps_events_until_they_are_removed(queue: EventQueue) -> None:
    first, second = queue.queue(event("a"), "k1"), queue.queue(event("b"), "k2")
    other = queue.queue(event("c", "t"))
    assert queue.queue(event("a"), "k1") == first
    assert [one.tool_output for one in queue.pending()] == ["a", "b", "c"]
    assert [one.id for one in queue.pending("s", limit=1)] == [first]
    assert queue.pending("t") == [
        Event(other, "t", "Bash", '{"command":"x"}', "c", 0, NOW, True, "/shop")
    ]
    queue.remove([first, second])
    assert [one.id for one in queue.pending()] == [other]
    assert queue.queue(event("a"), "k1") == first, "its key is remembered"
    assert [one.id for one in queue.pending()] == [other]


def test_captures_all_of_a_hook_in_one_transaction(queue: EventQueue) -> None:
    session = Session("s", "shop", NOW, "codex")
    counts = {"redactions": 1}
    assert queue.capture(session) == 0
    prompt = Prompt("s", 0, "do it", NOW)
    for _ in range(2):  # the second time nothing is stored
        assert queue.capture(session, prompt=prompt, prompt_key="p", counts=counts) == 0
    event = Event(0, "s", "Bash", "{}", "out", 0, NOW, key="k")
    assert queue.capture(session, event=event, counts=counts, received="PostToolUse") == 2
    assert queue.capture(session, event=event, counts=counts) == 2
    assert [(one["client"], one["event"]) for one in queue.received()] == [("codex", "PostToolUse")]
    assert [one.redactions for one in queue.sessions()] == [2]
    assert [one.prompt_number for one in queue.pending()] == [1]
    assert [one.prompts for one in queue.outlines()] == [1]
    assert [(kind, json.loads(payload)) for _, kind, _, payload, _ in queue.news()] == [
        ("SessionStarted", {"session_id": "s", "project": "shop"})
    ]


def test_a_captured_event_resumes_a_session_that_had_ended(queue: EventQueue) -> None:
    queue.capture(Session("s", "shop", NOW))
    queue.update("s", ended_at=NOW)
    queue.capture(
        Session("s", "shop", NOW + timedelta(seconds=1)), prompt=Prompt("s", 0, "more", NOW)
    )
    assert [one.ended_at for one in queue.sessions()] == [None]


def test_an_end_before_the_last_start_ends_nothing(queue: EventQueue) -> None:
    queue.capture(Session("s", "shop", NOW))
    queue.capture(Session("s", "shop", NOW + timedelta(hours=1)))  # it started again
    queue.update("s", ended_at=NOW)
    assert [one.ended_at for one in queue.sessions()] == [None]
    (outline,) = queue.outlines(ongoing=True)
    assert outline.last_moment == NOW.timestamp() + 3600
    queue.update("s", ended_at=outline.last_moment)
    assert queue.outlines(ongoing=True) == []


def test_batches_hold_the_oldest_events_that_fit(queue: EventQueue) -> None:
    for number, text in enumerate(("one two three", "four five six", "seven " * 50, "eight"), 1):
        queue.queue(event(text)._replace(prompt_number=number))
    assert queue.waiting().keys() == {"s"}
    each = queue.waiting()["s"]
    batch, events = queue.mark_batch("s", 30)
    assert [one.tool_output[:4] for one in events] == ["one ", "four"]
    large, events = queue.mark_batch("s", 1)
    assert [one.tool_output[:5] for one in events] == ["seven"]
    last, _ = queue.mark_batch("s", each)
    assert queue.mark_batch("s", each) == ("", [])
    assert [name for name, _ in queue.unfinished()] == [batch, large, last]
    assert queue.unfinished("other") == []
    queue.remove([one.id for _, found in queue.unfinished()[:2] for one in found])
    assert [(name, len(found)) for name, found in queue.unfinished("s")] == [(last, 1)]


def test_a_batch_ends_at_a_prompt_however_long_the_turn_is(queue: EventQueue) -> None:
    for number in (1, 1, 1, 2):
        queue.queue(event("word " * 200)._replace(prompt_number=number))
    _, events = queue.mark_batch("s", 100)
    assert [one.prompt_number for one in events] == [1, 1, 1]


def test_removed_text_is_not_on_the_disk(queue: EventQueue) -> None:
    queue.create_session(Session("s", "shop", NOW))
    queue.store_prompt(Prompt("s", 0, 'say "pärol" and more', NOW))
    queue.queue(Event(0, "s", "Bash", json.dumps({"c": 'x "pärol"'}), "out", 0, NOW))
    queue.queue(event("strange-word", "t"))
    assert queue.replace_text(RemovedText('"pärol"')) == 2
    assert queue.waiting()["s"] == estimate('{"c": "x [forgotten]"}') + estimate("out")
    assert queue.remove_session("t")
    assert not queue.remove_session("t")
    queue.close()
    data = b"".join(file.read_bytes() for file in queue.file.parent.iterdir())
    assert b"[forgotten]" in data
    assert "pärol".encode() not in data
    assert b"u00e4rol" not in data
    assert b"strange-word" not in data


@pytest.mark.parametrize("damage", ["header", "text", "pages"])
def test_a_damaged_file_is_set_aside_and_named(tmp_path: Path, damage: str) -> None:
    told: list[str] = []
    queue = EventQueue(tmp_path, told.append)
    for number in range(60):
        queue.queue(event(f"{number} " * 50))
    queue.close()
    data = bytearray(queue.file.read_bytes())
    if damage == "header":
        data[:100] = b"\0" * 100
    elif damage == "pages":
        data[4096:] = b"\xff" * (len(data) - 4096)
    queue.file.write_bytes(b"no database" * 500 if damage == "text" else bytes(data))
    assert queue.queue(event("new")) > 0
    (name,) = [file.name for file in tmp_path.glob("*.damaged*") if file.suffix == ".damaged"]
    assert told == [f"the queue of sessions; the damaged one is {tmp_path / name}"]
    assert [one.tool_output for one in queue.pending()] == ["new"]
    queue.close()


def test_a_file_that_was_deleted_is_made_again(queue: EventQueue) -> None:
    queue.queue(event("a"))
    for file in queue.file.parent.iterdir():
        file.unlink()
    assert queue.pending() == []
    queue.queue(event("b"))
    assert [one.tool_output for one in queue.pending()] == ["b"]


def test_says_when_another_process_holds_it(
    queue: EventQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory_bank.sessions.queue._WAIT", 0.05)
    queue.queue(event("a"))
    queue.close()
    base = sqlite3.connect(queue.file, isolation_level=None)
    base.execute("BEGIN IMMEDIATE")
    with pytest.raises(Busy, match="in use by another process"):
        queue.queue(event("b"))
    base.execute("ROLLBACK")
    base.close()
    assert queue.queue(event("b")) == 2


def test_says_when_the_folder_can_not_be_made(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file")
    with pytest.raises(StorageFailed, match="can't be made"):
        EventQueue(tmp_path / "state").queue(event("a"))


def test_threads_with_queues_of_their_own_lose_nothing(tmp_path: Path) -> None:
    def work(number: int) -> None:
        queue = EventQueue(tmp_path / "state")
        for count in range(20):
            queue.capture(
                Session("s", "shop", NOW),
                event=Event(0, "s", "Bash", "", "", 0, NOW, key=f"{number}-{count}"),
            )
        queue.close()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    queue = EventQueue(tmp_path / "state")
    assert len(queue.pending("s")) == 120
    assert [one[1] for one in queue.news()] == ["SessionStarted"]
    queue.close()


def test_a_queue_of_version_1_is_brought_up_with_all_that_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = sqlite3.connect(tmp_path / queue_module.FILE)
    base.executescript(QUEUE_1)
    base.close()
    version = queue_rows.VERSION + 1
    adding = "ALTER TABLE sessions ADD COLUMN later TEXT NOT NULL DEFAULT ''"
    monkeypatch.setattr(queue_module, "VERSION", version)
    monkeypatch.setattr(queue_rows, "UPGRADES", {**queue_rows.UPGRADES, version - 1: adding})
    damaged: list[str] = []
    queue = EventQueue(tmp_path, damaged.append)
    assert [one.tool_output for one in queue.pending("old")] == ["what waits"]
    assert [one.prompt_text for one in queue.prompts("old")] == ["asked"]
    assert queue.opened().execute("PRAGMA user_version").fetchone() == (version,)
    queue.close()
    assert not damaged


def test_a_queue_of_a_newer_version_is_left_alone_and_named(tmp_path: Path) -> None:
    base = sqlite3.connect(tmp_path / queue_module.FILE)
    base.executescript(QUEUE_1)
    base.execute(f"PRAGMA user_version = {queue_rows.VERSION + 1}")
    base.close()
    before = (tmp_path / queue_module.FILE).read_bytes()
    queue = EventQueue(tmp_path)
    with pytest.raises(StorageFailed, match="newer version of memory-bank"):
        queue.pending()
    with pytest.raises(StorageFailed):
        queue.capture(Session("new", "shop", NOW))
    assert [file.name for file in tmp_path.iterdir()] == [queue_module.FILE]
    assert (tmp_path / queue_module.FILE).read_bytes() == before


QUEUE_1 = """\
CREATE TABLE sessions (session_id TEXT PRIMARY KEY, project TEXT NOT NULL, agent TEXT NOT NULL,
    started_at REAL NOT NULL, ended_at REAL, input_tokens INTEGER NOT NULL DEFAULT 0,
    output_tokens INTEGER NOT NULL DEFAULT 0, redactions INTEGER NOT NULL DEFAULT 0,
    git TEXT NOT NULL DEFAULT '', note TEXT NOT NULL DEFAULT '', asked INTEGER NOT NULL DEFAULT 0,
    edits INTEGER NOT NULL DEFAULT 0, worded INTEGER NOT NULL DEFAULT 0,
    shown TEXT NOT NULL DEFAULT '[]', summary TEXT NOT NULL DEFAULT '');
CREATE TABLE prompts (session_id TEXT NOT NULL, prompt_number INTEGER NOT NULL,
    prompt_text TEXT NOT NULL, created_at REAL NOT NULL, PRIMARY KEY (session_id, prompt_number));
CREATE TABLE prompt_keys (session_id TEXT NOT NULL, key TEXT NOT NULL,
    prompt_number INTEGER NOT NULL, PRIMARY KEY (session_id, key)) WITHOUT ROWID;
CREATE TABLE events (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL,
    tool_name TEXT NOT NULL, tool_input TEXT NOT NULL, tool_output TEXT NOT NULL,
    prompt_number INTEGER NOT NULL, created_at REAL NOT NULL, failed INTEGER NOT NULL,
    cwd TEXT NOT NULL, tokens INTEGER NOT NULL, batch TEXT NOT NULL DEFAULT '');
CREATE INDEX events_of_session ON events (session_id, id);
CREATE TABLE event_keys (session_id TEXT NOT NULL, key TEXT NOT NULL, event_id INTEGER NOT NULL,
    PRIMARY KEY (session_id, key)) WITHOUT ROWID;
CREATE TABLE received (client TEXT PRIMARY KEY, event TEXT NOT NULL,
    created_at REAL NOT NULL) WITHOUT ROWID;
CREATE TABLE news (id INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL,
    session_id TEXT NOT NULL, payload TEXT NOT NULL, created_at REAL NOT NULL);
INSERT INTO sessions (session_id, project, agent, started_at) VALUES ('old', 'shop', 'codex', 1e9);
INSERT INTO prompts VALUES ('old', 1, 'asked', 1e9);
INSERT INTO events (session_id, tool_name, tool_input, tool_output, prompt_number, created_at,
    failed, cwd, tokens) VALUES ('old', 'Bash', '{}', 'what waits', 1, 1e9, 0, '', 3);
PRAGMA user_version = 1;
"""
"""A queue as version 1 made it, with one event that waits."""
