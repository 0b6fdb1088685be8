"""Split texts into tokens with the library tokenizers, and add up the vectors of tokens."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from itertools import chain, pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from tokenizers import Tokenizer

from memory_bank.base import NamedTuple
from memory_bank.base.errors import EmbedderUnavailable
from memory_bank.search.embedders.base import Vectors
from memory_bank.search.models.vectors import np, read_tensors, scale_to_unit

if TYPE_CHECKING:  # numpy is imported from vectors alone
    from numpy.typing import NDArray

# Characters of a text that are split first: far more than models read. Splitting ten million
# to keep 256 tokens takes seconds and a gigabyte.
_HEAD = 20_000

_MANY = 256  # texts split at a time, since the tokenizer's results are large


def read_tokenizer(path: Path, hint: str) -> Tokenizer:
    """Load a tokenizer.json without its padding and truncation.

    Raises EmbedderUnavailable when it is missing or damaged.
    """
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:
        if type(error) is not Exception:  # the library's own error is a bare Exception
            raise
        raise EmbedderUnavailable(f"{path}: can't be read: {error}", hint) from error
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def read_vocabulary(path: Path) -> Tokenizer:
    """Make the tokenizer of BERT for lower-case text from its list of word pieces."""
    from tokenizers import AddedToken, normalizers, pre_tokenizers, processors
    from tokenizers.models import WordPiece

    tokenizer = Tokenizer(WordPiece.from_file(str(path), unk_token="[UNK]"))  # noqa: S106  (no password)
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    ends = [(name, tokenizer.token_to_id(name)) for name in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=ends
    )
    names = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
    tokenizer.add_special_tokens([AddedToken(name, special=True) for name in names])
    return tokenizer


def clean(text: str) -> str:
    """Replace halves of surrogate pairs, which tokenizers and servers refuse."""
    if text.isascii():
        return text
    return text.encode("utf-8", "replace").decode("utf-8")


class Splitter(NamedTuple):
    """Turn texts into the ids that a transformer reads, special tokens included."""

    tokenizer: Tokenizer
    limit: int
    special: frozenset[int]

    @classmethod
    def read(cls, path: Path, limit: int, hint: str) -> Splitter:
        """Load a tokenizer.json, or a list of word pieces; raise EmbedderUnavailable."""
        tokenizer = read_tokenizer(path, hint) if path.suffix == ".json" else read_vocabulary(path)
        tokenizer.enable_truncation(limit)
        added = tokenizer.get_added_tokens_decoder().items()
        return cls(tokenizer, limit, frozenset(id_ for id_, token in added if token.special))

    def ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Split texts, at most `limit` tokens each; one without any known token gives none."""
        token_ids: list[list[int]] = []
        for start in range(0, len(texts), _MANY):
            token_ids += self._split([clean(text) for text in texts[start : start + _MANY]])
        return token_ids

    def _split(self, texts: list[str]) -> list[list[int]]:
        heads = [_head(text) for text in texts]
        token_ids = [encoding.ids for encoding in self.tokenizer.encode_batch_fast(heads)]
        for index, (text, head) in enumerate(zip(texts, heads, strict=True)):
            if len(head) < len(text) and len(token_ids[index]) < self.limit:
                token_ids[index] = self.tokenizer.encode(text).ids
        return [ids if not self.special.issuperset(ids) else [] for ids in token_ids]


def _head(text: str) -> str:
    """Return the start of a long text, up to a space if there is one."""
    if len(text) <= _HEAD:
        return text
    space = text.rfind(" ", 0, _HEAD)
    return text[: space if space > 0 else _HEAD]


_PIECE = 65_536  # characters; a longer text is split piece by piece

_SIGN_WEIGHT = np.float32(0.1)
"""Weight of a token without a letter; this doubles the recall of vectors alone on abstracts."""

_INITIAL_ROWS = 1024
"""Initial capacity in rows."""

_BLOCK = 1_000_000  # characters split at a time: ids and offsets take 100 times their room


class TokenTable:
    """A table of float16 rows, and the tokenizer that names its rows."""

    def __init__(self, weights: Path, tokenizer_file: Path, hint: str) -> None:
        try:
            self._half = read_tensors(weights, hint)["embedding.weight"]
        except KeyError as error:
            raise EmbedderUnavailable(f"{weights}: is damaged: no {error}", hint) from error
        self._tokenizer = read_tokenizer(tokenizer_file, hint)
        # numpy converts float16 to float32 slowly, so each row is converted once, at first use.
        # A full array would take 32 MB, and a few questions would touch most of its 2 MB pages.
        self._rows: NDArray[np.float32] = np.empty((0, self._half.shape[1]), np.float32)
        self._place = np.full(len(self._half), -1, np.int32)
        self._used = 0
        self._converting = threading.Lock()

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return the normalised sum of each text's rows; blank texts give zeros.

        A sum has the direction of the mean. Equal tokens are counted first, which is exact, so
        that the result does not depend on order or batch.
        """
        vectors = np.zeros((len(texts), self._rows.shape[1]), np.float32)
        short: dict[int, str] = {}
        room = _BLOCK
        for index, text in enumerate(texts):
            if not text or text.isspace():
                continue
            if len(text) > _PIECE:
                vectors[index] = self._sum(*self._count_long(text))
                continue
            short[index] = clean(text)
            room -= len(text)
            if room <= 0:
                self._fill(vectors, short)
                short, room = {}, _BLOCK
        self._fill(vectors, short)
        return scale_to_unit(vectors)

    def _fill(self, vectors: Vectors, texts: dict[int, str]) -> None:
        if texts:
            counted = self._count(list(texts.values()))
            for index, (ids, counts) in zip(texts, counted, strict=True):
                vectors[index] = self._sum(ids, counts)

    def _sum(self, ids: NDArray[np.int64], counts: NDArray[np.int64]) -> Vectors:
        places = self._place[ids]
        if len(places) and places.min() < 0:
            self._convert(ids)
            places = self._place[ids]
        return counts.astype(np.float32) @ self._rows[places]

    def _convert(self, ids: NDArray[np.int64]) -> None:
        """Convert the rows of tokens at their first use; other threads may read meanwhile."""
        with self._converting:
            missing = ids[self._place[ids] < 0]
            end = self._used + len(missing)
            if end > len(self._rows):
                room = min(max(2 * len(self._rows), end, _INITIAL_ROWS), len(self._half))
                rows = np.empty((room, self._rows.shape[1]), np.float32)
                rows[: self._used] = self._rows[: self._used]
                self._rows = rows
            self._rows[self._used : end] = self._half[missing] * self._importance(missing)
            self._place[missing] = np.arange(self._used, end)  # after the rows
            self._used = end

    def _importance(self, ids: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the weight of each token, shape (n, 1); tokens without a letter weigh less."""
        tokens = (self._tokenizer.id_to_token(int(token)) or "" for token in ids)
        letters = [not token.startswith("<") and any(map(str.isalpha, token)) for token in tokens]
        return np.where(letters, np.float32(1), _SIGN_WEIGHT)[:, None]

    def _split(self, texts: list[str]) -> list[list[int]]:
        encodings = self._tokenizer.encode_batch_fast(texts, add_special_tokens=False)
        return [encoding.ids for encoding in encodings]

    def _count(self, texts: list[str]) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Yield each text's token ids, ascending, and their counts; with one sort for all texts."""
        lists = self._split(texts)
        size = len(self._half)
        owners = np.repeat(np.arange(len(lists)), [len(ids) for ids in lists])
        flat = np.fromiter(chain.from_iterable(lists), np.int64, len(owners))
        keys, counts = np.unique(owners * size + flat, return_counts=True)
        bounds = np.searchsorted(keys, np.arange(len(lists) + 1) * size)
        for owner, (first, last) in enumerate(pairwise(bounds)):
            yield keys[first:last] - owner * size, counts[first:last]

    def _count_long(self, text: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Count the tokens of a text of any length in bounded memory."""
        totals = np.zeros(len(self._half), np.int64)
        pieces = list(_pieces(text))
        batch = _BLOCK // _PIECE
        for start in range(0, len(pieces), batch):
            for ids in self._split(pieces[start : start + batch]):
                totals += np.bincount(ids, minlength=len(totals))
        used = np.flatnonzero(totals)
        return used, totals[used]


def _pieces(text: str) -> Iterator[str]:
    """Split a text at spaces; the tokenizer puts one before each piece."""
    start = 0
    while start < len(text):
        end = start + _PIECE
        space = text.rfind(" ", start + 1, end) if end < len(text) else -1
        yield clean(text[start : space if space > 0 else end])
        start = space + 1 if space > 0 else end
