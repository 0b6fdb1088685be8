"""Texts to sums of the rows of a table of token vectors."""

from __future__ import annotations

import threading
from itertools import chain, pairwise
from typing import TYPE_CHECKING

from memory_bank.errors import EmbedderUnavailable
from memory_bank.models import tokenizer
from memory_bank.models.numpy_setup import np
from memory_bank.models.quantization import unit
from memory_bank.models.tensors import read_tensors

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from memory_bank.models.types import Vectors

_PIECE = 65_536  # characters; a longer text is split piece by piece
_SIGN_WEIGHT = np.float32(0.1)
"""Weight of a token without a letter; doubles what the vectors alone find among abstracts."""
_FIRST = 1024
"""Rows that there is room for at first."""
_BLOCK = 1_000_000  # characters split at a time: ids and offsets take 100 times their room


class Table:
    """A table of float16 rows, and the tokenizer that names its rows."""

    def __init__(self, weights: Path, tokenizer_file: Path, hint: str) -> None:
        try:
            self._half = read_tensors(weights, hint)["embedding.weight"]
        except KeyError as error:
            raise EmbedderUnavailable(f"{weights}: is damaged: no {error}", hint) from error
        self._tokenizer = tokenizer.read(tokenizer_file, hint)
        # numpy turns float16 into float32 slowly, so each row is turned once, when first used.
        # Room for all would be 32 MB: in pages of 2 MB, a few questions touch every one of them.
        self._rows: NDArray[np.float32] = np.empty((0, self._half.shape[1]), np.float32)
        self._place = np.full(len(self._half), -1, np.int32)
        self._used = 0
        self._taking = threading.Lock()

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return the direction of the sum of each text's rows; blank texts give zeros.

        A sum has the direction of a mean, so nothing is divided. Equal tokens are counted
        first, which is exact: neither order nor batch changes a bit of the result.
        """
        found = np.zeros((len(texts), self._rows.shape[1]), np.float32)
        short: dict[int, str] = {}
        room = _BLOCK
        for index, text in enumerate(texts):
            if not text or text.isspace():
                continue
            if len(text) > _PIECE:
                found[index] = self._sum(*self._count_long(text))
                continue
            short[index] = tokenizer.clean(text)
            room -= len(text)
            if room <= 0:
                self._fill(found, short)
                short, room = {}, _BLOCK
        self._fill(found, short)
        return unit(found)

    def _fill(self, found: Vectors, texts: dict[int, str]) -> None:
        if texts:
            counted = self._count(list(texts.values()))
            for index, (ids, counts) in zip(texts, counted, strict=True):
                found[index] = self._sum(ids, counts)

    def _sum(self, ids: NDArray[np.int64], counts: NDArray[np.int64]) -> Vectors:
        places = self._place[ids]
        if len(places) and places.min() < 0:
            self._take(ids)
            places = self._place[ids]
        return counts.astype(np.float32) @ self._rows[places]

    def _take(self, ids: NDArray[np.int64]) -> None:
        """Turn the rows of tokens that were not used yet; others may go on reading meanwhile."""
        with self._taking:
            missing = ids[self._place[ids] < 0]
            end = self._used + len(missing)
            if end > len(self._rows):
                room = min(max(2 * len(self._rows), end, _FIRST), len(self._half))
                rows = np.empty((room, self._rows.shape[1]), np.float32)
                rows[: self._used] = self._rows[: self._used]
                self._rows = rows
            self._rows[self._used : end] = self._half[missing] * self._importance(missing)
            self._place[missing] = np.arange(self._used, end)  # after the rows
            self._used = end

    def _importance(self, ids: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return what each token weighs, shape (n, 1): signs and numbers name no subject."""
        tokens = (self._tokenizer.id_to_token(int(token)) or "" for token in ids)
        letters = [not token.startswith("<") and any(map(str.isalpha, token)) for token in tokens]
        return np.where(letters, np.float32(1), _SIGN_WEIGHT)[:, None]

    def _split(self, texts: list[str]) -> list[list[int]]:
        encodings = self._tokenizer.encode_batch_fast(texts, add_special_tokens=False)
        return [encoding.ids for encoding in encodings]

    def _count(self, texts: list[str]) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Yield each text's token ids, rising, and how often it has them: one sort for all."""
        lists = self._split(texts)
        size = len(self._half)
        owners = np.repeat(np.arange(len(lists)), [len(ids) for ids in lists])
        flat = np.fromiter(chain.from_iterable(lists), np.int64, len(owners))
        keys, counts = np.unique(owners * size + flat, return_counts=True)
        bounds = np.searchsorted(keys, np.arange(len(lists) + 1) * size)
        for owner, (first, last) in enumerate(pairwise(bounds)):
            yield keys[first:last] - owner * size, counts[first:last]

    def _count_long(self, text: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Count the tokens of a text of any length in bounded room."""
        totals = np.zeros(len(self._half), np.int64)
        pieces = list(_pieces(text))
        together = _BLOCK // _PIECE
        for start in range(0, len(pieces), together):
            for ids in self._split(pieces[start : start + together]):
                totals += np.bincount(ids, minlength=len(totals))
        used = np.flatnonzero(totals)
        return used, totals[used]


def _pieces(text: str) -> Iterator[str]:
    """Cut a text at spaces; the tokenizer itself puts one before each piece."""
    start = 0
    while start < len(text):
        end = start + _PIECE
        space = text.rfind(" ", start + 1, end) if end < len(text) else -1
        yield tokenizer.clean(text[start : space if space > 0 else end])
        start = space + 1 if space > 0 else end
