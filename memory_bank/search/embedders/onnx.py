"""Any text model exported as ONNX: a folder with model.onnx and tokenizer.json."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from blake3 import blake3

from memory_bank.base import NamedTuple, plugins
from memory_bank.base.errors import EmbedderUnavailable
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
from memory_bank.search.models.weight_files import KnownModel, loaded_once, recall, remember

if TYPE_CHECKING:
    from memory_bank.search.models import encoder, tokens


SUMMARY = "your own model.onnx and tokenizer.json (setting onnx.path; needs the extra `onnx`)"

_MODEL = "model.onnx"

_TOKENIZER = "tokenizer.json"

_HINT = "onnx.path must name a folder with model.onnx and tokenizer.json of one text model"

# Bytes that are hashed at a time.
_CHUNK = 1 << 20


class OnnxOptions(NamedTuple):
    """Section `[onnx]`: the embedder `onnx`."""

    path: Annotated[str, Key("folder with model.onnx and tokenizer.json", private=True)] = ""
    pooling: Annotated[str, Key("how token vectors become one", choices=("mean", "cls"))] = "mean"
    query_prefix: Annotated[str, Key("text put before a query, if the model wants one")] = ""
    passage_prefix: Annotated[str, Key("text put before a passage, if the model wants one")] = ""
    max_tokens: Annotated[
        int, Key("tokens of a text that the model reads", low=8, high=1_000_000)
    ] = 512


SETTINGS = OnnxOptions


class Onnx:
    """A model of the user's, run by onnxruntime."""

    name: Final = "onnx"
    weight: Final = WEIGHT
    code_weight: Final = CODE_WEIGHT
    similarity_threshold: Final = THRESHOLD

    def __init__(self, folder: Path, options: OnnxOptions) -> None:
        self._folder = folder
        self._options = options

    def embed(self, texts: Sequence[str], kind: Kind = "passage") -> Vectors:
        """Return float32 rows of length 1, shape (len(texts), dimension); blank texts give zeros.

        Raises EmbedderUnavailable when the model can't be loaded or run.
        """
        from memory_bank.search.models import vectors

        options = self._options
        prefix = options.query_prefix if kind == "query" else options.passage_prefix
        filled = [index for index, text in enumerate(texts) if text and not text.isspace()]
        splitter, session = self._model()
        found_ids = splitter.ids([prefix + texts[index] for index in filled])
        ids: list[list[int]] = [[] for _ in texts]
        for index, item in zip(filled, found_ids, strict=True):
            ids[index] = item
        # 0: each text alone, as a quantised model lets a text's neighbours change its vector
        return vectors.encode(ids, session, dimension=self.dimension, tokens=0)

    @cached_property
    def dimension(self) -> int:
        """The number of components, found by running the model once on this machine."""
        from memory_bank.search.models import vectors

        if self._known.dimension:
            return self._known.dimension
        splitter, session = self._model()
        ids = splitter.tokenizer.encode("dimension").ids
        np = vectors.np
        dimension = int(session(np.array([ids], np.int64)).shape[1])
        remember(self._key, KnownModel(dimension, self._known.model_hash))
        return dimension

    @cached_property
    def model_hash(self) -> str:
        """Identify the files and the settings that change what comes out of them."""
        return blake3(f"{self._known.model_hash}{_recipe(self._options)}".encode()).hexdigest()[:16]

    @cached_property
    def _known(self) -> KnownModel:
        model = recall(self._key)
        if not model.model_hash:
            model = KnownModel(0, self._hash())
            remember(self._key, model)
        return model

    @cached_property
    def _key(self) -> str:
        """Name the files as they are now: another size or time means they are hashed again."""
        return "|".join([str(self._folder), *_signatures(self._folder)])

    def _hash(self) -> str:
        digest = blake3()
        for path in _files(self._folder):
            try:
                with path.open("rb") as file:
                    while chunk := file.read(_CHUNK):
                        digest.update(chunk)
            except OSError as error:
                raise EmbedderUnavailable(f"{path}: {error.strerror}", _HINT) from error
        return str(digest.hexdigest())

    def _model(self) -> tuple[tokens.Splitter, encoder.ModelSession]:
        return _loaded(self._folder, self._options, self._key)


@loaded_once
def _loaded(
    folder: Path,
    options: OnnxOptions,
    key: str,  # noqa: ARG001  (the files as they are now)
) -> tuple[tokens.Splitter, encoder.ModelSession]:
    from memory_bank.search.models import encoder, tokens

    hint = f"{_HINT}; a model that reads fewer tokens wants a lower onnx.max_tokens"
    session = encoder.ModelSession(folder / _MODEL, hint, by_cls=options.pooling == "cls")
    return tokens.Splitter.read(folder / _TOKENIZER, options.max_tokens, _HINT), session


def fingerprint(settings: Settings) -> str:
    """Name the files by size and time, and the settings that change what comes out of them."""
    folder = _folder(settings)
    signatures = _signatures(folder) if folder else []
    return digest(str(folder), signatures, _recipe(settings.of(OnnxOptions)))


def load(settings: Settings) -> Onnx:
    """Find the model; raise EmbedderUnavailable when a file or onnxruntime is missing."""
    folder = _folder(settings)
    if folder is None:
        raise EmbedderUnavailable("onnx.path is not set", _HINT)
    for name in (_MODEL, _TOKENIZER):
        if not (folder / name).is_file():
            raise EmbedderUnavailable(f"{folder / name}: there is no such file", _HINT)
    if find_spec("onnxruntime") is None:
        raise EmbedderUnavailable("onnxruntime is not installed", plugins.install_hint("onnx"))
    return Onnx(folder, settings.of(OnnxOptions))


def _folder(settings: Settings) -> Path | None:
    path = settings.of(OnnxOptions).path
    return Path(path).expanduser().absolute() if path else None


def _files(folder: Path) -> list[Path]:
    # also model.onnx_data, model.onnx.data: where a large model's weights are
    return [*sorted(folder.glob(f"{_MODEL}*")), folder / _TOKENIZER]


def _signatures(folder: Path) -> list[str]:
    """Name the files as they are now, by size and time of change."""
    signatures = []
    for path in _files(folder):
        try:
            about = path.stat()
        except OSError as error:
            signatures.append(f"{path.name}:{error.strerror}")
        else:
            signatures.append(f"{path.name}:{about.st_size}:{about.st_mtime_ns}")
    return signatures


def _recipe(options: OnnxOptions) -> tuple[str, str, str, int]:
    return options.pooling, options.query_prefix, options.passage_prefix, options.max_tokens
