"""The contract of an embedder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from blake3 import blake3

from memory_bank.base.settings import Settings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Vectors: TypeAlias = "NDArray[np.float32]"  # a text: this module is read without numpy


WEIGHT, CODE_WEIGHT, THRESHOLD = 0.8, 6.0, 0.3
"""What sentence models have, by CoSQA and SciFact (tests/benchmarks/finding.py)."""


class Embedder(Protocol):
    """Embeds texts as unit vectors; a vector does not depend on the batch."""

    @property
    def name(self) -> str:
        """The plug-in's name, as in the setting `embedder`."""

    @property
    def dimension(self) -> int:
        """The number of components of a vector."""

    @property
    def model_hash(self) -> str:
        """Identifies the weights: only vectors with the same hash can be compared."""

    @property
    def weight(self) -> float:
        """The weight of the semantic score in fusion; the keyword score has weight 1."""

    @property
    def code_weight(self) -> float:
        """The same if the passages are code, which shares few words with a question."""

    @property
    def similarity_threshold(self) -> float:
        """The minimum cosine of a match if no passage has a word of the question."""

    def embed(self, texts: Sequence[str], kind: Kind = "passage") -> Vectors:
        """Return float32 rows of length 1, shape (len(texts), dimension).

        A text without any known token gives a row of zeros. Raises EmbedderUnavailable
        when the model or its server can't be reached.
        """


class EmbedderModule(Protocol):
    """What the module of an embedder defines.

    One with settings also has `SETTINGS`: the named tuple of a section of its name, each field
    annotated with a `Key` and with a default.
    """

    SUMMARY: str

    def fingerprint(self, settings: Settings) -> str:
        """Return what determines the vectors: settings, files, version; no secret.

        When it changes, the vectors are computed again. It is computed for each query, so it must
        load no model and read no file; a missing file or wrong setting must not raise an error.
        """

    def load(self, settings: Settings) -> Embedder | None:
        """Return the embedder; None if the user wants no embeddings.

        Raises EmbedderUnavailable if a file or package is missing.
        """


def digest(*parts: object) -> str:
    """Return a hash of these values, 16 hex digits."""
    return str(blake3(repr(parts).encode("utf-8", "surrogatepass")).hexdigest())[:16]


def identity(embedder: Embedder) -> str:
    """Return the identity of an embedder; only vectors of one identity can be compared."""
    return f"{embedder.name}:{embedder.dimension}:{embedder.model_hash}"


Kind = Literal["passage", "query"]
"""The role of a text for a model."""
