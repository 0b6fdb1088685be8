import asyncio
import json
import signal
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2
import pytest

from memory_bank.bank.bank import open_bank
from memory_bank.frontends.serving.serving_background import Background
from memory_bank.frontends.serving.shared_bank import SharedBank
from memory_bank.frontends.web.pages import events
from memory_bank.frontends.web.pages.events import Live
from memory_bank.memory.maintenance import ChangedPaths
from memory_bank.sessions.sessions import store_observation
from tests.session_builder import observation, session, write

from .conftest import Dashboard, Look, Serve


class Stream:
    """The events of a dashboard, read in a thread."""

    def __init__(self, response: httpx2.Response) -> None:
        self.kind = response.headers["content-type"]
        self.found: list[tuple[str, dict[str, Any]]] = []
        self.ended = False
        self._response = response
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self) -> None:
        name = ""
        try:
            for line in self._response.iter_lines():
                field, _, value = line.partition(": ")
                if field == "event":
                    name = value
                elif field == "data":
                    self.found.append((name, json.loads(value)))
        except httpx2.HTTPError:
            return  # the server has cut it off
        self.ended = True

    def wait(self, name: str, kind: str = "", seconds: float = 60) -> dict[str, Any]:
        """Return the first event of a name and a kind, once it is there."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for event, data in list(self.found):
                if event == name and (not kind or kind in data["kinds"]):
                    return data
            time.sleep(0.05)
        raise AssertionError(f"no {name} of {kind}: {self.found}")


@contextmanager
def listening(served: Dashboard) -> Iterator[Stream]:
    with served.client() as client, client.stream("GET", "/events") as response:
        assert response.status_code == 200
        yield Stream(response)


def test_changes_of_notes_and_sessions_are_told(serve: Serve, project: Path) -> None:
    served = serve()
    with listening(served) as stream:
        assert stream.kind.startswith("text/event-stream")
        assert set(stream.wait("hello")) == {"run", "notes", "sessions", "index"}
        stream.wait("change", "index")  # from now on the files are watched
        (project / ".memories/facts/new.md").write_text("# New\n\nText.\n")
        stream.wait("change", "notes")
        with open_bank(project) as bank:
            store_observation(bank, "s-1", title="Mended")
        stream.wait("change", "sessions")
        served.process.send_signal(signal.SIGTERM)
        assert served.process.wait(60) == 0
        stream.thread.join(60)
        assert stream.ended, "it is not cut off after three seconds"


def test_a_request_for_the_head_ends(dashboard: httpx2.Client) -> None:
    answer = dashboard.head("/events")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/event-stream")


@pytest.fixture
def hub(project: Path) -> Iterator[tuple[Live, Background]]:
    """Make what tells, without a server."""
    shared = SharedBank(str(project))
    background = Background(shared)
    yield Live(background), background
    shared.close()


def changed(*paths: str) -> ChangedPaths:
    return ChangedPaths(changed=paths)


async def parsed(messages: AsyncIterator[str]) -> dict[str, Any]:
    text = await asyncio.wait_for(anext(messages), 60)
    found: dict[str, Any] = json.loads(text.split("data: ", 1)[1])
    return found


def test_changes_of_a_moment_are_one_message_of_their_kinds(hub: tuple[Live, Background]) -> None:
    told, background = hub

    async def work() -> None:
        messages = told.messages(asyncio.Event())
        assert (await parsed(messages))["notes"] == 0
        for name in ("a", "b", "a"):
            background.tell(changed(f"{name}.md"))
        found = await parsed(messages)
        assert (found["kinds"], found["notes"]) == (["index", "notes"], 3)
        background.tell(changed("sessions/a.md"))
        found = await parsed(messages)
        assert (found["kinds"], found["notes"]) == (["index", "notes", "sessions"], 4)
        await messages.aclose()  # type: ignore[attr-defined]

    asyncio.run(work())


def test_a_dead_connection_is_noticed_and_the_number_is_bounded(
    hub: tuple[Live, Background], monkeypatch: pytest.MonkeyPatch
) -> None:
    told, _ = hub
    monkeypatch.setattr(events, "_HEARTBEAT", 0.01)
    monkeypatch.setattr(events, "MOST_READERS", 2)

    async def work() -> None:
        readers = [told.messages(asyncio.Event()) for _ in range(2)]
        for one in readers:
            await anext(one)
        assert told.full
        assert (await asyncio.wait_for(anext(readers[0]), 60)).startswith(":")
        await readers[0].aclose()  # type: ignore[attr-defined]
        assert not told.full
        await readers[1].aclose()  # type: ignore[attr-defined]

    asyncio.run(work())


def test_a_page_shows_what_changed_without_a_reload(
    serve: Serve, look: Look, project: Path
) -> None:
    served = serve()
    page = look(f"{served.url}/notes/facts/bm25")
    sessions = look(f"{served.url}/sessions")
    page.evaluate("window.same = true")
    time.sleep(1.0)
    note = project / ".memories/facts/bm25.md"
    note.write_text(f"{note.read_text()}\nAdded by an editor.\n")
    write(project / ".memories", session("s1", observation(1, "One", created_at=datetime.now(UTC))))
    page.get_by_text("Added by an editor").wait_for()
    page.get_by_text("Updated just now").wait_for()
    sessions.locator("#sessions a[href='/sessions/s1']").wait_for()
    assert page.evaluate("window.same")
    assert page.locator("#live").get_attribute("aria-live") == "polite"


def test_nothing_that_was_typed_is_lost(serve: Serve, look: Look, project: Path) -> None:
    now = datetime.now(UTC)
    write(project / ".memories", session("s1", observation(1, "One", created_at=now)))
    page = look(f"{serve('--write').url}/sessions/s1")
    form = page.locator("#obs-000000000001")
    form.get_by_text("Make a note of it").click()
    form.get_by_label("Path").fill("facts/one")
    time.sleep(1.0)
    with open_bank(project) as bank:
        store_observation(bank, "s1", title="Two")
    page.get_by_text("shown when your form is done").wait_for()
    assert form.get_by_label("Path").input_value() == "facts/one"
    assert page.locator(".events .name", has_text="Two").count() == 0
    form.get_by_label("Path").fill("")
    form.get_by_label("Path").blur()
    page.locator(".events .name", has_text="Two").wait_for()
    assert form.get_by_label("Path").is_visible()


def test_a_page_that_nobody_sees_holds_no_connection(
    serve: Serve, look: Look, project: Path
) -> None:
    page = look(f"{serve().url}/notes")
    hide = (
        "(hidden) => { Object.defineProperty(document, 'hidden', {value: hidden, configurable:"
        " true}); document.dispatchEvent(new Event('visibilitychange')); }"
    )
    time.sleep(1.0)
    page.evaluate(hide, True)
    assert page.evaluate("live.source") is None
    (project / ".memories/facts/new.md").write_text("# Brand new\n\nText.\n")
    time.sleep(1.0)
    assert page.get_by_text("Brand new").count() == 0
    page.evaluate(hide, False)
    page.get_by_role("link", name="Brand new").wait_for()
