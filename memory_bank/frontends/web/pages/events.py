"""What changes, as it happens: pages listen to it and load their parts anew."""

from __future__ import annotations

import asyncio
import secrets
import threading
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import suppress
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from memory_bank.base.rendering import document
from memory_bank.frontends.serving.serving_background import Background
from memory_bank.frontends.web.site import Site
from memory_bank.memory.maintenance import ChangedPaths
from memory_bank.sessions.days import SESSION_FOLDER
from memory_bank.sessions.events import Happened

NOTES, SESSIONS, INDEX = "notes", "sessions", "index"

MOST_READERS = 32
"""Browsers that are told at the same time."""

MOST_NAMED = 100
"""Changes that one message names; of more, and if a reader is slow, it says only their kinds."""

_HEARTBEAT = 15.0
"""Seconds without a change after which a sign of life is sent, so that dead connections end."""

_GATHER = 0.15
"""Seconds in which changes become one message."""

_RETRY = 3000
"""Milliseconds before a browser connects again."""


class BankChange(NamedTuple):
    """Something that changed."""

    kind: str
    """`notes`, `sessions` or `index`."""
    name: str
    """The path of a note, or the id of a session."""
    what: str
    """`added`, `changed` or `removed`; of sessions as their notifications are called."""


class Live:
    """Passes on what the background work sees; its threads never wait for a reader."""

    def __init__(self, background: Background) -> None:
        """Listen from now on."""
        self._lock = threading.Lock()
        self._readers: set[BrowserStream] = set()
        self._counts = {NOTES: 0, SESSIONS: 0, INDEX: 0}
        self._run = secrets.token_hex(4)
        background.listen(self._notes_changed)
        background.listen_to_sessions(self._sessions_changed)

    @property
    def full(self) -> bool:
        """Whether no other reader can be told."""
        return len(self._readers) >= MOST_READERS

    async def messages(self, stopping: asyncio.Event) -> AsyncIterator[str]:
        """Yield the messages of one reader, until the server stops."""
        reader = BrowserStream()
        with self._lock:
            self._readers.add(reader)
            state = {"run": self._run, **self._counts}
        try:
            # after a pause, a browser sees by these numbers what it has missed
            yield f"retry: {_RETRY}\n{_message('hello', state)}"
            while not stopping.is_set():
                if not await reader.woken(stopping, _HEARTBEAT):
                    yield ": nothing new\n\n"
                    continue
                await reader.gather(stopping)
                found, cut = reader.take()
                with self._lock:
                    state = {"run": self._run, **self._counts}
                if found or cut:
                    yield _message("change", {**state, **_told(found, cut=cut)})
        finally:
            with self._lock:
                self._readers.discard(reader)

    def _notes_changed(self, changed: ChangedPaths) -> None:
        named = {"added": changed.added, "changed": changed.changed, "removed": changed.removed}
        found = [BankChange(NOTES, path, what) for what, paths in named.items() for path in paths]
        self._tell([*found, BankChange(INDEX, "", "synced")])

    def _sessions_changed(self, news: Sequence[Happened]) -> None:
        self._tell([BankChange(SESSIONS, one.session_id, one.event) for one in news])

    def _tell(self, found: Sequence[BankChange]) -> None:
        with self._lock:
            for kind in _kinds(found):
                self._counts[kind] += 1
            readers = list(self._readers)
        for reader in readers:
            reader.put(found)


class BrowserStream:
    """What waits for one browser; it is made in the loop of the server."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._wake = asyncio.Event()
        self._lock = threading.Lock()
        self._found: list[BankChange] = []
        self._cut: set[str] = set()

    def put(self, found: Sequence[BankChange]) -> None:
        """Add changes, from any thread; what is too much is kept as kinds only."""
        with self._lock:
            self._found += found
            if len(self._found) > MOST_NAMED:
                self._cut |= _kinds(self._found)
                self._found.clear()
        with suppress(RuntimeError):  # the server has just stopped
            self._loop.call_soon_threadsafe(self._wake.set)

    def take(self) -> tuple[list[BankChange], set[str]]:
        """Return what waits: changes, and the kinds of those that are not named."""
        with self._lock:
            found, cut = self._found, self._cut
            self._found, self._cut = [], set()
        self._wake.clear()
        return found, cut

    async def woken(self, stopping: asyncio.Event, seconds: float) -> bool:
        """Wait for a change or the stop of the server; False if there was none in time."""
        waits = [asyncio.ensure_future(one.wait()) for one in (self._wake, stopping)]
        try:
            done, _ = await asyncio.wait(
                waits, timeout=seconds, return_when=asyncio.FIRST_COMPLETED
            )
        finally:
            for one in waits:
                one.cancel()
        return bool(done)

    async def gather(self, stopping: asyncio.Event) -> None:
        """Wait a moment for further changes, unless the server stops."""
        with suppress(TimeoutError):
            await asyncio.wait_for(stopping.wait(), _GATHER)


def _kinds(found: Iterable[BankChange]) -> set[str]:
    """Return the kinds of changes; the notes of sessions are of both."""
    kinds = {one.kind for one in found}
    if any(one.kind == NOTES and one.name.startswith(SESSION_FOLDER) for one in found):
        kinds.add(SESSIONS)
    return kinds


def _told(found: Sequence[BankChange], *, cut: set[str]) -> dict[str, object]:
    named = list(dict.fromkeys(found))
    return {
        "kinds": sorted(_kinds(found) | cut),
        "changes": [one._asdict() for one in named if one.name],
        "complete": not cut,
    }


def _message(event: str, data: object) -> str:
    # JSON has no line ends, which would end the message
    return f"event: {event}\ndata: {document(data, indent=None, ascii_only=True)}\n\n"


TITLE = "Events"

PLACE = None

PATH = "/events"

_KIND = "text/event-stream; charset=utf-8"


def routes(site: Site) -> Sequence[Route]:
    """Return the route of the events."""
    live = Live(site.background)

    async def events(request: Request) -> Response:
        if request.method == "HEAD":
            return Response(media_type=_KIND)
        if live.full:
            return PlainTextResponse("too many pages are open", 503, {"Retry-After": "30"})
        messages = live.messages(request.state.stopping)
        return StreamingResponse(messages, media_type=_KIND, headers={"X-Accel-Buffering": "no"})

    return [Route(PATH, events)]
