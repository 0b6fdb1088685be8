"""A model behind HTTP: an OpenAI-compatible endpoint, or Ollama."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple, NoReturn, cast

from blake3 import blake3

from memory_bank import models
from memory_bank.embedders.base import digest
from memory_bank.embedders.http.endpoint import BAD_ANSWER, Endpoint
from memory_bank.errors import BadSetting, EmbedderUnavailable
from memory_bank.models.verified_models import Known, recall, remember
from memory_bank.setting_sections import Key

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memory_bank.config import Settings
    from memory_bank.models.types import Kind, Vectors

SUMMARY = "a model behind HTTP: OpenAI-compatible or Ollama (settings http.url, http.model)"

_OPENAI = "/embeddings"
_OLLAMA = "/api/embed"
_OLD_OLLAMA = "/api/embeddings"  # one text a request, another shape
_HINT = "http.url ends in /v1/embeddings (OpenAI-compatible) or /api/embed (Ollama)"
# UTF-8 bytes of a text that are sent: OpenAI reads 8,192 tokens and refuses the whole request
# when one text has more; other servers read less and cut by themselves.
_MOST_BYTES = 20_000


class Options(NamedTuple):
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


SETTINGS = Options


class HttpEmbedder:
    """A model on a server; its name and URL identify its vectors."""

    name: Final = "http"
    weight: Final = 0.8
    code_weight: Final = 6.0
    similarity_threshold: Final = 0.3

    def __init__(self, endpoint: Endpoint, options: Options) -> None:
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
        filled = [index for index, text in enumerate(texts) if text and not text.isspace()]
        parts = [
            self._ask([_cut(texts[index]) for index in chosen], patient=kind != "query")
            for chosen in _batches(filled, self._batch)
        ]
        np = models.numpy_setup.np
        rows = np.zeros((len(texts), self.dimension), np.float32)
        if parts:
            rows[filled] = np.concatenate(parts)
        return models.quantization.unit(rows)

    @property
    def _key(self) -> str:
        return f"http|{self._endpoint.place}|{self._model}"

    def _ask(self, texts: list[str], *, patient: bool) -> Vectors:
        answer = self._endpoint.post({"model": self._model, "input": texts}, patient=patient)
        rows = self._rows(answer, len(texts))
        found = rows.shape[1]
        if not self._dimension:
            self._dimension = found
            remember(self._key, Known(found))
        elif found != self._dimension:
            remember(self._key, Known())  # asked anew at the next start, unless it is set
            self._refuse(
                f"gives vectors of {found} components, not {self._dimension}",
                f"run it again if the model has changed, or set http.dimension to {found}",
            )
        return rows

    def _rows(self, answer: object, count: int) -> Vectors:
        """Return the vectors of an answer, in the order of the texts."""
        np = models.numpy_setup.np
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

    def _refuse(self, what: str, hint: str = _HINT) -> NoReturn:
        message = f"{self._endpoint.place}: model {self._model!r} {what}"
        raise EmbedderUnavailable(message, hint, BAD_ANSWER)


def fingerprint(settings: Settings) -> str:
    """Name the endpoint, its model and the length of its vectors; neither key nor query string."""
    options = settings.of(Options)
    try:
        place = Endpoint.of(options, _HINT).place
    except BadSetting:
        place = ""  # `load` says what is wrong
    return digest(place, options.model, options.dimension)


def load(settings: Settings) -> HttpEmbedder:
    """Check the settings, without a request.

    Raises EmbedderUnavailable when one is missing and BadSetting when one is wrong.
    """
    options = settings.of(Options)
    for name in ("url", "model"):
        if not getattr(options, name):
            raise EmbedderUnavailable(f"http.{name} is not set", _HINT)
    endpoint = Endpoint.of(options, _HINT)
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


def _cut(text: str) -> str:
    raw = text.encode("utf-8", "replace")  # half a surrogate pair is no JSON
    return raw[:_MOST_BYTES].decode("utf-8", "ignore")


def _batches(indices: list[int], size: int) -> list[list[int]]:
    return [indices[start : start + size] for start in range(0, len(indices), size)]
