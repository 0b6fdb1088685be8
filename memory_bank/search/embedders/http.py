"""A model behind HTTP: an OpenAI-compatible endpoint, or Ollama."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Final, NoReturn, cast
from urllib.parse import urlsplit

from blake3 import blake3

from memory_bank.base import NamedTuple
from memory_bank.base.errors import BadSetting, EmbedderUnavailable, Hint
from memory_bank.base.setting_sections import Key
from memory_bank.base.settings import Settings
from memory_bank.search.embedders.base import (
    CODE_WEIGHT,
    THRESHOLD,
    WEIGHT,
    Kind,
    Vectors,
    digest,
)
from memory_bank.search.models.weight_files import KnownModel, recall, remember

if TYPE_CHECKING:
    import ssl

    import httpx2


BAD_ANSWER = "embedder_bad_answer"

_LARGEST = 256_000_000  # bytes of an answer: ten times what a batch of 512 large vectors takes

_SHOWN = 2000  # bytes of a refusal that are read

_MAX_SECONDS = 3600.0  # no socket can wait for ever and still end

_FIRST_PAUSE = 0.25  # seconds before the second try; doubled for each further one

_LEAST = 0.05  # seconds: with less left, no further try

_TRY_AGAIN = frozenset({408, 425, 429, 500, 502, 503, 504, 529})

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})

_REFUSED = "embedder_refused"

_UNREACHABLE = "embedder_unreachable"


@dataclass(frozen=True, slots=True)
class EmbeddingEndpoint:
    """Where to post, with which key, and how long to wait; no message shows key or query."""

    url: str
    place: str
    """The URL without query, which may hold a secret too: what messages show."""
    path: str
    host: str
    key: str = field(repr=False)
    timeout: float
    retries: int

    @classmethod
    def of(cls, options: HttpOptions, hint: str) -> EmbeddingEndpoint:
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
        text = f"[{host}]" if ":" in host else host
        place = f"{parts.scheme}://{text}{port}{parts.path}"
        url = parts._replace(fragment="").geturl()
        timeout = min(options.timeout, _MAX_SECONDS)
        return cls(url, place, parts.path.rstrip("/"), host, key, timeout, options.retries)

    def post(self, body: object, *, patient: bool) -> object:
        """Return the JSON that comes back, trying again after a passing failure.

        The limit for everything is one `timeout`, or when patient one for each try. Raises
        EmbedderUnavailable: `embedder_unreachable`, or `embedder_refused` when it says no.
        """
        with self._transport() as transport:  # made first: what it loads is not the server's time
            tries = self.retries + 1
            end = time.monotonic() + self.timeout * (tries if patient else 1)
            pause = _FIRST_PAUSE
            for index in reversed(range(tries)):
                try:
                    return self._once(transport, body, end)
                except _Transient as failure:
                    wait = max(pause, failure.wait)
                    if not index or time.monotonic() + wait + _LEAST > end:
                        raise failure.final from failure.final.__cause__
                time.sleep(wait)
                pause *= 2
        raise AssertionError  # the last try returns or raises

    def _once(self, transport: httpx2.HTTPTransport, body: object, end: float) -> object:
        import httpx2

        seconds = min(self.timeout, max(_LEAST, end - time.monotonic()))
        until = time.monotonic() + seconds
        try:
            with closing(transport.handle_request(self._request(body, seconds))) as response:
                if not response.is_success:
                    raise self._refused(response, _peek(response, until))
                raw = _read(response, until, _LARGEST + 1)
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise self._unreachable(error, seconds) from None  # it refers to the key
        if len(raw) > _LARGEST:
            message = f"{self.place}: the answer is larger than {_LARGEST} bytes"
            raise EmbedderUnavailable(message, "set a smaller http.batch", BAD_ANSWER)
        try:
            return json.loads(raw)
        except (ValueError, RecursionError):
            message = f"{self.place}: the answer is no JSON: {self._quoted(raw[:_SHOWN])}"
            hint = "is http.url the endpoint of an embedding model?"
            raise EmbedderUnavailable(message, hint, BAD_ANSWER) from None

    def _transport(self) -> httpx2.HTTPTransport:
        """Open a transport for one request.

        Unlike the library's `Client`, it doesn't follow redirections, log the URL or read keys from
        ~/.netrc. It uses a proxy of the system, except for this machine.
        """
        from urllib.request import getproxies, proxy_bypass

        import httpx2  # start-up: settings are checked without it

        parts = urlsplit(self.url)
        direct = self.host in _LOOPBACK or proxy_bypass(parts.netloc)
        proxy = None if direct else getproxies().get(parts.scheme)
        if proxy and "://" not in proxy:
            proxy = f"http://{proxy}"
        try:
            return httpx2.HTTPTransport(
                verify=_certificates(parts.scheme), trust_env=False, proxy=proxy
            )
        except (ValueError, ImportError, httpx2.InvalidURL):  # their words may show its password
            message = f"{self.place}: the proxy set for {parts.scheme} can't be used"
            hint = f"check {parts.scheme}_proxy: it must be http://HOST:PORT"
            raise EmbedderUnavailable(message, hint, _UNREACHABLE) from None

    def _request(self, body: object, seconds: float) -> httpx2.Request:
        import httpx2

        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json",
            "Accept-Encoding": "identity",  # and nothing is unpacked: a small answer stays small
            "User-Agent": "memory-bank",
        }
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        return httpx2.Request(
            "POST",
            self.url,
            headers=headers,
            content=json.dumps(body).encode(),
            extensions={"timeout": httpx2.Timeout(seconds).as_dict()},
        )

    def _refused(self, response: httpx2.Response, raw: bytes) -> EmbedderUnavailable | _Transient:
        """Return the error for a status other than 200."""
        code = response.status_code
        if response.is_redirect:
            # A redirected POST would lose its body, or carry texts and key to another host.
            target = self._safe(response.headers.get("Location", ""))
            message = f"{self.place}: HTTP {code}, moved to {target}"
            return EmbedderUnavailable(message, "set http.url to where it has moved", _REFUSED)
        message = f"{self.place}: HTTP {code}: {self._quoted(raw)}"
        if code in _TRY_AGAIN:
            wait = response.headers.get("Retry-After", "")
            final = EmbedderUnavailable(message, "try again later", _UNREACHABLE)
            return _Transient(final, float(wait) if wait.isdecimal() else 0.0)
        hints = {401: "check http.key", 403: "check http.key", 404: "check http.url and http.model"}
        hint = hints.get(code, "check http.url, http.model and http.batch")
        return EmbedderUnavailable(message, hint, _REFUSED)

    def _unreachable(self, why: Exception, seconds: float) -> EmbedderUnavailable | _Transient:
        """Return the error for a failed connection; only temporary failures are retried."""
        import httpx2

        late = isinstance(why, httpx2.TimeoutException)
        words = f"no answer within {seconds:.3g} seconds" if late else str(why) or repr(why)
        message = f"{self.place}: {self._safe(words)}"
        final = EmbedderUnavailable(message, Hint.TEST_SERVER, _UNREACHABLE)
        dropped = isinstance(why, httpx2.TransportError) and not isinstance(
            why, httpx2.ConnectError | httpx2.ProxyError | httpx2.UnsupportedProtocol
        )
        return _Transient(final, 0.0) if late or dropped else final

    def _quoted(self, raw: bytes) -> str:
        return self._safe(raw.decode("utf-8", "replace"))

    def _safe(self, words: str) -> str:
        """Return text of a server for a message: short, printable, and without our key."""
        if self.key:
            words = words.replace(self.key, "***")
        printable = "".join(c if c.isprintable() else " " for c in words)
        return " ".join(printable.split())[:200] or "nothing"


def _plain(text: str) -> bool:
    return text.isascii() and text.isprintable() and " " not in text


class _Transient(Exception):
    """A failure that may be temporary; retry after `wait` seconds."""

    def __init__(self, final: EmbedderUnavailable, wait: float) -> None:
        super().__init__(final.message)
        self.final = final
        self.wait = wait


@cache
def _certificates(scheme: str) -> ssl.SSLContext:
    """Load what Python trusts (SSL_CERT_FILE too), once: it takes 100 ms, and http needs none."""
    import ssl

    https = scheme == "https"
    return ssl.create_default_context() if https else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def _peek(response: httpx2.Response, end: float) -> bytes:
    """Return the start of an error response; empty if it can't be read."""
    import httpx2

    try:
        return _read(response, end, _SHOWN)
    except httpx2.HTTPError:
        return b""


def _read(response: httpx2.Response, end: float, most: int) -> bytes:
    """Return the first bytes of an answer; the socket's own time limit restarts with each chunk."""
    import httpx2

    parts: list[bytes] = []
    left_most = most
    for chunk in response.iter_raw():
        parts.append(chunk[:left_most])
        left_most -= len(parts[-1])
        if not left_most:
            break
        if time.monotonic() > end:
            raise httpx2.ReadTimeout("")
    return b"".join(parts)


SUMMARY = "a model behind HTTP: OpenAI-compatible or Ollama (settings http.url, http.model)"

_OPENAI = "/embeddings"

_OLLAMA = "/api/embed"

_OLD_OLLAMA = "/api/embeddings"  # one text a request, another shape

_HINT = "http.url ends in /v1/embeddings (OpenAI-compatible) or /api/embed (Ollama)"

# UTF-8 bytes of a text that are sent: OpenAI reads 8,192 tokens and refuses the whole request
# when one text has more; other servers read less and cut by themselves.
_MOST_BYTES = 20_000


class HttpOptions(NamedTuple):
    """Section `[http]`: the embedder `http`. Its repr is empty: it may hold a key."""

    url: Annotated[
        str, Key("OpenAI-compatible …/v1/embeddings or Ollama …/api/embed", private=True)
    ] = ""
    model: Annotated[str, Key("the model's name at the endpoint", private=True)] = ""
    key: Annotated[str, Key("bearer token", private=True, secret=True)] = ""
    dimension: Annotated[
        int, Key("vector length; 0 asks the endpoint once", high=100_000, private=True)
    ] = 0
    batch: Annotated[int, Key("texts a request", low=1, high=10_000, private=True)] = 64
    timeout: Annotated[
        float, Key("seconds a request may take", low=0.1, high=3600, private=True)
    ] = 10.0
    retries: Annotated[int, Key("further tries after a failed request", high=100, private=True)] = 2

    def __repr__(self) -> str:
        """Show nothing of it."""
        return "Options(…)"


SETTINGS = HttpOptions


class HttpEmbedder:
    """A model on a server; its name and URL identify its vectors."""

    name: Final = "http"
    weight: Final = WEIGHT
    code_weight: Final = CODE_WEIGHT
    similarity_threshold: Final = THRESHOLD

    def __init__(self, endpoint: EmbeddingEndpoint, options: HttpOptions) -> None:
        self._endpoint = endpoint
        self._model = options.model
        self._batch = options.batch
        self._dimension = options.dimension or recall(self._key).dimension

    @property
    def dimension(self) -> int:
        """The number of components: set, remembered, or asked for; raises EmbedderUnavailable."""
        if not self._dimension:
            self._ask(["dimension"], patient=False)
        return self._dimension

    @property
    def model_hash(self) -> str:
        """Identifies the model by its name and URL."""
        return str(blake3(self._key.encode()).hexdigest())[:16]

    def embed(self, texts: Sequence[str], kind: Kind = "passage") -> Vectors:
        """Return float32 rows of length 1, shape (len(texts), dimension); blank texts give zeros.

        A query has one time limit for all tries, passages one for each. Raises EmbedderUnavailable
        if the endpoint can't be reached or returns anything but vectors.
        """
        from memory_bank.search.models import vectors

        filled = [index for index, text in enumerate(texts) if text and not text.isspace()]
        parts = [
            self._ask([_cut_text(texts[index]) for index in chosen], patient=kind != "query")
            for chosen in _batches(filled, self._batch)
        ]
        np = vectors.np
        rows = np.zeros((len(texts), self.dimension), np.float32)
        if parts:
            rows[filled] = np.concatenate(parts)
        return vectors.scale_to_unit(rows)

    @property
    def _key(self) -> str:
        return f"http|{self._endpoint.place}|{self._model}"

    def _ask(self, texts: list[str], *, patient: bool) -> Vectors:
        answer = self._endpoint.post({"model": self._model, "input": texts}, patient=patient)
        rows = self._rows(answer, len(texts))
        shape = rows.shape[1]
        if not self._dimension:
            self._dimension = shape
            remember(self._key, KnownModel(shape))
        elif shape != self._dimension:
            remember(self._key, KnownModel())  # asked anew at the next start, unless it is set
            self._refuse(
                f"gives vectors of {shape} components, not {self._dimension}",
                f"run it again if the model has changed, or set http.dimension to {shape}",
            )
        return rows

    def _rows(self, answer: object, count: int) -> Vectors:
        """Return the vectors of an answer, in the order of the texts."""
        from memory_bank.search.models import vectors

        np = vectors.np
        try:
            lists = _lists(answer)
            rows = np.array(lists, np.float64)
        except (LookupError, TypeError, ValueError, OverflowError) as error:
            self._refuse(f"gives no list of vectors of one length ({type(error).__name__})")
        if len(lists) != count:
            self._refuse(f"gives {len(lists)} vectors for {count} texts")
        if rows.ndim != 2 or not rows.shape[1]:  # noqa: PLR2004  (texts, dimension)
            self._refuse("gives no list of vectors of one length")
        if not (np.abs(rows) <= np.finfo(np.float32).max).all():  # not so for NaN either
            self._refuse("gives vectors with components that are no finite numbers")
        return rows.astype(np.float32)

    def _refuse(self, text: str, hint: str = _HINT) -> NoReturn:
        message = f"{self._endpoint.place}: model {self._model!r} {text}"
        raise EmbedderUnavailable(message, hint, BAD_ANSWER)


def fingerprint(settings: Settings) -> str:
    """Name the endpoint, its model and the length of its vectors; neither key nor query string."""
    options = settings.of(HttpOptions)
    try:
        place = EmbeddingEndpoint.of(options, _HINT).place
    except BadSetting:
        place = ""  # `load` says what is wrong
    return digest(place, options.model, options.dimension)


def load(settings: Settings) -> HttpEmbedder:
    """Check the settings, without a request.

    Raises EmbedderUnavailable when one is missing and BadSetting when one is wrong.
    """
    options = settings.of(HttpOptions)
    for name in ("url", "model"):
        if not getattr(options, name):
            raise EmbedderUnavailable(f"http.{name} is not set", _HINT)
    endpoint = EmbeddingEndpoint.of(options, _HINT)
    path = endpoint.path
    if path.endswith(_OLD_OLLAMA) or not path.endswith((_OPENAI, _OLLAMA)):
        raise BadSetting(f"http.url: {endpoint.place} is no endpoint that we know", _HINT)
    return HttpEmbedder(endpoint, options)


def _lists(answer: object) -> list[object]:
    """Return the vectors of an answer of Ollama, or of OpenAI, which may be in any order."""
    body = cast("dict[str, Any]", answer)
    if "embeddings" in body:
        return list(body["embeddings"])
    data = sorted(body["data"], key=lambda item: int(item["index"]))
    if [item["index"] for item in data] != list(range(len(data))):
        raise ValueError
    return [item["embedding"] for item in data]


def _cut_text(text: str) -> str:
    raw = text.encode("utf-8", "replace")  # half a surrogate pair is no JSON
    return raw[:_MOST_BYTES].decode("utf-8", "ignore")


def _batches(indices: list[int], size: int) -> list[list[int]]:
    return [indices[start : start + size] for start in range(0, len(indices), size)]
