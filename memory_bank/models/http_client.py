"""Post JSON to one endpoint: time limits, tries, and a key that no message ever shows."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from memory_bank.errors import BadSetting, EmbedderUnavailable

if TYPE_CHECKING:
    from http.client import HTTPResponse
    from urllib.error import HTTPError
    from urllib.request import OpenerDirector

    from memory_bank.config import Http as Options

_LARGEST = 256_000_000  # bytes of an answer: ten times what a batch of 512 large vectors takes
_CHUNK = 1 << 16
_LONGEST = 3600.0  # seconds; no socket can wait for ever and still end
_FIRST_PAUSE = 0.25  # seconds before the second try; doubled for each further one
_LEAST = 0.05  # seconds: with less left, no further try
_WORTH_A_TRY = frozenset({408, 425, 429, 500, 502, 503, 504, 529})
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_REFUSED = "embedder_refused"
_UNREACHABLE = "embedder_unreachable"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where to post, with which key, and how long to wait."""

    url: str
    place: str
    """The URL without query, which may hold a secret too: what messages show."""
    path: str
    host: str
    key: str = field(repr=False)
    timeout: float
    retries: int

    @classmethod
    def of(cls, options: Options, hint: str) -> Endpoint:
        """Check URL and key; raise BadSetting, which shows neither a key nor a password."""
        url = options.url.strip()
        try:
            parts = urlsplit(url)
            port = f":{parts.port}" if parts.port else ""
        except ValueError:
            raise BadSetting("http.url is no URL", hint) from None  # the cause shows all of it
        if not _plain(url):
            raise BadSetting("http.url holds a space or a letter that no URL may", hint)
        host = parts.hostname or ""
        if parts.scheme not in {"http", "https"} or not host:
            raise BadSetting("http.url must begin with http:// or https:// and a host", hint)
        if parts.username is not None or parts.password is not None:
            raise BadSetting("http.url holds a user or password", "put a token into http.key")
        key = options.key.strip()
        if not _plain(key):
            raise BadSetting("http.key holds a character that no header may", "copy it once more")
        shown = f"[{host}]" if ":" in host else host
        place = f"{parts.scheme}://{shown}{port}{parts.path}"
        url = parts._replace(fragment="").geturl()
        timeout = min(options.timeout, _LONGEST)
        return cls(url, place, parts.path.rstrip("/"), host, key, timeout, options.retries)

    def post(self, body: object, *, patient: bool) -> object:
        """Return the JSON that comes back, trying again after a passing failure.

        The limit for everything is one `timeout`, or when patient one for each try. Raises
        EmbedderUnavailable: `embedder_unreachable`, or `embedder_refused` when it says no.
        """
        tries = self.retries + 1
        end = time.monotonic() + self.timeout * (tries if patient else 1)
        pause = _FIRST_PAUSE
        for left in reversed(range(tries)):
            try:
                return self._once(body, end)
            except _Passing as failure:
                wait = max(pause, failure.wait)
                if not left or time.monotonic() + wait + _LEAST > end:
                    raise failure.final from failure.final.__cause__
            time.sleep(wait)
            pause *= 2
        raise AssertionError  # the last try returns or raises

    def _once(self, body: object, end: float) -> object:
        from http.client import HTTPException
        from urllib.error import HTTPError, URLError
        from urllib.request import Request

        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        request = Request(self.url, json.dumps(body).encode(), headers)  # noqa: S310  (checked)
        if self.key:
            request.add_unredirected_header("Authorization", f"Bearer {self.key}")
        seconds = min(self.timeout, max(_LEAST, end - time.monotonic()))
        try:
            with _opener(self.host).open(request, timeout=seconds) as response:
                raw = _read(response, time.monotonic() + seconds)
        except HTTPError as error:
            raise self._refused(error) from None  # it refers to the request and so to the key
        except (URLError, TimeoutError, OSError, HTTPException) as error:
            raise self._unreachable(getattr(error, "reason", error), seconds) from None
        try:
            return json.loads(raw)
        except (ValueError, RecursionError):
            message = f"{self.place}: the answer is no JSON: {self._quoted(raw)}"
            hint = "is http.url the endpoint of an embedding model?"
            raise EmbedderUnavailable(message, hint, "embedder_bad_answer") from None

    def _refused(self, error: HTTPError) -> EmbedderUnavailable | _Passing:
        """Say what a status other than 200 means."""
        with error:
            said = self._quoted(_peek(error))
            target = error.headers.get("Location", "")
            wait = error.headers.get("Retry-After", "")
        if 300 <= error.code < 400:  # noqa: PLR2004  (redirections)
            # A redirected POST would lose its body, or carry texts and key to another host.
            message = f"{self.place}: HTTP {error.code}, moved to {self._safe(target)}"
            return EmbedderUnavailable(message, "set http.url to where it has moved", _REFUSED)
        message = f"{self.place}: HTTP {error.code}: {said}"
        if error.code in _WORTH_A_TRY:
            final = EmbedderUnavailable(message, "try again later", _UNREACHABLE)
            return _Passing(final, float(wait) if wait.isdecimal() else 0.0)
        hints = {401: "check http.key", 403: "check http.key", 404: "check http.url and http.model"}
        hint = hints.get(error.code, "check http.url, http.model and http.batch")
        return EmbedderUnavailable(message, hint, _REFUSED)

    def _unreachable(self, why: object, seconds: float) -> EmbedderUnavailable | _Passing:
        """Say that no answer came; only what may pass within seconds is worth another try."""
        from http.client import HTTPException

        late = isinstance(why, TimeoutError)
        words = f"no answer within {seconds:.3g} seconds" if late else str(why) or repr(why)
        message = f"{self.place}: {self._safe(words)}"
        hint = "is the server running? `memory-bank embedder test` asks it again"
        final = EmbedderUnavailable(message, hint, _UNREACHABLE)
        dropped = isinstance(why, ConnectionResetError | ConnectionAbortedError | HTTPException)
        return _Passing(final, 0.0) if late or dropped else final

    def _quoted(self, raw: bytes) -> str:
        return self._safe(raw.decode("utf-8", "replace"))

    def _safe(self, words: str) -> str:
        """Take a stranger's words into a message: short, printable, and without our key."""
        if self.key:
            words = words.replace(self.key, "***")
        printable = "".join(c if c.isprintable() else " " for c in words)
        return " ".join(printable.split())[:200] or "nothing"


def _plain(text: str) -> bool:
    return text.isascii() and text.isprintable() and " " not in text


class _Passing(Exception):
    """A failure that another try, after `wait` seconds, may not meet."""

    def __init__(self, final: EmbedderUnavailable, wait: float) -> None:
        super().__init__(final.message)
        self.final = final
        self.wait = wait


def _opener(host: str) -> OpenerDirector:
    """Make what sends requests: it follows no redirection, and has no proxy to ourselves."""
    from urllib.request import (
        HTTPRedirectHandler,
        ProxyHandler,
        build_opener,
    )

    class Stay(HTTPRedirectHandler):
        def redirect_request(self, *_: object) -> None:
            """Return None: the redirection becomes an error."""

    return build_opener(Stay, *([ProxyHandler({})] if host in _LOOPBACK else []))


def _read(response: HTTPResponse, end: float) -> bytes:
    """Read an answer whole; a socket's own limit starts anew with every byte."""
    parts: list[bytes] = []
    size = 0
    while chunk := response.read1(_CHUNK):
        parts.append(chunk)
        size += len(chunk)
        if time.monotonic() > end:
            raise TimeoutError
        if size > _LARGEST:
            raise OSError(f"the answer is larger than {_LARGEST} bytes")
    return b"".join(parts)


def _peek(error: HTTPError) -> bytes:
    from http.client import HTTPException

    try:
        return error.read(2000)
    except (OSError, HTTPException):
        return b""
