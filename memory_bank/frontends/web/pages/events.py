"""What changes, as it happens: pages listen to it and load their parts anew."""

from __future__ import annotations

import asyncio
import secrets
import threading
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import suppress

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from memory_bank.base.rendering import document
from memory_bank.frontends.serving.serving_background import Background
from memory_bank.frontends.web.site import Site
from memory_bank.memory.maintenance import ChangedPaths
from memory_bank.sessions.days import SESSION_FOLDER

NOTES, SESSIONS, INDEX = "notes", "sessions", "index"
"""Kinds of changes; the notes of sessions are of both."""

MOST_READERS = 32
"""Browsers that are told at the same time."""

_HEARTBEAT = 15.0
"""Seconds without a change after which a sign of life is sent, so that dead connections end."""

_GATHER = 0.15
"""Seconds in which changes become one message."""

_RETRY = 3000
"""Milliseconds before a browser connects again."""


class Live:
    """Passes on what the background work sees; its threads never wait for a reader."""

    def __init__(self, background: Background) -> None:
        """Listen from now on."""
        self._lock = threading.Lock()
        self._readers: dict[asyncio.Event, asyncio.AbstractEventLoop] = {}
        self._counts = {NOTES: 0, SESSIONS: 0, INDEX: 0}
        self._run = secrets.token_hex(4)
        background.listen(self._notes_changed)
        background.listen_to_sessions(lambda _: self._tell({SESSIONS}))

    @property
    def full(self) -> bool:
        """Whether no other reader can be told."""
        return len(self._readers) >= MOST_READERS

    async def messages(self, stopping: asyncio.Event) -> AsyncIterator[str]:
        """Yield the messages of one reader, until the server stops."""
        wake = asyncio.Event()
        with self._lock:
            self._readers[wake] = asyncio.get_running_loop()
            known = dict(self._counts)
        try:
            # after a pause, a browser sees by these numbers what it has missed
            yield f"retry: {_RETRY}\n{self._message('hello', known)}"
            while not stopping.is_set():
                if not await _first_of(wake, stopping):
                    yield ": nothing new\n\n"
                    continue
                with suppress(TimeoutError):
                    await asyncio.wait_for(stopping.wait(), _GATHER)
                wake.clear()
                with self._lock:
                    now = dict(self._counts)
                kinds = sorted(kind for kind in now if now[kind] != known[kind])
                known = now
                if kinds:
                    yield self._message("change", {**now, "kinds": kinds})
        finally:
            with self._lock:
                del self._readers[wake]

    def _notes_changed(self, changed: ChangedPaths) -> None:
        paths = [*changed.added, *changed.changed, *changed.removed]
        of_sessions = any(path.startswith(SESSION_FOLDER) for path in paths)
        self._tell({INDEX, *([NOTES] if paths else []), *([SESSIONS] if of_sessions else [])})

    def _tell(self, kinds: Collection[str]) -> None:
        with self._lock:
            for kind in kinds:
                self._counts[kind] += 1
            readers = list(self._readers.items())
        for wake, loop in readers:
            with suppress(RuntimeError):  # the server has just stopped
                loop.call_soon_threadsafe(wake.set)

    def _message(self, event: str, data: Mapping[str, object]) -> str:
        # JSON has no line ends, which would end the message
        text = document({"run": self._run, **data}, indent=None, ascii_only=True)
        return f"event: {event}\ndata: {text}\n\n"


async def _first_of(wake: asyncio.Event, stopping: asyncio.Event) -> bool:
    """Wait for a change or the stop of the server; False if there was none in time."""
    waits = [asyncio.ensure_future(one.wait()) for one in (wake, stopping)]
    try:
        done, _ = await asyncio.wait(waits, timeout=_HEARTBEAT, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for one in waits:
            one.cancel()
    return bool(done)


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
