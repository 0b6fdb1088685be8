"""What a server says unasked: resources that changed, and how far long work is."""

import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import (
    LoggingMessageNotification,
    ResourceListChangedNotification,
    ResourceUpdatedNotification,
)

from memory_bank.bank.bank import open_bank
from memory_bank.frontends.serving.shared_bank import tell
from memory_bank.search.document_changes import SyncReport
from memory_bank.sessions.sessions import start_session
from tests.frontends.mcp.answers import unquoted
from tests.support.waiting import until

Make = Callable[..., Any]
NOTE = "memory://note/facts/bm25.md"


def settled(agent: Any) -> None:
    """Wait until the thread behind the server listens: what it then says is news."""
    assert not agent("recall", query="tantivy").wrong
    assert agent.server.shared.embedded_elsewhere.wait(60)


@pytest.mark.filterwarnings("ignore:resources/:mcp.MCPDeprecationWarning")
def test_clients_before_2026_are_told_of_what_they_subscribed_to(
    serving: Make, project: Path
) -> None:
    heard: list[object] = []

    async def hear(message: object) -> None:
        heard.append(message)

    agent = serving(mode="legacy", message_handler=hear)
    agent.ask(agent.client.subscribe_resource, NOTE)
    settled(agent)
    (project / ".memories/facts/bm25.md").write_text("# BM25\n\nChanged.\n")

    def updated() -> list[str]:
        return [m.params.uri for m in heard if isinstance(m, ResourceUpdatedNotification)]

    until(lambda: NOTE in updated())
    assert set(updated()) == {NOTE}
    (project / ".memories/facts/new.md").write_text("# New\n")
    until(lambda: any(isinstance(m, ResourceListChangedNotification) for m in heard))
    agent.ask(agent.client.unsubscribe_resource, NOTE)
    before = len(updated())
    (project / ".memories/facts/bm25.md").write_text("# BM25\n\nOnce more.\n")
    until(lambda: "Once more" in agent("read_memory", filename="bm25").text)
    time.sleep(0.5)
    assert len(updated()) == before


def test_clients_since_2026_listen(serving: Make, project: Path) -> None:
    agent = serving()
    settled(agent)
    heard: list[str] = []

    async def listen() -> None:
        async with agent.client.listen(
            resources_list_changed=True, resource_subscriptions=[NOTE, "memory://recent"]
        ) as events:
            (project / ".memories/facts/bm25.md").write_text("# BM25\n\nChanged.\n")
            (project / ".memories/facts/new.md").write_text("# New\n")
            with anyio.fail_after(60):
                async for event in events:
                    heard.append(getattr(event, "uri", type(event).__name__))
                    if {NOTE, "memory://recent", "ResourcesListChanged"} <= set(heard):
                        return

    agent.ask(listen)
    assert set(heard) == {NOTE, "memory://recent", "ResourcesListChanged"}


def working(agent: Any, work: Callable[[], None]) -> None:
    """Let a tool do this instead of what it does."""

    def instead(*, rebuild: bool = False) -> SyncReport:
        work()
        return SyncReport()

    agent.server.toolbox.tools["sync_memories"]._function = instead


def test_long_work_says_how_far_it_is(serving: Make) -> None:
    agent = serving("maintenance")
    told: list[tuple[float, float | None, str | None]] = []

    async def progress(done: float, total: float | None, what: str | None) -> None:
        told.append((done, total, what))

    def work() -> None:
        tell("indexing", 1000, 2000)
        tell("indexing", 2000, 2000)

    def call() -> Any:
        return agent.client.call_tool("sync_memories", {}, progress_callback=progress)

    assert not agent.ask(call).is_error
    assert not agent("sync_memories", rebuild=True).wrong  # nobody asked to be told
    told.clear()
    working(agent, work)
    assert not agent.ask(call).is_error
    until(lambda: len(told) == 2)
    assert told == [(1000, 2000, "indexing"), (2000, 2000, "indexing")]


def test_a_cancelled_call_stops(serving: Make, project: Path) -> None:
    """The client gives up; the work ends at its next step, and the server goes on."""
    agent = serving("maintenance", "store")
    settled(agent)
    began, ended = threading.Event(), threading.Event()

    def endless() -> None:
        began.set()
        try:
            for step in range(100_000):
                tell("working", step, 0)
                time.sleep(0.01)
        finally:
            ended.set()

    working(agent, endless)

    async def give_up() -> None:
        with anyio.move_on_after(60) as scope:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(agent.client.call_tool, "sync_memories", {})
                assert await anyio.to_thread.run_sync(began.wait, 60)
                tasks.cancel_scope.cancel()
        assert not scope.cancelled_caught

    agent.ask(give_up)
    assert ended.wait(60)
    assert agent("recall", query="tantivy")["notes"]


def test_a_fault_of_ours_is_no_news_for_agents(
    serving: Make, caplog: pytest.LogCaptureFixture
) -> None:
    agent = serving("maintenance", "store")

    def fail() -> None:
        raise RuntimeError("a secret of the server")

    working(agent, fail)
    answer = agent("sync_memories")
    assert answer.wrong
    assert answer.text.startswith("sync_memories failed by an error of the server")
    assert "secret" not in answer.text
    assert "a secret of the server" in caplog.text
    assert agent("recall", query="tantivy")["notes"]


def test_resources_are_the_fixed_ones_and_the_newest_notes(agent: Make) -> None:
    listed = agent.ask(agent.client.list_resources).resources
    uris = [resource.uri for resource in listed]
    assert uris[:2] == ["memory://recent", "memory://tags"]
    assert NOTE in uris
    templates = agent.ask(agent.client.list_resource_templates).resource_templates
    assert [template.uri_template for template in templates] == ["memory://note/{+path}"]


def test_a_note_is_a_resource_by_every_name(agent: Make) -> None:
    for name in ("facts/bm25.md", "facts/bm25", "facts%2Fbm25.md", "bm25"):
        (content,) = agent.ask(agent.client.read_resource, f"memory://note/{name}").contents
        assert content.mime_type == "text/markdown", name
        assert "damps long documents" in content.text


def test_what_is_no_note_is_no_resource(agent: Make) -> None:
    for uri in (
        "memory://note/no-such-note",
        "memory://note/../../src/index.py",
        "memory://note/..%2F..%2Fsrc%2Findex.py",
        "memory://note/%2Fetc%2Fpasswd",
        "memory://note/.index/manifest.db",
        "memory://note/config.toml",
        "memory://note/",
        "memory://nothing",
        "file:///etc/passwd",
    ):
        with pytest.raises(MCPError) as refused:
            agent.ask(agent.client.read_resource, uri)
        assert refused.value.error.code == -32602, uri


def test_prompts_say_what_to_call(agent: Make) -> None:
    listed = agent.ask(agent.client.list_prompts).prompts
    assert [prompt.name for prompt in listed] == ["recall-before-work", "save-what-we-learned"]
    before = agent.ask(agent.client.get_prompt, "recall-before-work", {"task": "port the parser"})
    (message,) = before.messages
    assert "The task: port the parser" in message.content.text
    after = agent.ask(agent.client.get_prompt, "save-what-we-learned", {"about": "the parser"})
    assert "as far as it concerns the parser" in after.messages[0].content.text
    for text in (message.content.text, after.messages[0].content.text):
        for word in text.split():
            name = word.strip("`.,;:")
            if "_memor" in name:
                assert name in agent.server.toolbox.tools


@pytest.mark.filterwarnings("ignore:resources/:mcp.MCPDeprecationWarning")
@pytest.mark.filterwarnings("ignore:The logging capability:mcp.MCPDeprecationWarning")
def test_clients_are_told_what_happens_in_sessions(serving: Make, project: Path) -> None:
    heard: list[Any] = []

    async def hear(message: object) -> None:
        heard.append(message)

    agent = serving("sessions", "store", mode="legacy", message_handler=hear)
    agent.ask(agent.client.subscribe_resource, "memory://sessions")
    settled(agent)
    with open_bank(project) as other:  # as a hook does, in another process
        start_session(other, "s-1", "shop")
    stored = agent("store_observation", session_id="s-1", title="Retry", obs_type="decision")
    ended = agent("end_session", session_id="s-1", summary={"learned": "It is slow"})

    def news() -> list[dict[str, Any]]:
        logged = [m for m in heard if isinstance(m, LoggingMessageNotification)]
        return [{**m.params.data, "created_at": ""} for m in logged]

    until(lambda: len(news()) == 3)
    assert news() == [
        {"event": event, "session_id": "s-1", "created_at": "", **about}
        for event, about in (
            ("SessionStarted", {"project": "shop"}),
            ("ObservationStored", {"observation_id": stored["observation_id"]}),
            ("SessionEnded", {"summary_id": ended["summary_id"]}),
        )
    ]
    uris = [m.params.uri for m in heard if isinstance(m, ResourceUpdatedNotification)]
    assert set(uris) == {"memory://sessions"}
    read = agent.ask(agent.client.read_resource, "memory://sessions").contents[0].text
    found = unquoted(json.loads(read))
    assert [one["event"] for one in found["events"]] == [one["event"] for one in news()]
    assert [one["session_id"] for one in found["sessions"]] == ["s-1"]
    agent.ask(agent.client.set_logging_level, "error")
    agent("start_session", session_id="s-2")
    until(lambda: len([m for m in heard if isinstance(m, ResourceUpdatedNotification)]) > len(uris))
    assert len(news()) == 3


def test_clients_since_2026_hear_of_sessions(serving: Make, project: Path) -> None:
    agent = serving("sessions", "store")
    settled(agent)

    async def listen() -> str:
        async with agent.client.listen(resource_subscriptions=["memory://sessions"]) as events:
            with anyio.fail_after(60):
                await agent.client.call_tool("start_session", {"session_id": "s-1"})
                async for event in events:
                    return str(event.uri)
        return ""

    assert agent.ask(listen) == "memory://sessions"
