"""Notifications that notes changed, for each protocol version."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from mcp.server.context import ServerRequestContext
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ResourcesListChanged, ResourceUpdated
from mcp_types import (
    EmptyResult,
    LoggingLevel,
    LoggingMessageNotification,
    LoggingMessageNotificationParams,
    SetLevelRequestParams,
    SubscribeRequestParams,
    UnsubscribeRequestParams,
)

from memory_bank.base.rendering import to_plain
from memory_bank.sessions.answers import SessionStep

if TYPE_CHECKING:  # a server answers before it loads an index
    from memory_bank.memory.maintenance import ChangedPaths

NOTE, TAGS, RECENT = "memory://note/", "memory://tags", "memory://recent"

SESSIONS = "memory://sessions"

LOGGER = "memory-bank.sessions"
"""The logger of messages about sessions."""

_LEVEL: LoggingLevel = "info"

_SHOWN = frozenset({"debug", "info"})
"""Levels at which a client is sent messages of our level."""

_MOST_SUBSCRIBED = 1000


def note_uri(path: str) -> str:
    """Return the resource URI of a note, given its path below the bank."""
    return NOTE + quote(path)


class Changes:
    """Subscribers to changes, by `subscriptions/listen` (the bus) or the protocol before 2026."""

    def __init__(self) -> None:
        """Start without subscribers."""
        self.bus = InMemorySubscriptionBus()
        self._sessions: dict[object, tuple[ServerSession, set[str]]] = {}
        self._quiet: set[object] = set()
        """Connections whose clients want only more severe messages."""

    def met(self, session: ServerSession) -> None:
        """Register the session of an initialized client until its connection ends."""
        connection = session._connection  # noqa: SLF001  (a session lives for one request only)
        if connection not in self._sessions:
            self._sessions[connection] = (session, set())
            connection.exit_stack.callback(self._sessions.pop, connection, None)
            connection.exit_stack.callback(self._quiet.discard, connection)

    async def subscribe(
        self, context: ServerRequestContext[Any, Any], params: SubscribeRequestParams
    ) -> EmptyResult:
        """Notify this client when a resource changes."""
        uris = self._uris(context.session)
        if len(uris) < _MOST_SUBSCRIBED:
            uris.add(str(params.uri))
        return EmptyResult()

    async def unsubscribe(
        self, context: ServerRequestContext[Any, Any], params: UnsubscribeRequestParams
    ) -> EmptyResult:
        """Stop notifying this client of a resource."""
        self._uris(context.session).discard(str(params.uri))
        return EmptyResult()

    async def set_level(
        self, context: ServerRequestContext[Any, Any], params: SetLevelRequestParams
    ) -> EmptyResult:
        """Send this client messages of that level and more severe ones only."""
        self.met(context.session)
        connection = context.session._connection  # noqa: SLF001
        if params.level in _SHOWN:
            self._quiet.discard(connection)
        else:
            self._quiet.add(connection)
        return EmptyResult()

    async def publish_news(self, news: Sequence[SessionStep]) -> None:
        """Tell all clients what happened in sessions.

        The resource of sessions was updated. Clients before 2026 also get a message for each event
        with its fields, which later versions of the protocol don't have.
        """
        await self.bus.publish(ResourceUpdated(SESSIONS))
        messages = [
            LoggingMessageNotification(
                params=LoggingMessageNotificationParams(
                    level=_LEVEL,
                    logger=LOGGER,
                    data=to_plain(happened),
                )
            )
            for happened in news
        ]
        for connection, (session, uris) in list(self._sessions.items()):
            if SESSIONS in uris:
                await session.send_resource_updated(SESSIONS)
            for message in messages if connection not in self._quiet else ():
                await session.send_notification(message)

    async def publish(self, changed: ChangedPaths) -> None:
        """Notify all subscribers of these changes."""
        paths = (*changed.added, *changed.removed, *changed.changed)
        if not paths:
            return
        moved = bool(changed.added or changed.removed)
        updated = [RECENT, TAGS, *_uris(paths)]
        if moved:
            await self.bus.publish(ResourcesListChanged())
        for uri in updated:
            await self.bus.publish(ResourceUpdated(uri))
        for session, uris in list(self._sessions.values()):
            if moved:
                await session.send_resource_list_changed()
            for uri in uris.intersection(updated):
                await session.send_resource_updated(uri)

    def _uris(self, session: ServerSession) -> set[str]:
        self.met(session)
        return self._sessions[session._connection][1]  # noqa: SLF001


def _uris(paths: Iterable[str]) -> Iterable[str]:
    """Yield the resource URIs of notes, with their suffix and without."""
    for path in paths:
        yield note_uri(path)
        yield note_uri(path).removesuffix(".md")
