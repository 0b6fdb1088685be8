"""The contract of an embedder."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from blake3 import blake3

from memory_bank.models.types import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memory_bank.config import Settings
    from memory_bank.models.types import Vectors


class Embedder(Protocol):
    """Turn texts into unit vectors; the same text gives the same vector, whatever its batch."""

    @property
    def name(self) -> str:
        """The plug-in's name, as in the setting `embedder`."""

    @property
    def dimension(self) -> int:
        """The number of components of a vector."""

    @property
    def model_hash(self) -> str:
        """Identify the weights: vectors of another hash can't be compared with these."""

    @property
    def weight(self) -> float:
        """The weight of this embedder's list in fusion, the list of words having 1."""

    @property
    def code_weight(self) -> float:
        """The same where the passages are code: it shares few words with a question."""

    @property
    def similarity_threshold(self) -> float:
        """The cosine below which two texts are strangers; used where no word was found."""

    def embed(self, texts: Sequence[str], kind: Kind = "passage") -> Vectors:
        """Return float32 rows of length 1, shape (len(texts), dimension).

        A text without any known token gives a row of zeros. Raises EmbedderUnavailable
        when the model or its server can't be reached.
        """


class EmbedderModule(Protocol):
    """What the file of an embedder offers."""

    SUMMARY: str

    def fingerprint(self, settings: Settings) -> str:
        """Name all that decides what the vectors are: settings, files, version; no secret.

        An index is filled again when it changes. Computed for each question, so no model is loaded
        and no file is read for it; something missing or wrong changes it and raises no error.
        """

    def load(self, settings: Settings) -> Embedder | None:
        """Make the embedder ready; None says that the user wants no embeddings.

        Raises EmbedderUnavailable when something it needs is missing.
        """


class ConfigurableModule(Protocol):
    """What the file of an embedder offers when it has settings: a section of its own name."""

    SETTINGS: type[NamedTuple]
    """Fields are annotated with a `Key` of config.py, and each has a default."""


class InstallableModule(Protocol):
    """What the file of an embedder offers when its weights must be fetched once."""

    def install(self, settings: Settings, say: Callable[[str], None]) -> str:
        """Put the weights where `load` finds them; return where. The only step that downloads."""


class VerifiableModule(Protocol):
    """What the file of an embedder offers when its files must have known bytes."""

    def verify(self, settings: Settings) -> str:
        """Read every byte and say what was found right; raise EmbedderUnavailable if it isn't."""


def digest(*parts: object) -> str:
    """Return 16 hex digits that name these values and show none of them."""
    return str(blake3(repr(parts).encode("utf-8", "surrogatepass")).hexdigest())[:16]


def identity(embedder: Embedder) -> str:
    """Name what made a vector: vectors of one identity may be compared, no others."""
    return f"{embedder.name}:{embedder.dimension}:{embedder.model_hash}"
