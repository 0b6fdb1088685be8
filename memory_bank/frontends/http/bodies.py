"""A maximum size of the bodies of requests."""

from __future__ import annotations

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send


class Bodies:
    """A middleware that reads the body of a request first, and refuses one that is too large."""

    def __init__(self, app: ASGIApp, most: int) -> None:
        """Guard an application; `most` is the largest number of bytes."""
        self._app = app
        self._most = most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on with its whole body, or refuse it with 413."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        lengths = [value for name, value in scope["headers"] if name == b"content-length"]
        if any(int(value) > self._most for value in lengths):  # h11 has checked that it is a number
            await self._refuse(scope, receive, send)
            return
        body = bytearray()
        message: Message = {"more_body": True}
        while message.get("more_body"):
            message = await receive()
            body += message.get("body", b"")
            if len(body) > self._most:
                await self._refuse(scope, receive, send)
                return
        if message["type"] != "http.request":  # the client has gone
            return
        whole: list[Message] = [{"type": "http.request", "body": bytes(body), "more_body": False}]

        async def replay() -> Message:
            return whole.pop() if whole else await receive()

        await self._app(scope, replay, send)

    async def _refuse(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = PlainTextResponse(f"the body is larger than {self._most:,} bytes", 413)
        await refusal(scope, receive, send)
