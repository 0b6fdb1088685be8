"""Static word vectors: a text is the mean of its tokens' rows in an installed table.

The table (256-d, "l2_supercat") and its tokenizer are in the wheel of wordllama, whose code is not
imported: it configures logging and looks for files in the wrong folder.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

from memory_bank.base.errors import EmbedderUnavailable
from memory_bank.base.settings import Settings
from memory_bank.search.embedders.base import Kind, Vectors
from memory_bank.search.models.weight_files import Pinned, loaded_once

if TYPE_CHECKING:
    from memory_bank.search.models.tokens import TokenTable


SUMMARY = "word vectors that come with the install (256-d): offline, instant, rough"

TABLE: Final = Pinned(
    "weights/l2_supercat_256.safetensors",
    16_384_096,
    "64b47a2dc493cb8e85944076601189739852d7b64e0e1eedcb1937a251cd9fd5",
)

TOKENIZER: Final = Pinned(
    "tokenizers/l2_supercat_tokenizer_config.json",
    1_842_796,
    "93248f2a9ec36c7b35f700a033d5f36228aae48db61aee31007fa49062cdeb68",
)

_HINT = "reinstall its data: pip install --force-reinstall --no-deps wordllama==0.4.0.post1"


class Static:
    """The mean of the rows of a text's tokens, however long the text is."""

    name: Final = "static"
    dimension: Final = 256
    # "letters": change this word when texts become vectors in another way from the same table.
    model_hash: Final = f"{TABLE.sha256[:16]}-letters"
    # Measured: with the weight of the keyword score, hybrid search is worse than lexical search.
    weight: Final = 0.45
    code_weight: Final = 0.6
    # One gibberish query in twenty has a higher cosine with one of a hundred abstracts.
    similarity_threshold: Final = 0.42

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def embed(self, texts: Sequence[str], kind: Kind = "passage") -> Vectors:  # noqa: ARG002
        """Return float32 rows of length 1, shape (len(texts), 256); blank texts give zeros."""
        return _table(self._folder).embed(texts)


@loaded_once
def _table(folder: Path) -> TokenTable:
    # start-up: a search by words alone needs neither numpy nor the table
    from memory_bank.search.models import tokens

    return tokens.TokenTable(folder / TABLE.name, folder / TOKENIZER.name, _HINT)


def fingerprint(settings: Settings) -> str:  # noqa: ARG001  (the contract's signature)
    """Return the version of the vectors; no setting changes it."""
    return Static.model_hash


def load(settings: Settings) -> Static:  # noqa: ARG001  (the contract's signature)
    """Find the table; raise EmbedderUnavailable when it is missing or cut short."""
    folder = _folder()
    for file in (TABLE, TOKENIZER):
        file.check_once(folder, _HINT)
    return Static(folder)


def count_tokens(texts: Sequence[str]) -> list[int]:
    """Count the tokens of texts as the language model splits them whose table this is (Llama 2).

    Later models have larger vocabularies and need fewer. Raises EmbedderUnavailable.
    """
    from memory_bank.search.models import tokens

    path = TOKENIZER.check_size(_folder(), _HINT)
    encodings = tokens.read_tokenizer(path, _HINT).encode_batch_fast(
        list(texts), add_special_tokens=False
    )
    return [len(encoding.ids) for encoding in encodings]


def _folder() -> Path:
    spec = find_spec("wordllama")  # finds it, imports nothing
    places = spec.submodule_search_locations if spec else None
    if not places:
        raise EmbedderUnavailable("the package wordllama, which has the vectors, is missing", _HINT)
    return Path(places[0])
